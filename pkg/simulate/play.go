package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// Story is what happens in a case: until the rules have settled, and then after each
// step. That of an evaluation has no steps.
type Story struct {
	scenario.Phase
	Steps []Chapter `json:"steps,omitempty"`
}

// Chapter is what happens after a step.
type Chapter struct {
	Step string `json:"step"`
	scenario.Phase
}

// YAML writes the story as YAML, in order.
func (s Story) YAML() ([]byte, error) { return compare.YAML(s) }

// withoutReasons leaves out why rules did not match: that has the text of their conditions, which may change though nothing else does.
func (s Story) withoutReasons() Story {
	s.Decisions, s.Steps = unreasoned(s.Decisions), slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].Decisions = unreasoned(s.Steps[i].Decisions)
	}
	return s
}

func unreasoned(all []scenario.Decision) []scenario.Decision {
	out := make([]scenario.Decision, 0, len(all))
	for _, one := range all {
		if one.Outcome == plan.Unmatched {
			if one.Repeated {
				continue
			}
			one.Reason = ""
		}
		out = append(out, one)
	}
	return out
}

// phases are what happens until the rules have settled first, and after each step.
func (s Story) phases() []scenario.Phase {
	out := []scenario.Phase{s.Phase}
	for _, chapter := range s.Steps {
		out = append(out, chapter.Phase)
	}
	return out
}

// decides reports whether a rule looked at an object.
func (s Story) decides() bool {
	return slices.ContainsFunc(s.phases(), func(p scenario.Phase) bool { return len(p.Decisions) > 0 })
}

// failed counts what did not work in it.
func (s Story) failed() (evaluations, writes int) {
	for _, phase := range s.phases() {
		for _, decision := range phase.Decisions {
			if decision.Outcome == plan.Failed {
				evaluations++
			}
		}
		for _, write := range phase.Writes {
			if write.Failed {
				writes++
			}
		}
	}
	return evaluations, writes
}

// play is a case that is ready to be run.
type play struct {
	server  *apiserver.Server
	test    *Test
	of      *Case
	files   Files
	objects []object
	looked  func(rules.Snapshot, []plan.Decision) // told of each evaluation
}

// ending is what a run of a case came to.
type ending struct {
	story Story
	// states are those after each phase.
	states []scenario.State
	// ordered says that the order of the queue may have made a difference.
	ordered bool
	// hidden are the values of all Secrets that there were.
	hidden *redact.Values
}

// stepError is of a step that could not be carried out, or after which the rules do not
// settle.
type stepError struct {
	step Step
	err  error
}

// Error implements error.
func (e *stepError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *stepError) Unwrap() error { return e.err }

// run plays the case in an order.
func (p play) run(ctx context.Context, order queue.Order) (ending, error) {
	setup := scenario.Setup{
		Rules: p.test.set, Server: p.server, Now: p.test.now, Order: order, Objects: contents(p.objects), Patches: !p.test.whole, Looked: p.looked,
		Mask: redact.Fingerprint,
	}
	s, err := scenario.Start(ctx, setup)
	if err != nil {
		return ending{}, err
	}
	if err := s.Settle(ctx); err != nil {
		return ending{}, err
	}
	for _, step := range p.of.Steps {
		if err := p.take(ctx, s, step); err != nil {
			return ending{}, &stepError{step, err}
		}
		if err := s.Settle(ctx); err != nil {
			return ending{}, &stepError{step, err}
		}
	}
	out := ending{states: s.States(), ordered: s.Ordered(), hidden: s.Hidden()}
	phases := s.Phases()
	out.story.Phase = phases[0]
	for i, step := range p.of.Steps {
		out.story.Steps = append(out.story.Steps, Chapter{Step: step.String(), Phase: phases[i+1]})
	}
	return out, nil
}

// take carries out a step.
func (p play) take(ctx context.Context, s *scenario.Scenario, step Step) error {
	switch {
	case step.Apply != nil:
		return p.apply(ctx, s, step.Apply)
	case step.Patch != nil:
		return p.patch(ctx, s, step)
	case step.Delete != nil:
		at, err := p.locate(s, step.Delete.Object)
		if err != nil {
			return err
		}
		return s.Delete(ctx, at)
	default:
		return s.Advance(ctx, step.Advance)
	}
}

// patch changes an object. A patch that changes nothing is misspelt, or of the wrong
// subresource: what the API server does not know, it drops.
func (p play) patch(ctx context.Context, s *scenario.Scenario, step Step) error {
	body, err := p.bodyOf(step.Patch)
	if err != nil {
		return err
	}
	at, err := p.locate(s, step.Patch.Object)
	if err != nil {
		return err
	}
	before := s.Version()
	if err := s.Patch(ctx, at, step.Patch.Subresource, step.Patch.Type, body); err != nil {
		return err
	}
	if s.Version() != before {
		return nil
	}
	hint := "see whether all fields are spelt right; what is there already needs no step"
	if resource, _ := p.server.Of(at.GVR); resource.Status && step.Patch.Subresource == "" {
		hint += "; the status is changed with subresource: status"
	}
	return document.Errors{step.Node.Errorf(hint, "the patch changes nothing")}
}

// apply brings objects into the cluster, which has to take each of them.
func (p play) apply(ctx context.Context, s *scenario.Scenario, step *Apply) error {
	objects, errs := readObjects(step.files, p.files)
	if len(errs) == 0 {
		errs = p.admit(objects)
	}
	if len(errs) > 0 {
		return errs
	}
	for _, o := range objects {
		if err := s.Apply(ctx, o.content); err != nil {
			return document.Errors{o.node.Errorf("", "%v", err)}
		}
	}
	return nil
}

// bodyOf is the body of a patch as it is sent. One that is applied says what it is of.
func (p play) bodyOf(patch *Patch) ([]byte, error) {
	body := patch.Body
	if fields, is := body.(map[string]any); is && patch.Type == types.ApplyPatchType {
		resource, _ := p.server.Of(p.versioned(patch.Resource))
		whole := map[string]any{"apiVersion": resource.Kind.GroupVersion().String(), "kind": resource.Kind.Kind}
		maps.Copy(whole, fields)
		body = whole
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the patch: %w", err)
	}
	return data, nil
}

// locate finds the object that a step names: without a namespace, it is the one of that
// name in the cluster, or in the default namespace where there is none.
func (p play) locate(s *scenario.Scenario, o Object) (plan.Object, error) {
	at := plan.Object{GVR: p.versioned(o.Resource), Namespace: o.Namespace, Name: o.Name}
	resource, known := p.server.Of(at.GVR)
	if !known || !resource.Namespaced || at.Namespace != "" {
		return at, nil
	}
	switch found := s.Namespaces(at.GVR.GroupResource(), o.Name); len(found) {
	case 0:
		at.Namespace = defaultNamespace
	case 1:
		at.Namespace = found[0]
	default:
		return at, document.Errors{o.node.Errorf("write namespace: "+found[0], "there is a %s %s in the namespaces %s",
			o.written, o.Name, strings.Join(found, " and "))}
	}
	return at, nil
}

// versioned gives a resource that a step names without one a version.
func (p play) versioned(gvr schema.GroupVersionResource) schema.GroupVersionResource {
	if gvr.Version != "" {
		return gvr
	}
	return p.server.Preferred(gvr.GroupResource())
}
