package scenario

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// Setup is what a scenario begins with.
type Setup struct {
	Rules  *rules.Set
	Server *apiserver.Server
	Now    time.Time
	// Order is that in which objects are looked at.
	Order queue.Order
	// Objects are those in the cluster, as they are stored.
	Objects []map[string]any
	// Patches has the phases tell what changed of an object, and not the whole object.
	Patches bool
	// Mask is what stands for a value of a Secret: [redact.Fingerprint] where these are fixtures, [redact.Plain] where somebody may
	// still have them.
	Mask func(string) string
	// Looked is told of each evaluation, nil for nobody.
	Looked func(rules.Snapshot, []plan.Decision)
}

// Scenario is a cluster on which rules work. It is for one goroutine.
type Scenario struct {
	cluster *cluster.Cluster
	engine  *engine.Engine
	history *history
	queue   *queue.Queue[engine.Key]
	secrets *redact.Values
	patches bool
	before  objects
	phases  []Phase
	states  []State
}

// mostMoments bounds how often time is stopped at within one step, which is enough for a rule that looks again every minute of a month. One that does
// so after every moment would make a test as long as the time that it is about.
var mostMoments = 50_000

// Start puts the objects into a cluster and loads the rules. Nothing is decided before
// [Scenario.Settle].
func Start(ctx context.Context, s Setup) (*Scenario, error) {
	c, err := cluster.New(s.Server, s.Now)
	if err != nil {
		return nil, err
	}
	for _, object := range s.Objects {
		if err := c.Put(object); err != nil {
			return nil, err
		}
	}
	hidden := redact.New(s.Mask)
	out := &Scenario{cluster: c, patches: s.Patches, history: newHistory(c, hidden, s.Looked), secrets: hidden, queue: queue.New[engine.Key](s.Order)}
	names := namer{}
	out.engine = engine.New(engine.Options{
		Caches: c.Caches, Live: c.Live(), Writer: out.history, Recorder: out.history, Observer: out.history,
		Name: names.next, Clock: c.Clock(), Pace: engine.Pace{Workers: 1}, Queue: out.queue,
		Detail: engine.Detail{Explain: true, Unmasked: true}, // It masks in another way.
	})
	if out.before, err = out.objects(ctx); err != nil {
		return nil, err
	}
	if err := out.history.learn(ctx); err != nil {
		return nil, err
	}
	if err := out.engine.Start(s.Rules); err != nil {
		return nil, fmt.Errorf("loading the rules: %w", err)
	}
	return out, nil
}

// Hidden are the values of all Secrets that have been in the cluster. They change with it.
func (s *Scenario) Hidden() *redact.Values { return s.secrets }

// Ordered reports whether anything depended on the order in which objects are looked at:
// where there was never more than one to choose from, it did not.
func (s *Scenario) Ordered() bool { return s.queue.Chose() }

// Settle lets the rules and the cluster act until neither has anything left to do now,
// which ends a phase. The error says that they do not come to rest: it is a
// [*RestlessError] where it is known how.
func (s *Scenario) Settle(ctx context.Context) error {
	if err := s.rest(ctx); err != nil {
		return s.failed(s.history.restless(err))
	}
	return s.end(ctx)
}

// Look has the rules look at one object, once, which is a phase of its own.
func (s *Scenario) Look(ctx context.Context, resource apischema.GroupVersionResource, namespace, name string) error {
	s.history.unable(s.engine.Look(ctx, engine.Key{GVR: resource, Namespace: namespace, Name: name}))
	return s.end(ctx)
}

// failed has an error tell nothing of a Secret.
func (s *Scenario) failed(err error) error {
	if restless, is := errors.AsType[*RestlessError](err); is {
		return restless
	}
	return hideError(s.secrets, err)
}

// mostRounds is how often rules and the rest of the cluster may answer each other.
const mostRounds = 50

