package main

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// controller is a running "dyncontroller run".
type controller struct {
	log  *logbook
	cmd  *exec.Cmd
	end  func() error
	over chan struct{}
	err  error // how it ended, once over is closed
}

// start runs a line of which the last command is dyncontroller, logging JSON.
func (s *shell) start(ctx context.Context, line string, listener func(record)) (*controller, error) {
	// It is not to be killed when the demo is interrupted, but stopped.
	cmd := s.command(context.WithoutCancel(ctx), "exec "+line)
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	c := &controller{log: newLogbook(listener), cmd: cmd, over: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running %q: %w", line, err)
	}
	c.end = sync.OnceValue(c.interrupt)
	go func() {
		defer close(c.over)
		c.log.follow(log)
		c.err = cmd.Wait()
	}()
	return c, nil
}

// stop interrupts it as Ctrl-C would. It is an error if it does not end at once and well. It may be called again.
func (c *controller) stop() error { return c.end() }

func (c *controller) interrupt() error {
	_ = c.cmd.Process.Signal(syscall.SIGINT) // The only error is that it has ended, which is seen next.
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-c.over:
	case <-timeout.C:
		_ = c.cmd.Cancel()
		<-c.over
	}
	if c.err != nil {
		return fmt.Errorf("dyncontroller run did not stop well: %w%s", c.err, c.log.tail())
	}
	return nil
}
