package plan

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	var failures []Decision
	out := func(rule Rule) bool {
		return slices.ContainsFunc(failures, func(d Decision) bool { return d.Rule == rule })
	}
	for {
		accepted, withheld := options.accept(wishes)
		b := builder{Options: options, suppressed: Marks{}}
		operations, failed := b.assemble(batches(accepted, options.Separate))
		if len(failed) == 0 {
			return Plan{Operations: operations, Decisions: append(withheld, failures...), Suppressed: b.suppressed}
		}
		for _, decision := range failed {
			if !out(decision.Rule) {
				failures = append(failures, decision)
			}
		}
		wishes = slices.DeleteFunc(slices.Clone(wishes), func(w Wish) bool { return out(w.Rule) })
	}
}

// place is what two wishes must share to be able to contradict each other.
type place struct {
	target      Object
	subresource string
}

func (w Wish) place() place { return place{w.Target, w.Subresource} }

// batch holds the wishes that travel in one request.
type batch []Wish

// batches puts the wishes together that can travel together.
func batches(wishes []Wish, separate bool) []batch {
	var out []batch
	for i, wish := range wishes {
		if at := joinable(out, wish, separate); at >= 0 {
			out[at] = append(out[at], wish)
			continue
		}
		out = append(out, wishes[i:i+1:i+1])
	}
	return out
}

// joinable is the index of the batch that the wish can join, -1 where there is none. A
// wish does not overtake what its own rule asked for before it, but for an apply: a later one
// of the same manager to the same object would take back what the first applied. Deletions of
// an object are the same request whoever asks. No two creates are one. What reads failure is sent apart from all else.
func joinable(all []batch, wish Wish, separate bool) int {
	if wish.Type == Create {
		return -1
	}
	for i, b := range slices.Backward(all) {
		own, here := b[len(b)-1].Rule == wish.Rule, b[0].place() == wish.place() // Wishes come rule by rule.
		if here && b[0].Reacts == wish.Reacts && (own || !wish.Reacts) &&
			b[0].request() == wish.request() && (own || wish.Type == Delete || wish.request() == Merge && !separate) {
			return i
		}
		if own && wish.Type != Apply {
			return -1
		}
	}
	return -1
}

// request is the type of the request that carries the wish. A merge patch becomes a JSON patch where it has to carry one.
func (w Wish) request() Type {
	if w.Type == Finalize || w.Type == JSON {
		return Merge
	}
	return w.Type
}

// manager is the same for all updates, since the API server keeps only ten
// Update managers for an object. A deletion has none.
func (w Wish) manager() string {
	switch w.Type {
	case Apply:
		return w.Rule.FieldManager()
	case Delete:
		return ""
	default:
		return FieldManager
	}
}

// builder makes the operations of one attempt at a plan.
type builder struct {
	Options
	suppressed Marks
}

// assemble turns each batch into an operation, or says whose wishes cannot be
// applied to the snapshot.
func (b builder) assemble(all []batch) (out []Operation, failed []Decision) {
	// A later request to the same object starts from what an earlier one made.
	current := map[Object]map[string]any{}
	for _, joined := range all {
		target := joined[0].Target
		if _, ok := current[target]; !ok {
			current[target] = joined[0].Current
		}
		operation, failures := b.build(joined, current[target], nil)
		if len(b.Ineffective) > 0 && operation != nil { // Marks are digests, which take longer than all the rest.
			if all := operation.All(); b.Ineffective.Has(all) {
				// Each change of a field builds on the one before, so without that one it would be another, as where two rules put their
				// finalizers on.
				maps.Copy(b.suppressed, all)
				operation = nil
			} else if !operation.isWhole() {
				operation, failures = b.build(joined, current[target], b.Ineffective)
			}
		}
		failed = append(failed, failures...)
		if operation != nil {
			out = append(out, *operation)
			current[target] = operation.leaves(current[target])
		}
	}
	return out, failed
}

// build makes one request of a batch, nil where nothing would change. Known changes of fields have no effect, and are left out.
func (b builder) build(joined batch, current map[string]any, known Marks) (*Operation, []Decision) {
	first := joined[0]
	operation := &Operation{
		Target: first.Target, Subresource: first.Subresource, Type: first.request(), Manager: first.manager(),
		Confirm: joined.reads(func(w Wish) []Read { return w.Confirm }), Reads: joined.reads(func(w Wish) []Read { return w.Reads }),
	}
	var failed []Decision
	switch operation.Type {
	case Apply:
		b.apply(operation, joined, current)
	case Create: // It is always one wish.
		operation.Body = first.fields()
		carry(operation, first)
		write(operation, first.Rule, nil, first.fields())
	case Delete:
		remove(operation, joined, current)
	default:
		failed = b.update(operation, joined, current, known)
	}
	if len(operation.Rules) == 0 {
		return nil, failed
	}
	return operation, failed
}

// reads has each look-up of the wishes once.
func (b batch) reads(of func(Wish) []Read) []Read {
	if len(b) == 1 {
		return of(b[0])
	}
	var all []Read
	for _, wish := range b {
		all = append(all, of(wish)...)
	}
	return Distinct(all)
}

