package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options are what a caller knows besides the wishes.
type Options struct {
	// Separate keeps rules from sharing an operation, other than a deletion.
	Separate bool
	// Ineffective is what is known to have no effect. It is not written.
	Ineffective Marks
	// Canonical returns an object as the API server stores it. Nil stands for a server
	// that stores what it is given. Its result is not changed, and it is asked only of
	// objects that are about to be written. What comes out the same is not written.
	Canonical func(gvr schema.GroupVersionResource, object map[string]any) map[string]any
	// Applied returns the body of an apply with its lists as they are after it. Nil stands for a server that replaces lists. Its
	// result is not changed.
	Applied func(gvr schema.GroupVersionResource, object, body map[string]any) map[string]any
}

// Build joins the wishes of all rules about the objects of one snapshot, in
// order of precedence, into as few operations as keep the order in which each
// rule wrote its actions. A rule that wants another value for a field than an
// earlier one is left out as a whole, as is one whose patch cannot be applied;
// the decisions of the plan say so, one for each rule left out.
func Build(wishes []Wish, options Options) Plan {
	stored := storage(options.Canonical)
	var failures []Decision
	for attempt := 1; ; attempt++ {
		accepted, refused := accept(wishes, stored)
		b := builder{known: options.Ineffective, met: Marks{}, stored: stored, whole: options.Applied, hasty: attempt >= patience}
		operations, failed := b.assemble(batches(accepted, options.Separate))
		if len(failed) == 0 {
			return Plan{Operations: operations, Decisions: append(refused, failures...), Suppressed: b.met}
		}
		out := map[Rule]bool{}
		for _, decision := range failed {
			if !out[decision.Rule] {
				out[decision.Rule] = true
				failures = append(failures, decision)
			}
		}
		wishes = without(wishes, out)
	}
}

// patience is how many attempts leave out a single rule, the first that fails,
// since the next may fail only because of it. A thousand rules that all fail
// would otherwise take a thousand attempts.
const patience = 4

// builder carries the marks of one attempt at a plan.
type builder struct {
	known, met Marks
	stored     storage
	whole      func(gvr schema.GroupVersionResource, object, body map[string]any) map[string]any // [Options.Applied]
	// hasty looks for all rules that fail at once.
	hasty bool
}

// assemble turns each batch into an operation, or says whose wishes cannot be
// applied to the snapshot.
func (b builder) assemble(all []*batch) ([]Operation, []Decision) {
	// A later request to the same object starts from what an earlier one made.
	current := map[Object]map[string]any{}
	var out []Operation
	var failed []Decision
	for _, joined := range all {
		first := joined.wishes[0]
		if _, ok := current[first.Target]; !ok {
			current[first.Target] = first.Current
		}
		operation, failures := b.build(joined, current[first.Target])
		failed = append(failed, failures...)
		switch {
		case len(failed) > 0 && !b.hasty:
			return nil, failed
		case operation == nil:
			continue
		}
		out = append(out, *operation)
		current[first.Target] = operation.leaves(current[first.Target])
	}
	return out, failed
}

// build makes one request of a batch, nil where nothing would change.
func (b builder) build(joined *batch, current map[string]any) (*Operation, []Decision) {
	switch joined.wishes[0].Type {
	case Apply:
		return b.apply(joined, current), nil
	case Create:
		return b.create(joined), nil
	case Delete:
		return b.remove(joined, current), nil
	default:
		operation, failed := b.update(joined, current, nil)
		if len(b.known) == 0 || operation == nil {
			return operation, failed
		}
		// Each change of a field builds on the one before, so without that one it would be another, as where two rules put their finalizers on.
		if all := operation.All(); b.known.Has(all) {
			maps.Copy(b.met, all)
			return nil, nil
		}
		return b.update(joined, current, b.known)
	}
}

// leaves is the object after the operation.
func (o Operation) leaves(current map[string]any) map[string]any {
	if d, deletes := o.Body.(Deletion); deletes {
		return d.dying(current)
	}
	return o.Predicted
}

// update joins merge and JSON patches and finalizers: into one JSON patch where
// one of them is, otherwise into one merge patch. Known changes have no effect, and are left out.
func (b builder) update(joined *batch, current map[string]any, known Marks) (*Operation, []Decision) {
	operation := joined.operation(Merge)
	after := current
	var steps []any
	var failed []Decision
	for _, wish := range joined.wishes {
		next, err := wish.applyTo(after)
		if err != nil {
			failed = append(failed, Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err})
			if b.hasty {
				continue
			}
			return nil, failed
		}
		changed := changes(wish.Rule, after, next)
		changed, next = b.stored.withoutSame(wish, changed, after, next)
		changed, next = wish.withoutIneffective(changed, after, next, known, b.met)
		if len(changed) == 0 {
			if len(operation.Changes) > 0 && wish.reliesOn(current, b.stored) {
				operation.Rules = withRule(operation.Rules, wish.Rule)
			}
			continue
		}
		operation.Changes = append(operation.Changes, changed...)
		operation.Rules = withRule(operation.Rules, wish.Rule)
		if wish.Type == JSON {
			operation.Type = JSON
		}
		if joined.hasJSON() {
			steps = append(steps, wish.stepsBetween(after, next)...)
		}
		after = next
	}
	if len(failed) > 0 || b.cancelled(joined, current, after) {
		return nil, failed
	}
	operation.Predicted = after
	operation.Body = steps
	if operation.Type == Merge {
		operation.Body = mergeDifference(current, after)
	}
	return operation, nil
}

// cancelled reports whether the wishes of a batch undo each other. What a single one
// changes has been judged.
func (b builder) cancelled(joined *batch, current, after map[string]any) bool {
	return Equal(current, after) || len(joined.wishes) > 1 && b.stored.same(joined.place.target, current, after)
}

// withRule keeps each rule once, in the order of their first change.
func withRule(rules []Rule, rule Rule) []Rule {
	if slices.Contains(rules, rule) {
		return rules
	}
	return append(rules, rule)
}
