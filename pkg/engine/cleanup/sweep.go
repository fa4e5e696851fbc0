package cleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	// Get returns nil where there is no such object, which is no error.
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
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
	// looks says that nothing is sent: see [Left].
	looks bool
}

// maxPasses bounds how often the objects of a resource are gone through. Two are
// usual: one that cleans up, and one that finds nothing.
const maxPasses = 10

// Sweep cleans up what the leftovers stand for, one object after another. It returns
// those of which nothing is left, and why others are not among them: each object
// that resists is an error and no reason to stop.
//
// It goes on until a whole list shows nothing, since a request of the rule may have
// been under way. It ends early with the context; calling it again goes on.
func Sweep(ctx context.Context, o Options, leftovers []plan.Leftover) ([]plan.Leftover, error) {
	if o.Observe == nil {
		o.Observe = func(Report) {}
	}
	if o.Confirm == nil {
		o.Confirm = func(context.Context, plan.Rule) error { return nil }
	}
	var done []plan.Leftover
	var groups []*group
	for _, l := range leftovers {
		if l.Kind == plan.LeftCreated {
			done = append(done, l) // Nothing of it is ever cleaned up.
			continue
		}
		list := plan.Selection{GVR: l.GVR, Namespace: l.Namespace}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.Selection == list })
		if at < 0 {
			at, groups = len(groups), append(groups, &group{Selection: list})
		}
		groups[at].leftovers = append(groups[at].leftovers, l)
	}
	var errs []error
	for _, g := range groups {
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

// Left returns those leftovers of which something is left, and those of which that cannot be found out. It changes nothing.
func Left(ctx context.Context, reader Reader, leftovers []plan.Leftover) []plan.Leftover {
	done, _ := Sweep(ctx, Options{Reader: reader, looks: true}, leftovers)
	return slices.DeleteFunc(slices.Clone(leftovers), func(l plan.Leftover) bool { return slices.Contains(done, l) })
}

// errFound ends a list when something is left of all that is looked for.
var errFound = errors.New("something is left of all of them")

// group is the leftovers that one list shows, of a resource as it is served now.
type group struct {
	plan.Selection
	leftovers []plan.Leftover
}

// sweep goes through one resource until a pass has found nothing to do, or nothing that it could do.
func (o Options) sweep(ctx context.Context, g *group) ([]plan.Leftover, error) {
	if !slices.ContainsFunc(g.leftovers, func(l plan.Leftover) bool { return l.Kind != plan.LeftChildren }) {
		// All children have the label, also those that another set has taken over. Finalizers and fields may be on any object,
		// whatever the selectors of the rule were.
		g.LabelSelector = plan.LabelSet
	}
	var p *pass
	for range maxPasses {
		p = &pass{Options: o, group: g, open: map[plan.Leftover]bool{}}
		err := o.Reader.List(ctx, g.Selection, func(object map[string]any) error {
			if o.looks {
				return p.look(object)
			}
			for _, l := range g.leftovers {
				if object = p.clean(ctx, l, object); object == nil {
					break // It is gone, or nothing more is to be sent.
				}
			}
			return p.stopped
		})
		switch {
		case p.stopped != nil:
			return nil, p.stopped
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // Who may list is decided before it is looked whether there is such a resource.
			// Either the resource is served in another version, with the same objects, or none of them can be left.
			found, served, errServed := o.Reader.Served(ctx, g.GVR.GroupResource())
			switch {
			case errServed != nil && apierrors.IsForbidden(err):
				return nil, fmt.Errorf("cleaning up %s: %w, and asking how it is served: %w", g, err, errServed)
			case errServed != nil:
				return nil, fmt.Errorf("asking how %s is served: %w", g.GVR.GroupResource(), errServed)
			case !served, g.Namespace != "" && !found.Namespaced:
				return g.leftovers, nil // Rules of a namespace never wrote to what has none.
			case apierrors.IsForbidden(err):
				return nil, fmt.Errorf("cleaning up %s: %w", g, err) // The right is the same for all versions.
			case found.GVR == g.GVR:
				return nil, fmt.Errorf("cleaning up %s: it is served, but: %w", g, err)
			}
			g.GVR = found.GVR
		case apierrors.IsResourceExpired(err) && p.cleaned > 0:
			// It took long to write that much. The next pass has less to do.
		case err != nil:
			return nil, fmt.Errorf("cleaning up %s: %w", g, err)
		case p.cleaned == 0:
			return p.done()
		}
	}
	return p.done(fmt.Errorf("cleaning up %s: after %d passes there is still something; whoever puts it back must be stopped first", g, maxPasses))
}

// attempts bounds the requests for one leftover on one object in a pass.
const attempts = 5

// How long to wait where the API server is overloaded.
const (
	shortestWait = time.Second
	longestWait  = 30 * time.Second
)

// mostShown bounds the errors that are told of one pass.
const mostShown = 10

// pass is once through the objects of a group. It keeps nothing of them: they may be very many.
type pass struct {
	Options
	group *group
	// cleaned counts what was found and is not there any more.
	cleaned int
	// open are the leftovers that were found, so that they are not done yet.
	open map[plan.Leftover]bool
	// errs are why something is not cleaned up, failed how often that was so.
	errs   []error
	failed int
	// stopped is why nothing more is to be sent.
	stopped error
}

// done are the leftovers that were on no object, and why others were.
func (p *pass) done(errs ...error) ([]plan.Leftover, error) {
	if more := p.failed - len(p.errs); more > 0 {
		p.errs = append(p.errs, fmt.Errorf("and %d more", more))
	}
	done := slices.DeleteFunc(slices.Clone(p.group.leftovers), func(l plan.Leftover) bool { return p.open[l] })
	return done, errors.Join(append(p.errs, errs...)...)
}

func (p *pass) fail(l plan.Leftover, err error) {
	if p.failed++; len(p.errs) < mostShown {
		p.errs = append(p.errs, fmt.Errorf("cleaning up %s: %w", l, err))
	}
}

// look finds out which leftovers the object has, until all are found.
func (p *pass) look(object map[string]any) error {
	for _, l := range p.group.leftovers {
		served := l
		if served.GVR = p.group.GVR; served.CleanUp(object) != nil {
			p.open[l] = true
		}
	}
	if len(p.open) == len(p.group.leftovers) {
		p.stopped = errFound
	}
	return p.stopped
}

// clean takes the leftover from the object, and returns the object as it is then, nil where it is gone or on its way. A dry
// run is no different: who simulates shows the object as it would be, and says what was simulated before. Only ownership of
// fields is given up in what is stored: a request names the entry by its index there.
func (p *pass) clean(ctx context.Context, l plan.Leftover, object map[string]any) map[string]any {
	served := l
	served.GVR = p.group.GVR
	next := object
	var cause error
	for sent := 0; ; sent++ {
		o := served.CleanUp(object)
		switch {
		case o == nil:
			p.cleaned += min(sent, 1)
			return next
		case sent == attempts:
			cause = cmp.Or(cause, errors.New("it is accepted, and nothing changes"))
			p.fail(l, fmt.Errorf("giving up on %s after %d requests: %w", o.Target, attempts, cause))
			return next
		}
		if err := cmp.Or(ctx.Err(), p.Confirm(ctx, l.Rule)); err != nil {
			p.stopped = fmt.Errorf("cleaning up %s: %w", l, err)
			return nil
		}
		result := p.Writer.Write(ctx, *o)
		if result.Class == write.Repeated {
			p.cleaned += min(sent, 1)
			return next
		}
		p.Observe(Report{Leftover: l, Operation: *o, Result: result})
		p.open[l] = true
		cause = result.Err
		switch result.Class {
		case write.Written, write.Unchanged, write.Simulated:
			if o.Type == plan.Delete || freed(object, result.Object) {
				p.cleaned++
				return nil
			}
			if o.Subresource == "" && result.Object != nil {
				if object = result.Object; result.Class != write.Simulated || l.Kind != plan.LeftFields {
					next = object
				}
				continue
			}
		case write.Stale, write.Ambiguous:
		case write.Overloaded:
			select {
			case <-clock.RealClock{}.After(min(max(result.RetryAfter, shortestWait), longestWait)):
			case <-ctx.Done():
			}
		case write.Unreachable:
			p.stopped = cmp.Or(cause, fmt.Errorf("writing %s: %s", o.Target, result.Class))
			return nil
		default:
			p.fail(l, cmp.Or(cause, fmt.Errorf("writing %s: %s", o.Target, result.Class)))
			return next
		}
		found, err := p.Reader.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name)
		switch {
		case err != nil:
			p.fail(l, errors.Join(cause, fmt.Errorf("reading %s again: %w", o.Target, err)))
			return next
		case found == nil:
			p.cleaned++
			return nil
		}
		object, next = found, found
	}
}

// freed reports whether an object is gone with the last finalizer that it had.
func freed(before, after map[string]any) bool {
	return after != nil && plan.HasFinalizers(before) && plan.BeingDeleted(after) && !plan.HasFinalizers(after)
}