// write has the operation lead from one object to another, for one rule.
func write(o *Operation, rule Rule, before, after map[string]any) {
	o.Predicted, o.Changes = after, changes(rule, before, after)
}

// leaves is the object after the operation.
func (o Operation) leaves(current map[string]any) map[string]any {
	if d, deletes := o.Body.(Deletion); deletes {
		return d.dying(current)
	}
	return o.Predicted
}

// update joins merge and JSON patches and finalizers: into one JSON patch where one of them is, otherwise into one merge patch. It
// names no rules where nothing changes.
func (b builder) update(operation *Operation, joined batch, current map[string]any, known Marks) (failed []Decision) {
	hasJSON := slices.ContainsFunc(joined, func(w Wish) bool { return w.Type == JSON })
	after := current
	var steps []any
	for _, wish := range joined {
		next, err := wish.applyTo(after)
		if err != nil {
			failed = append(failed, Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err})
			continue
		}
		changed, next := b.withoutSame(wish, changes(wish.Rule, after, next), after, next)
		if len(known) > 0 {
			changed, next = wish.without(changed, after, next, func(change Change) bool {
				mark := change.mark(wish.place())
				if known[mark] {
					b.suppressed[mark] = true
				}
				return known[mark]
			})
		}
		if len(changed) > 0 {
			operation.Changes = append(operation.Changes, changed...)
			if wish.Type == JSON {
				operation.Type = JSON
				steps = append(steps, wish.steps()...)
			} else if hasJSON {
				steps = append(steps, jsonDifference(after, next)...)
			}
			after = next
		} else if len(operation.Changes) == 0 || !b.reliesOn(wish, current) {
			continue
		}
		carry(operation, wish)
	}
	// Wishes may undo each other. What a single one changes has been judged.
	if Equal(current, after) || len(joined) > 1 && b.same(operation.Target, current, after) {
		operation.Rules, operation.Parts = nil, nil
		return failed
	}
	operation.Predicted = after
	switch {
	case operation.Type == JSON:
		operation.Body = steps
	case len(joined) == 1:
		operation.Body = mergePatchOf(operation.Changes)
	default: // They may have changed the same.
		operation.Body = MergePatch(current, after)
	}
	return failed
}

// carry keeps each rule once, in the order of their first change.
func carry(o *Operation, wish Wish) {
	if at := slices.Index(o.Rules, wish.Rule); at >= 0 {
		o.Parts[at].First, o.Parts[at].Last = min(o.Parts[at].First, wish.Action), max(o.Parts[at].Last, wish.Action)
		return
	}
	o.Rules, o.Parts = append(o.Rules, wish.Rule), append(o.Parts, Part{wish.Action, wish.Action, wish.Reacts})
}

// remove joins the deletions of one object that still have something to do.
func remove(o *Operation, joined batch, current map[string]any) {
	var all Deletion
	for _, wish := range joined {
		d, _ := wish.Body.(Deletion)
		if !d.changes(current) {
			continue
		}
		if len(o.Rules) == 0 {
			all = d
		}
		all = all.with(d)
		carry(o, wish)
	}
	o.Body = all
}

// apply joins what one rule applies to one object: a second apply under the
// same manager would take back the fields of the first.
func (b builder) apply(operation *Operation, joined batch, current map[string]any) {
	body := map[string]any{}
	for _, wish := range joined {
		body = mergePatched(body, wish.fields())
		operation.Force = operation.Force || wish.Force
		if operation.Unseen == nil || operation.Unseen.Event == nil {
			operation.Unseen = cmp.Or(wish.Unseen, operation.Unseen)
		}
		if operation.Release != OrphanFields && wish.Release != "" {
			operation.Release = wish.Release // Once a field is orphaned it cannot go with another.
		}
	}
	body = withoutEmptyMetadata(body)
	if b.isApplied(joined[0].place(), current, body, operation.Manager) {
		return
	}
	operation.Body = body
	operation.GivesUp = operation.Release == OrphanFields && givesUp(operation, current)
	operation.TakesOver = !operation.GivesUp && operation.takesOver(current)
	for _, wish := range joined {
		carry(operation, wish)
	}
	write(operation, joined[0].Rule, current, b.applied(operation.Target, current, body))
	if b.Canonical != nil && current != nil { // Of what is new all is stored.
		was, is := b.stored(operation.Target, current), b.stored(operation.Target, operation.Predicted)
		operation.Changes = slices.DeleteFunc(operation.Changes, func(change Change) bool { return !change.differs(was, is) })
	}
}

// Over turns an apply that was to make its target to an object that turned out to have
// the name. One that was adopted stays marked so: without the mark it would be deleted
// where it is to be released.
func (o Operation) Over(current map[string]any) Operation {
	body, _ := o.Body.(map[string]any)
	if Annotation(current, AdoptedAnnotation) != "" {
		body = WithField(body, Path{"metadata", "annotations", AdoptedAnnotation}, "true")
	}
	o.Body, o.TakesOver = body, true
	o.Target.UID = types.UID(Text(current, "metadata", "uid"))
	o.Target.ResourceVersion = Text(current, "metadata", "resourceVersion")
	write(&o, o.Rules[0], current, mergePatched(current, body))
	return o
}
