// Command parity runs generated scenarios twice on one real API server: with a controller of kube-controller-manager, and
// with the example rule file that does the same. It compares all objects after each step. "make parity" runs it from the
// root of the repository; docs/parity.md is what it prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const theirName = "kube-controller-manager"

type options struct {
	root      string // of the repository
	first     int
	every     int // how far the numbers are apart
	scenarios int
	parallel  int
	quiet     time.Duration
	self      bool
}

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	restore()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out, progress io.Writer) error {
	o := options{root: "."}
	flags := flag.NewFlagSet("parity", flag.ContinueOnError)
	names := flags.String("example", "replicaset,endpoints,job", "the examples, with commas")
	flags.IntVar(&o.first, "first", 0, "the number of the first scenario, which it is generated from")
	flags.IntVar(&o.every, "every", 1, "how far the numbers of scenarios are apart")
	flags.IntVar(&o.scenarios, "scenarios", 60, "how many scenarios")
	flags.IntVar(&o.parallel, "parallel", 16, "how many at the same time")
	flags.DurationVar(&o.quiet, "quiet", time.Minute, "how long to count writes after all has settled")
	flags.BoolVar(&o.self, "self", false, "compare kube-controller-manager with itself, which must find nothing")
	write := flags.Bool("write", false, "keep what is printed in docs/parity.md, too")
	speed := flags.Bool("speed", false, "compare how fast ReplicaSets settle instead")
	sets := flags.Int("sets", 500, "how many ReplicaSets, for -speed")
	rounds := flags.Int("rounds", 3, "how many rounds, for -speed")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	var page strings.Builder
	if *speed {
		if err := race(ctx, *sets, *rounds, &page); err != nil {
			return err
		}
		return show(out, *write, "Speed", page.String())
	}
	var failed []error
	for _, e := range examples() {
		if !slices.Contains(strings.Split(*names, ","), e.name) {
			continue
		}
		r, err := prove(ctx, e, o)
		failed = append(failed, err)
		if r.cells != nil {
			page.Reset()
			r.print(&page, o)
			r.tell(progress)
			failed = append(failed, show(out, *write, e.name, page.String()))
		}
	}
	return errors.Join(failed...)
}

// show prints a section of the page of the documents, and writes it there.
func show(out io.Writer, write bool, title, text string) error {
	const path = "docs/parity.md"
	heading := "\n## " + title + "\n"
	fmt.Fprint(out, heading, "\n", text)
	if !write {
		return nil
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(string(page), heading)
	next := strings.Index(after, "\n## ")
	if next < 0 {
		next = len(after)
	}
	return os.WriteFile(path, []byte(before+heading+"\n"+text+after[next:]), 0o644)
}

// verdict is an error if there is a difference that nothing explains, or if ours does not settle.
func (r result) verdict(o options) error {
	var wrong []error
	if n := r.different(); n > 0 {
		wrong = append(wrong, fmt.Errorf("%s: %d scenarios differ", r.example.name, n))
	}
	if r.writes[1] > 0 && !o.self {
		wrong = append(wrong, fmt.Errorf("%s: dyncontroller wrote %d times in %s in which nothing happened", r.example.name, r.writes[1], o.quiet))
	}
	return errors.Join(wrong...)
}

// prove runs an example and compares. If something is wrong, there may be a result and an error.
func prove(ctx context.Context, e example, o options) (r result, err error) {
	s, err := setStage(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = s.strike(err) }()
	kube := func(controllers string) func(context.Context) (runner, error) {
		return func(ctx context.Context) (runner, error) { return s.kubeControllerManager(ctx, controllers) }
	}
	sides := [2]side{
		{name: "kube", client: theirName, start: []func(context.Context) (runner, error){kube(e.controllers + "," + collector)}},
		{name: "rules", client: "dyncontroller", start: []func(context.Context) (runner, error){
			kube(collector), func(ctx context.Context) (runner, error) {
				return s.dyncontroller(ctx, filepath.Join(o.root, "examples", "rules", e.name, e.name+".yaml"))
			},
		}},
	}
	if o.self {
		sides[1].client, sides[1].start = sides[0].client, sides[0].start
	}
	b, err := readBook(e.name)
	if err != nil {
		return result{}, err
	}
	scenarios := map[int][]step{}
	for i := range o.scenarios {
		number := o.first + i*o.every
		if scenarios[number], err = b.scenario(number); err != nil {
			return result{}, err
		}
	}
	var outcomes [2]map[int]*outcome
	var writes [2]int
	for i, on := range sides {
		if outcomes[i], writes[i], err = s.play(ctx, on, e, scenarios, o); err != nil {
			return result{}, err
		}
		if err := s.clear(ctx, on); err != nil {
			return result{}, err
		}
	}
	r = compare(e, scenarios, outcomes[0], outcomes[1])
	r.writes = writes
	return r, r.verdict(o)
}
