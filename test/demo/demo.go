package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/utils/clock"
)

// patience is for each wait; a second is usual.
const patience = 30 * time.Second

type options struct {
	root   string // of the repository, where commands run
	keep   bool
	env    []string // as of os.Environ
	stdout io.Writer
	stdin  io.Reader     // for Enter; nil for nobody
	pause  time.Duration // after each act, where Enter does not end it; 0 for none
	colour bool
	clock  clock.WithTicker
}

// demo is a performance. Its methods are called one after the other.
type demo struct {
	screen     *screen
	shell      *shell
	clock      clock.WithTicker
	pause      time.Duration
	enter      chan struct{} // Enter was pressed
	stage      *stage
	controller *controller // of act 3 and 4
}

// run shows all acts. Whatever happens, nothing that it started runs when it returns.
func run(ctx context.Context, o options) error {
	d := &demo{
		screen: &screen{out: o.stdout, colour: o.colour},
		shell:  &shell{dir: o.root, env: o.env},
		clock:  o.clock,
		pause:  o.pause,
		enter:  make(chan struct{}),
	}
	if o.stdin != nil && o.pause > 0 {
		go d.listen(o.stdin)
	}
	start := d.clock.Now()
	setting := setStage(ctx)
	err := inOrder(ctx, d.opening, d.wait(setting), d.broken, d.read, d.rules, d.read, d.repair, d.read,
		d.repairAgain, d.read, d.settle, d.check, d.read, d.mistakes)
	if err == nil {
		d.ending(d.clock.Since(start), o.keep)
	}
	if err == nil && o.keep {
		err = d.keep(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // Whatever else it looks like.
	}
	if closing := d.close(setting); closing != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", errNotClosed, closing))
	}
	return err
}

// errNotClosed says that something may still run, or lie about.
var errNotClosed = errors.New("cleaning up")

func inOrder(ctx context.Context, acts ...func(context.Context) error) error {
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listen tells of each Enter. It ends with the program.
func (d *demo) listen(in io.Reader) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		d.enter <- struct{}{}
	}
}

// read gives a reader time for an act.
func (d *demo) read(ctx context.Context) error {
	if d.pause == 0 {
		return nil
	}
	fmt.Fprintf(d.screen.out, "\n%s", d.screen.paint("2", margin+"Enter goes on"))
	defer fmt.Fprintln(d.screen.out)
	select {
	case <-d.enter:
	case <-d.clock.After(d.pause):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// busy tells a reader each second what takes time, until it is stopped.
func (d *demo) busy(what string) (stop func()) {
	if d.pause == 0 {
		return func() {}
	}
	ticker, done, ended := d.clock.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for seconds := 1; ; seconds++ {
			select {
			case <-ticker.C():
				fmt.Fprintf(d.screen.out, "%s\n", d.screen.paint("2", fmt.Sprintf("%s(%s, %d s)", margin, what, seconds)))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// wait waits until the stage is set.
func (d *demo) wait(setting *setting) func(context.Context) error {
	return func(context.Context) (err error) {
		stop := d.busy("starting etcd and an API server, with the TidbCluster CRD")
		defer stop()
		if d.stage, err = setting.wait(); err != nil {
			return err
		}
		d.shell.env = append(d.shell.env, d.stage.env()...)
		return nil
	}
}

// close stops what runs, the controller before its API server.
func (d *demo) close(setting *setting) error {
	var errs []error
	if d.controller != nil {
		errs = append(errs, d.controller.stop())
	}
	return errors.Join(append(errs, setting.strike())...)
}

func (d *demo) opening(ctx context.Context) error {
	d.screen.title("dyncontroller: rules that keep Kubernetes objects right")
	d.screen.say("Six acts on a real API server, with the TidbCluster CRD and sample clusters of tidb-operator. Every command " +
		"that is shown is run, and can be typed in this folder.")
	return ctx.Err()
}

func (d *demo) ending(took time.Duration, keep bool) {
	d.screen.title("All clusters are as they should be")
	d.screen.say("This took " + took.Round(time.Second/10).String() + ". What to read next:")
	d.screen.output("\n" + table([]string{"FILE", "ABOUT"}, [][]string{
		{"examples/rules/tidbcluster/README.md", "what each rule is for"},
		{"examples/rules/tidbcluster/tidb-guardrails.yaml", "the rules themselves"},
		{"README.md", "how to write your own"},
	}))
	if !keep {
		d.screen.say("To try it yourself, have it left running: make demo KEEP=1")
	}
}
