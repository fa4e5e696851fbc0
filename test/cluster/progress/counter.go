package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// counter counts what the go command says on stderr. All methods may be called concurrently.
type counter struct {
	out     io.Writer
	started time.Time

	mu                           sync.Mutex
	downloaded, compiled, atMost int
	// last is the package that is compiled after all others; what follows is the linker's work.
	last    string
	linking bool
}

// watch runs a go command, counts its messages, passes on those it does not count, and returns its stdout.
func (c *counter) watch(cmd *exec.Cmd) (string, error) {
	var stdout strings.Builder
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		c.line(lines.Text())
	}
	err = cmd.Wait()
	return stdout.String(), err
}

func (c *counter) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.HasPrefix(text, "go: downloading "):
		c.downloaded++
	case !strings.ContainsAny(text, " :"): // A package's path, unlike anything that reads like a message.
		c.compiled++
		c.linking = c.linking || text == c.last
	default:
		_, _ = fmt.Fprintln(c.out, text)
	}
}

// expect takes the packages to come, in the order of "go list -deps".
func (c *counter) expect(packages []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.atMost = len(packages)
	c.last = packages[len(packages)-1]
}

// report prints the counts regularly until the function it returns is called, which prints them a last time.
func (c *counter) report(every time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.print()
			case <-done:
				c.print()
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// print says "at most" because packages that are in the build cache are not compiled again.
func (c *counter) print() {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf("  %6s", time.Since(c.started).Round(time.Second))
	if c.downloaded > 0 {
		line += fmt.Sprintf("  %d modules downloaded", c.downloaded)
	}
	if c.atMost > 0 {
		line += fmt.Sprintf("  %d of at most %d packages compiled", c.compiled, c.atMost)
	}
	if c.linking {
		line += ", linking"
	}
	_, _ = fmt.Fprintln(c.out, line)
}