// rest settles what there is to do now.
func (s *Scenario) rest(ctx context.Context) error {
	for range mostRounds {
		s.engine.Wake()
		report, err := s.engine.Drain(ctx)
		if err != nil {
			return err
		}
		for _, failure := range report.Failures {
			if errors.Is(failure.Err, guard.ErrRestless) {
				return fmt.Errorf("%s: %w", nameOf(failure.Key), failure.Err)
			}
		}
		s.history.unable(report)
		changed, err := s.cluster.Collect(ctx)
		if err != nil || !changed {
			return err
		}
	}
	return fmt.Errorf("%w: the rules and the garbage collector undo each other", guard.ErrRestless)
}

// Advance lets time go on, and the rules and the cluster act at each moment at which
// they have something to do.
func (s *Scenario) Advance(ctx context.Context, by time.Duration) error {
	clock := s.cluster.Clock()
	end := clock.Now().Add(by)
	for range mostMoments {
		at, err := s.step(ctx, end)
		if err != nil {
			return err
		}
		if at.IsZero() {
			clock.SetTime(end)
			return nil
		}
	}
	last := "what is being deleted"
	if due := s.engine.Due(); len(due) > 0 {
		last = nameOf(due[0].Key)
	}
	return s.failed(fmt.Errorf("the rules look again at more than %d moments in one step, next at %s", mostMoments, last))
}

// Next lets time go on to the next moment at which the rules or the cluster have something to do, and has them act there,
// which ends a phase. If that is after end, or never, time stays, and the result is zero. After an error it is the moment of that.
func (s *Scenario) Next(ctx context.Context, end time.Time) (time.Time, error) {
	at, err := s.step(ctx, end)
	if err != nil || at.IsZero() {
		return at, err
	}
	return at, s.end(ctx)
}

// step is [Scenario.Next] within a phase.
func (s *Scenario) step(ctx context.Context, end time.Time) (time.Time, error) {
	clock := s.cluster.Clock()
	next, err := s.next(ctx)
	if err != nil {
		return clock.Now(), err
	}
	if next.IsZero() || next.After(end) {
		return time.Time{}, nil
	}
	if next.After(clock.Now()) {
		clock.SetTime(next)
	}
	if err := s.rest(ctx); err != nil {
		return clock.Now(), s.failed(s.history.restless(err))
	}
	return clock.Now(), nil
}

// next is the next moment at which time alone changes something, zero for never.
func (s *Scenario) next(ctx context.Context) (time.Time, error) {
	next := s.engine.Wake()
	end, err := s.cluster.NextEnd(ctx)
	if next.IsZero() || !end.IsZero() && end.Before(next) {
		next = end
	}
	return next, err
}

// Apply makes an object be as given. The error is that of the API server.
func (s *Scenario) Apply(ctx context.Context, object map[string]any) error {
	if kind, _ := object["kind"].(string); kind == "Secret" {
		s.secrets.Learn(object)
	}
	return s.changed(ctx, s.cluster.Apply(ctx, object))
}

// Patch changes an object. The error is that of the API server.
func (s *Scenario) Patch(ctx context.Context, at plan.Object, subresource string, kind types.PatchType, body []byte) error {
	if at.GVR.GroupResource() == secrets {
		s.secrets.Learn(decoded(body))
	}
	return s.changed(ctx, s.cluster.Patch(ctx, at, subresource, kind, body))
}

// Version changes with every change of an object.
func (s *Scenario) Version() uint64 { return s.cluster.Version() }

// Namespaces are those that have an object of the name, in order.
func (s *Scenario) Namespaces(resource apischema.GroupResource, name string) []string {
	return s.cluster.Namespaces(resource, name)
}

// Delete deletes an object. The error is that of the API server.
func (s *Scenario) Delete(ctx context.Context, at plan.Object) error {
	return s.changed(ctx, s.cluster.Delete(ctx, at))
}

// changed ends a change from outside.
func (s *Scenario) changed(ctx context.Context, err error) error {
	return s.failed(errors.Join(err, s.history.learn(ctx)))
}

// objects are all that a cluster has, without Events, which are told as such.
type objects map[string]map[string]any

