package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// once settles what can settle now. Each write is shown when it is made, and the sum at
// the end.
func (r *runner) once(ctx context.Context, set *rules.Set) error {
	if err := r.cluster.reach(ctx); err != nil {
		return internal(err)
	}
	o, err := operator.New(r.options)
	if err != nil {
		return internal(err)
	}
	refused, err := r.gather(ctx, o, set)
	if err != nil {
		return internal(err)
	}
	settled, err := o.Settle(ctx)
	report, idle := joined(settled)
	refused = append(refused, idle...)
	r.show.finish()
	if _, err := io.WriteString(r.out, describeReport(report, refused, r.show.cleanups(), r.dryRun())); err != nil {
		return internal(fmt.Errorf("writing the report: %w", err))
	}
	switch {
	case err != nil:
		return internal(err)
	case len(report.Failures)+len(report.Unlisted)+len(refused) > 0, report.Unkept != nil:
		return errFinding
	default:
		return nil
	}
}

// gather gives the operator its rules, and returns why set objects are refused.
func (r *runner) gather(ctx context.Context, o *operator.Operator, set *rules.Set) (refused []error, err error) {
	var objects []source.Object
	if r.settings.FromCluster {
		if objects, err = r.listObjects(ctx); err != nil {
			return nil, err
		}
	}
	for _, err := range o.Take(ctx, set, objects, newClusterSchemas(r.cluster)) {
		refused = append(refused, fmt.Errorf("running %w", err))
	}
	return refused, nil
}

// listObjects returns the set objects that there are now.
func (r *runner) listObjects(ctx context.Context) ([]source.Object, error) {
	objects, err := newObjects(r.cluster, r.log)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, askTimeout)
	failed := make(chan error, 1)
	var watching sync.WaitGroup
	watching.Go(func() { failed <- objects.Run(ctx) })
	defer watching.Wait()
	defer stop()
	for !objects.Synced() {
		if err := objects.Trouble(); err != nil {
			return nil, err
		}
		select {
		case <-objects.Changed():
		case err := <-failed:
			return nil, cmp.Or(err, fmt.Errorf("listing the rule sets in the cluster: %w", context.Cause(ctx)))
		}
	}
	return objects.List(), nil
}

// joined adds up what settling came to for each identity, and returns why nothing could be
// done as some of them.
func joined(all []operator.Settlement) (out engine.Report, refused []error) {
	for _, one := range all {
		out.Objects += one.Objects
		out.Written += one.Written
		out.Simulated += one.Simulated
		out.Audited += one.Audited
		out.Waiting += one.Waiting
		out.Failures = append(out.Failures, one.Failures...)
		out.Unlisted = append(out.Unlisted, one.Unlisted...)
		out.Unkept = errors.Join(out.Unkept, one.Unkept)
		if one.Refused != nil {
			refused = append(refused, one.Refused)
		}
	}
	return out, refused
}
