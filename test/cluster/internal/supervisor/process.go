package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// process is one life of a component. Its exited channel is closed when it has ended, and then err says how.
type process struct {
	component Component
	cmd       *exec.Cmd
	exited    chan struct{}
	err       error
}

// start runs the component in a process group of its own, so that Ctrl-C in a terminal reaches only its supervisor,
// which then stops all in order.
func (s *Supervisor) start(ctx context.Context, c Component) (*process, error) {
	log, err := os.OpenFile(c.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // The process has its own.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.Command[0], c.Command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), s.env...)
	cmd.ExtraFiles = s.inherit
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{component: c, cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err := p.writePid(); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// writePid renames the file into place, so that a reader never sees half a number.
func (p *process) writePid() error {
	temporary := p.component.path("pid.new")
	if err := os.WriteFile(temporary, []byte(strconv.Itoa(p.cmd.Process.Pid)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, p.component.path("pid"))
}

// kill ends the process at once, as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // The only error is that it has ended already.
	<-p.exited
}

// stop lets the process end by itself for a while.
func (p *process) stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(grace):
		p.kill()
	}
}

// killed says whether the process was ended by a signal and not by itself.
func (p *process) killed() bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// died describes an end that nobody asked for.
func (p *process) died() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s); the end of its log:\n%s", p.component.Name, how, p.component.tail())
}