func (s *Scenario) objects(ctx context.Context) (objects, error) {
	all, err := s.cluster.Objects(ctx)
	if err != nil {
		return nil, err
	}
	out := objects{}
	for _, o := range all {
		if o.GVR.Resource != "events" {
			out[nameOf(engine.Key{GVR: o.GVR, Namespace: o.GetNamespace(), Name: o.GetName()})] = plan.WithoutMetadata(o.Object, "managedFields", "uid", "resourceVersion") // These differ from one cluster to the next.
		}
	}
	return out, nil
}

// since lists what is not as it was, by name.
func (after objects) since(before objects) []Changed {
	var out []Changed
	for name, now := range after {
		if was, known := before[name]; !known || !reflect.DeepEqual(was, now) {
			out = append(out, Changed{Object: name, Now: now})
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			out = append(out, Changed{Object: name, Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b Changed) int { return cmp.Compare(a.Object, b.Object) })
	return out
}

// end ends a phase.
func (s *Scenario) end(ctx context.Context) error {
	now, err := s.objects(ctx)
	if err != nil {
		return err
	}
	phase := s.history.take()
	phase.Objects = now.since(s.before)
	for i := range phase.Objects {
		changed := &phase.Objects[i]
		if before := s.before[changed.Object]; s.patches && before != nil && !changed.Gone {
			changed.Patch, changed.Now = plan.MergePatch(before, changed.Now), nil
			if metadata, is := changed.Patch["metadata"].(map[string]any); is {
				if delete(metadata, "generation"); len(metadata) == 0 {
					delete(changed.Patch, "metadata")
				}
			}
		}
		if changed.Gone {
			s.history.forget(changed.Object)
		}
	}
	s.before = now
	for _, due := range s.engine.Due() {
		phase.LookAgainAt = append(phase.LookAgainAt, Look{Object: nameOf(due.Key), At: due.At.UTC().Format(time.RFC3339Nano)})
	}
	s.phases = append(s.phases, phase)
	s.states = append(s.states, stateOf(now, s.history.events))
	return nil
}

// Phases takes the phases that have ended. The values of all Secrets that have been in
// the cluster by now are masked in them, also where they were shown before they became
// secret.
func (s *Scenario) Phases() []Phase {
	out := s.phases
	s.phases = nil
	for i := range out {
		hide(s.secrets, s.history.derived, &out[i])
	}
	return out
}

// State is what all objects are at the end of a phase, by name, and which Events there
// were until then. It has what must not depend on the order in which objects are looked at.
type State map[string]any

func stateOf(now objects, events map[string]bool) State {
	var names []any
	for _, event := range slices.Sorted(maps.Keys(events)) {
		names = append(names, event)
	}
	out := State{"Events": names}
	for name, object := range now {
		out[name] = plan.WithoutMetadata(object, "generation") // It counts changes, of which there may be more.
	}
	return out
}

// States are those at the end of each phase.
func (s *Scenario) States() []State {
	out := make([]State, len(s.states))
	for i, state := range s.states {
		out[i] = State{}
		for name, is := range state {
			if name == "Events" {
				out[i][name] = s.secrets.Tree(is)
				continue
			}
			out[i][s.secrets.Text(name)] = hideBody(s.secrets, s.history.derived, name, is)
		}
	}
	return out
}

// namer makes the names of new objects: as long as those of a cluster, and the same
// every time. It counts for each asker alone, so that a name does not depend on the order
// in which others ask.
type namer map[request]int

// request is what names are asked for. It has no uid, since that of an object may depend
// on the order.
type request struct{ group, resource, namespace, name, prefix string }

// letters are those of generated names.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// next implements [engine.Options.Name].
func (n namer) next(asker engine.Key, prefix string) string {
	asked := request{asker.GVR.Group, asker.GVR.Resource, asker.Namespace, asker.Name, prefix}
	n[asked]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d", asked, n[asked]))
	suffix := make([]byte, naming.SuffixLength)
	for i := range suffix {
		suffix[i] = letters[int(sum[i])%len(letters)]
	}
	return naming.Join(prefix, string(suffix))
}
