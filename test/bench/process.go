package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// lookEvery is how often the memory of a process is read for its peak of anonymous pages, of which the kernel keeps none.
	lookEvery = 50 * time.Millisecond
	// idleShare of one core is what a settled process may use.
	idleShare = 0.03
	// settleTimeout and stopTimeout are many times of what is usual.
	settleTimeout = 5 * time.Minute
	stopTimeout   = 20 * time.Second
)

// process is a contender at work. Its methods may be called concurrently.
type process struct {
	cmd    *exec.Cmd
	log    string // the path of what it writes to stdout and stderr
	began  time.Time
	exited chan struct{}

	mu            sync.Mutex
	peakAnonymous int   // guarded by mu
	err           error // how it ended, once exited is closed
}

// startProcess runs a command until stop. It does not end with ctx, so that it is stopped before its API server.
func startProcess(ctx context.Context, log string, environment []string, command ...string) (*process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	// The child has a descriptor of its own.
	defer output.Close()
	p := &process{
		cmd:    exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...),
		log:    log,
		exited: make(chan struct{}),
	}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = environment, output, output, ownGroup()
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		err := p.cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err = err
	}()
	go p.look()
	return p, nil
}

func (p *process) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if _, err := p.memory(); err != nil {
			return // It has ended.
		}
		select {
		case <-ticker.C:
		case <-p.exited:
			return
		}
	}
}

func (p *process) memory() (memory, error) {
	m, err := readMemory(p.cmd.Process.Pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peakAnonymous = max(p.peakAnonymous, m.anonymous)
	return m, err
}

func (p *process) peakOfAnonymous() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peakAnonymous
}

func (p *process) cpu() (time.Duration, error) { return readCPU(p.cmd.Process.Pid) }

// settle waits until the process has done next to nothing for a time.
func (p *process) settle(ctx context.Context, quiet time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("it was busy for %s", settleTimeout))
	defer cancel()
	ticker := time.NewTicker(quiet)
	defer ticker.Stop()
	before, err := p.cpu()
	if err != nil {
		return p.ended(err)
	}
	for {
		select {
		case <-ticker.C:
		case <-p.exited:
			return p.ended(nil)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now, err := p.cpu()
		if err != nil {
			return p.ended(err)
		}
		if (now - before).Seconds() <= idleShare*quiet.Seconds() {
			return nil
		}
		before = now
	}
}

// stop asks it to end, and kills it if that does not help, which is an error.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // The only error is that it has ended, which is seen next.
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.exited:
	case <-timeout.C:
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return fmt.Errorf("%s did not end well: %w\n%s", p.cmd.Path, p.err, tail(p.log))
	}
	return nil
}

// ended is the error for needing a process that has ended.
func (p *process) ended(err error) error {
	select {
	case <-p.exited:
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Errorf("%s has ended: %w\n%s", p.cmd.Path, p.err, tail(p.log))
	default:
		return err
	}
}

// tail is the end of a log, without the lines of the garbage collector.
func tail(path string) []byte {
	data, _ := os.ReadFile(path) // An empty one says as much as an error about an error would.
	var kept [][]byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("gc ")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept[max(0, len(kept)-20):], nil)
}
