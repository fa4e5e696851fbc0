package main

import (
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
	colour bool
	clock  clock.PassiveClock
}

// demo is a performance. Its methods are called one after the other.
type demo struct {
	screen     *screen
	shell      *shell
	clock      clock.PassiveClock
	stage      *stage
	controller *controller // of act 3 and 4
}

// run shows all acts. Whatever happens, nothing that it started runs when it returns.
func run(ctx context.Context, o options) error {
	d := &demo{
		screen: &screen{out: o.stdout, colour: o.colour},
		shell:  &shell{dir: o.root, env: o.env},
		clock:  o.clock,
	}
	start := d.clock.Now()
	// The control plane starts while the first acts, which need none, are shown.
	setting := setStage(ctx)
	err := inOrder(ctx, d.opening, d.refuse, d.test, d.enter(setting), d.repair, d.repairAgain, d.settle, d.check)
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

// enter waits until the stage is set.
func (d *demo) enter(setting *setting) func(context.Context) error {
	return func(context.Context) (err error) {
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
	d.screen.say("Five acts on a real API server, with the TidbCluster CRD and sample clusters of tidb-operator. Every command " +
		"that is shown is run, and can be typed in this folder. The rules look like this one:")
	return d.show(ctx, "sed -n '/name: pd-quorum/,/^$/p' examples/rules/tidbcluster/tidb-guardrails.yaml", 0)
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
