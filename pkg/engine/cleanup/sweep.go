package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Reader reads from the API server, never from a cache. Its errors wrap those of
// the API server.
type Reader interface {
	// List calls visit for each object of the selection, whole and page by page. It
	// ends with the first error of visit.
	List(ctx context.Context, selection plan.Selection, visit func(map[string]any) error) error
	// Get returns the object of that resource, namespace and name, whatever its uid. It
	// is nil where there is none, which is no error.
	Get(ctx context.Context, object plan.Object) (map[string]any, error)
	// Served returns how a resource is served now, and whether it is at all. What
	// cannot be told for certain, because a part of discovery fails, is an error.
	Served(ctx context.Context, of schema.GroupResource) (resource Resource, served bool, err error)
}

// Resource is what the API server says of a resource.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
}

// Writer sends one operation, once.
type Writer interface {
	Write(ctx context.Context, operation plan.Operation) write.Result
}

// Report is one request that was sent to clean up.
type Report struct {
	Leftover  plan.Leftover
	Operation plan.Operation
	Result    write.Result
}

// Options are what a sweep works with.
type Options struct {
	Reader  Reader
	Writer  Writer
	Observe func(Report) // called for each request, in their order; nil for nobody
	// Confirm is asked before each request whether the rule is gone still. Its error ends the
	// sweep of that resource. Nil confirms everything.
	Confirm func(ctx context.Context, rule plan.Rule) error
	Clock   clock.Clock // nil for that of the machine
}

// maxPasses bounds how often the objects of a resource are gone through. Two are
// usual: one that cleans up, and one that finds nothing.
const maxPasses = 10

// Sweep cleans up what the leftovers stand for, one object after another. It returns
// those of which nothing is left, and why others are not among them: each object
// that resists is an error and no reason to stop. What a dry run would take away counts
// as nothing left.
//
// It goes on until a whole list shows nothing, since a request of the rule may have
// been under way. It ends early with the context; calling it again goes on.
func Sweep(ctx context.Context, o Options, leftovers []plan.Leftover) ([]plan.Leftover, error) {
	if o.Observe == nil {
		o.Observe = func(Report) {}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Confirm == nil {
		o.Confirm = func(context.Context, plan.Rule) error { return nil }
	}
	var done, wanted []plan.Leftover
	var errs []error
	for _, l := range leftovers {
		switch {
		case !l.Kind.Known():
			errs = append(errs, fmt.Errorf("cleaning up %s: nobody knows what that is", l))
		case l.Kind == plan.LeftCreated:
			done = append(done, l) // Nothing of it is ever cleaned up.
		default:
			wanted = append(wanted, l)
		}
	}
	for _, g := range groups(wanted) {
		finished, err := o.sweep(ctx, g)
		done = append(done, finished...)
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	slices.SortFunc(done, plan.Leftover.Compare)
	return done, errors.Join(errs...)
}

// sweep goes through one resource until a pass has found nothing to do, or nothing
// that it could do.
func (o Options) sweep(ctx context.Context, g *group) ([]plan.Leftover, error) {
	var p *pass
	for range maxPasses {
		p = &pass{Options: o, group: g, open: map[plan.Leftover]bool{}}
		err := o.Reader.List(ctx, g.selection(), func(object map[string]any) error { return p.visit(ctx, object) })
		switch {
		case p.stopped != nil:
			return nil, p.stopped
		case apierrors.IsNotFound(err):
			gone, err := g.follow(ctx, o.Reader, err)
			if gone || err != nil {
				return g.done(gone), err
			}
		case apierrors.IsResourceExpired(err) && p.cleaned > 0:
			// It took long to write that much. The next pass has less to do.
		case err != nil:
			return nil, fmt.Errorf("cleaning up %s: %w", g, err)
		case p.cleaned == 0:
			return p.done(), p.failures.join()
		}
	}
	return p.done(), errors.Join(p.failures.join(),
		fmt.Errorf("cleaning up %s: after %d passes there is still something; whoever puts it back must be stopped first", g, maxPasses))
}
