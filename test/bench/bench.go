package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/test/bench/controllers"
)

// bench measures every job that is asked for, each on an API server of its own, and prints a table of each.
func bench(ctx context.Context, o options, out, said io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "dyncontroller-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeRules(dir); err != nil {
		return err
	}
	var all []result
	for _, name := range o.jobs {
		measured, err := benchJob(ctx, o, jobOf(name), dir, said)
		if err != nil {
			return fmt.Errorf("job %q: %w", name, err)
		}
		if err := measured.print(out); err != nil {
			return err
		}
		all = append(all, measured)
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(o.json, all)
}

func writeRules(dir string) error {
	names, err := fs.Glob(ruleFiles, "rules/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := ruleFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// benchJob has the contenders take turns. Who begins is another one in each round.
func benchJob(ctx context.Context, o options, j job, dir string, said io.Writer) (measured result, err error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	var contenders []contender
	for _, text := range o.contenders {
		// Not every job has every controller.
		if c := parseContender(text); c.binary != "" || slices.Contains(controllers.Names(j.name), c.name) {
			contenders = append(contenders, c)
		}
	}
	if len(contenders) == 0 {
		return result{}, fmt.Errorf("nobody does it, only %s do", controllers.Names(j.name))
	}
	s, err := setStage(ctx, o, j, said)
	if s.plane != nil {
		defer func() { err = errors.Join(err, s.plane.Stop()) }()
	}
	if err != nil {
		return result{}, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen, err := observe(watching, s.metadata, j)
	if err != nil {
		return result{}, err
	}
	r := &runner{options: o, job: j, stage: s, observer: seen, dir: dir, self: self}
	measured = newResult(ctx, o, j, contenders)
	if measured.Bytes, measured.BytesManaged, err = s.sizes(ctx); err != nil {
		return result{}, err
	}
	for round := range o.rounds {
		for i := range contenders {
			c := contenders[(round+i)%len(contenders)]
			began := time.Now()
			f, err := r.measure(ctx, c)
			if err != nil {
				return result{}, fmt.Errorf("round %d: %w", round+1, err)
			}
			measured.Rounds[c.name] = append(measured.Rounds[c.name], f)
			fmt.Fprintf(said, "%s: round %d of %d: %s took %s\n", j.name, round+1, o.rounds, c.name, time.Since(began).Round(time.Second/10))
		}
	}
	return measured, nil
}
