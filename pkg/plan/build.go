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
	// Applied returns an object after a manager has applied a body to it with force: what the body has is merged into it, and what
	// only the manager owned and the body lacks is gone. A manager without a name gives nothing up. Nil stands for a server that
	// merges maps, replaces lists and removes nothing. Its result is not changed.
	Applied func(gvr schema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any
	// AppliedWhole is Applied of a whole object, nil for the same. What nobody owns goes with the map that it is in, where that goes: only
	// who has all entries of managedFields knows.
	AppliedWhole func(gvr schema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any
	// Grain says how server-side apply treats the objects of a resource. It is nil, or its result, where that is not known.
	Grain func(gvr schema.GroupVersionResource, subresource string) Grain
}

// Grain says what of a value a manager owns that applies it (KEP-555): each leaf of it by itself, or the whole. A nil Grain is of a
// value of which nothing is known.
type Grain interface { //nolint:interfacebloat // A map and a list are asked about in the same way.
	Below(key string) Grain // of a field of a map
	Element() Grain         // of an element of a list
	WholeMap() bool         // a map is owned, and replaced, as a whole
	WholeList() bool        // a list is
	// Key returns the fields that tell an element from others of its list, with their defaults. It is not ok for a list without
	// keys: its elements are scalars.
	Key(element any) (pairs map[string]any, ok bool)
}

// grain is that of the objects at a place, nil where it is not known.
func (o Options) grain(at place) Grain {
	if o.Grain == nil {
		return nil
	}
	return o.Grain(at.target.GVR, at.subresource)
}

// Build joins the wishes of all rules about the objects of one snapshot, in
// order of precedence, into as few operations as keep the order in which each
// rule wrote its actions. Finalizers that are put on come first, before anything that a rule with a finalizer cleans up, and those that are
// taken off come last. A rule that wants another value for a field than an
// earlier one is left out but for its finalizer, as is one whose patch cannot be applied;
// the decisions of the plan say so, one for each rule left out.
func Build(wishes []Wish, options Options) Plan {
	var failures []Decision
	out := func(rule Rule) bool {
		return slices.ContainsFunc(failures, func(d Decision) bool { return d.Rule == rule })
	}
	for {
		accepted, withheld := options.accept(wishes)
		slices.SortStableFunc(accepted, func(a, b Wish) int { return cmp.Compare(a.stage(), b.stage()) })
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
		wishes = slices.DeleteFunc(slices.Clone(wishes), func(w Wish) bool { return out(w.Rule) && !w.holds() })
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
//
// A wish does not overtake what its own rule asked for before it, but for an apply: a later one of the same manager to the same object
// would take back what the first applied. Deletions of an object are the same request whoever asks. No two creates are one. What
// reads failure is sent apart from all else.
func batches(wishes []Wish, separate bool) []batch {
	type kind struct {
		place
		request Type
		reacts  bool
	}
	var out []batch
	latest := map[kind]int{} // the batch of each kind that can still be joined
	last := map[Rule]int{}   // the last batch with a wish of each rule
	for i, wish := range wishes {
		k := kind{wish.place(), wish.request(), wish.Reacts}
		at, found := latest[k]
		own := found && out[at][len(out[at])-1].Rule == wish.Rule
		joins := found && wish.Type != Create && (wish.Type == Apply || at >= last[wish.Rule]) &&
			(own || !wish.Reacts && (wish.Type == Delete || k.request == Merge && !separate)) &&
			(!separate || !out[at][0].holds()) // A finalizer is refused for nothing else.
		if joins {
			out[at] = append(out[at], wish)
		} else {
			at = len(out)
			out = append(out, wishes[i:i+1:i+1])
		}
		latest[k], last[wish.Rule] = at, max(last[wish.Rule], at)
	}
	return out
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

// draftedObject is an object while the operations of a plan are made.
type draftedObject struct {
	current map[string]any // after the operations so far
	// asked is current with all that actions have asked for and that is left out of the operations, for nothing would come of it alone, such
	// as an empty list. A later action may fill it.
	asked     map[string]any
	positions positions
}

// assemble turns each batch into an operation, or says whose wishes cannot be
// applied to the snapshot.
func (b builder) assemble(all []batch) (out []Operation, failed []Decision) {
	// A later request to the same object starts from what an earlier one made.
	objects := map[Object]*draftedObject{}
	for _, joined := range all {
		target := joined[0].Target
		if objects[target] == nil {
			current := joined[0].Current
			objects[target] = &draftedObject{current: current, asked: current, positions: positionsOf(current)}
		}
		object := objects[target]
		mark, asked := object.positions.mark(), object.asked
		operation, failures := b.build(joined, object, nil)
		if len(b.Ineffective) > 0 && operation != nil { // Marks are digests, which take longer than all the rest.
			if all := operation.All(); b.Ineffective.Has(all) {
				// Each change of a field builds on the one before, so without that one it would be another, as where two rules put their
				// finalizers on.
				maps.Copy(b.suppressed, all)
				operation = nil
			} else if !operation.isWhole() {
				object.positions.undo(mark)
				object.asked = asked
				operation, failures = b.build(joined, object, b.Ineffective)
			}
		}
		failed = append(failed, failures...)
		if operation == nil {
			object.positions.undo(mark)
			continue
		}
		out = append(out, *operation)
		b.carryOut(operation, object)
	}
	return out, failed
}

// carryOut has the object be as it is after an operation. What the API server stores as nothing is not there then.
func (b builder) carryOut(operation *Operation, object *draftedObject) {
	before := object.current
	object.current = operation.leaves(before)
	if operation.Type == Apply {
		object.asked = b.applied(*operation, object.asked)
	}
	if b.Canonical == nil || before == nil || operation.Type == Delete {
		return
	}
	var stored map[string]any
	for _, change := range changes(Rule{}, before, object.current) {
		if !IsEmpty(change.After) {
			continue
		}
		if stored == nil {
			stored = b.Stored(operation.Target, object.current)
		}
		if _, there := Lookup(stored, change.Path); !there {
			object.current = WithField(object.current, change.Path, nil)
		}
	}
}

// build makes one request of a batch, nil where nothing would change. Known changes of fields have no effect, and are left out.
func (b builder) build(joined batch, object *draftedObject, known Marks) (*Operation, []Decision) {
	first, current := joined[0], object.current
	operation := &Operation{
		Target: first.Target, Subresource: first.Subresource, Type: first.request(), Manager: first.manager(),
		Confirm: joined.reads(func(w Wish) []Read { return w.Confirm }), Reads: joined.reads(func(w Wish) []Read { return w.Reads }),
		Missed: joined.reads(func(w Wish) []Read { return w.Missed }),
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
		failed = b.update(operation, joined, object, known)
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
func (b builder) update(operation *Operation, joined batch, object *draftedObject, known Marks) (failed []Decision) {
	hasJSON := slices.ContainsFunc(joined, func(w Wish) bool { return w.Type == JSON && w.Restoring == nil })
	current := object.current
	after := current
	var steps []any
	var written []Change
	for _, wish := range joined {
		if wish.Restoring != nil {
			wish.Type = Merge // It is sent as what differs.
		}
		mark := object.positions.begin(wish.Rule)
		next, asks, sent, err := object.follow(b.Options, wish, after)
		if err != nil {
			object.positions.undo(mark)
			failed = append(failed, Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err})
			continue
		}
		changed, next := b.withoutSame(wish, changes(wish.Rule, after, next), after, next)
		if len(known) > 0 {
			changed, next = wish.without(changed, after, next, func(change Change) bool {
				mark := change.between(b.Stored(wish.Target, after), b.Stored(wish.Target, next)).mark(wish.place())
				if known[mark] {
					b.suppressed[mark] = true
				}
				return known[mark]
			})
		}
		object.ask(wish, sent, after, asks)
		if len(changed) > 0 {
			written = append(written, changed...)
			stored := b.storedChanges(wish, changed, after, next)
			wish.markRestored(stored)
			operation.Changes = append(operation.Changes, stored...)
			if wish.Type == JSON {
				operation.Type = JSON
				steps = append(steps, sent...)
			} else if hasJSON {
				steps = append(steps, jsonDifference(after, next)...)
			}
			after = next
		} else {
			object.positions.undo(mark)
			if len(operation.Changes) == 0 || !b.reliesOn(wish, current) {
				continue
			}
		}
		carry(operation, wish)
	}
	// Wishes may undo each other. What a single one changes has been judged.
	if Equal(current, after) || len(joined) > 1 && b.same(operation.Target, current, after) {
		operation.Rules, operation.Parts = nil, nil
		return failed
	}
	operation.Predicted = b.Stored(operation.Target, after)
	switch {
	case operation.Type == JSON:
		operation.Body = steps
	case len(joined) == 1:
		operation.Body = mergePatchOf(written)
	default: // They may have changed the same.
		operation.Body = MergePatch(current, after)
	}
	return failed
}

// storedChanges are the changes of a wish from one object to another, as both are stored, where these are the changes as they are.
func (b builder) storedChanges(w Wish, changed []Change, before, after map[string]any) []Change {
	was, is := b.Stored(w.Target, before), b.Stored(w.Target, after)
	if memory(was) == memory(before) && memory(is) == memory(after) {
		return changed
	}
	return changes(w.Rule, was, is)
}

// carry keeps each rule once, in the order of their first change.
func carry(o *Operation, wish Wish) {
	o.Derived = o.Derived.With(wish.derived()...)
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
	for _, wish := range joined {
		operation.Force = operation.Force || wish.Force
		if operation.Unseen == nil || operation.Unseen.Event == nil {
			operation.Unseen = cmp.Or(wish.Unseen, operation.Unseen)
		}
		if operation.Release != OrphanFields && wish.Release != "" {
			operation.Release = wish.Release // Once a field is orphaned it cannot go with another.
		}
	}
	body := withoutEmptyMetadata(b.joined(joined))
	if b.isApplied(joined[0].place(), current, body, operation.Manager) {
		return
	}
	operation.Body, operation.Grain = body, b.grain(joined[0].place())
	for _, wish := range joined {
		carry(operation, wish)
	}
	*operation = b.predict(*operation, current)
}

// joined is all that a rule applies to an object, merged as the API server merges two applies: the later one decides what both have, and
// each adds its own to a list that is merged.
func (o Options) joined(applies []Wish) map[string]any {
	n := len(applies)
	if n == 1 {
		return mergePatched(nil, applies[0].fields()) // Keys with null are left out.
	}
	body, next := o.joined(applies[:n/2]), o.joined(applies[n/2:]) // To add one after the other takes long where there are many.
	if o.Applied == nil {
		return mergePatched(body, next)
	}
	return o.Applied(applies[0].Target.GVR, applies[0].Subresource, "", body, next)
}

// Predict returns an apply with what it makes of the object, as far as that can be known without the server: no admission, and of a
// new object no defaults either. The object must be a whole one: a cache keeps neither the entries of other managers nor what no rule
// reads or writes, so fields that the manager gives up may be missing there.
func (o Options) Predict(operation Operation, current map[string]any) Operation {
	if o.AppliedWhole != nil {
		o.Applied = o.AppliedWhole //nolint:revive // The options are a copy.
	}
	return o.predict(operation, current)
}

func (o Options) predict(operation Operation, current map[string]any) Operation {
	if current == nil {
		write(&operation, operation.Rules[0], nil, o.applied(operation, nil))
		return operation
	}
	operation.GivesUp = operation.givesUp(current)
	operation.TakesOver = !operation.Orphans() && operation.takesOver(current)
	after := o.Stored(operation.Target, o.applied(operation, current))
	if Custom(operation.Target.GVR.Group) {
		if body, less := withoutEmptied(operation.owned(current), operation.Body, after, operation.Grain); less {
			operation.Body = body
			after = o.Stored(operation.Target, o.applied(operation, current))
		}
	}
	write(&operation, operation.Rules[0], o.Stored(operation.Target, current), after)
	return operation
}

// applied returns an object as an apply leaves it, before what the API server stores as nothing is dropped.
func (o Options) applied(operation Operation, current map[string]any) map[string]any {
	body, _ := operation.Body.(map[string]any)
	manager := operation.Manager
	switch {
	case current == nil:
		return body
	case o.Applied == nil:
		return mergePatched(current, body)
	case operation.Orphans():
		manager = ""
	}
	var entries []any
	if operation.TakesOver {
		entries = operation.takenOver(current)
	}
	if entries == nil {
		return o.Applied(operation.Target.GVR, operation.Subresource, manager, current, body)
	}
	after := o.Applied(operation.Target.GVR, operation.Subresource, manager, WithField(current, managedFieldsPath, entries), body)
	stored, _ := Lookup(current, managedFieldsPath)
	return WithField(after, managedFieldsPath, stored)
}

// Over turns an apply that was to make its target to an object that turned out to have
// the name. One that was adopted stays marked so: without the mark it would be deleted
// where it is to be released.
func (o Options) Over(operation Operation, current map[string]any) Operation {
	body, _ := operation.Body.(map[string]any)
	if Annotation(current, AdoptedAnnotation) != "" {
		body = WithField(body, Path{"metadata", "annotations", AdoptedAnnotation}, "true")
	}
	operation.Body = body
	operation.Target.UID = types.UID(Text(current, "metadata", "uid"))
	operation.Target.ResourceVersion = Text(current, "metadata", "resourceVersion")
	operation = o.Predict(operation, current)
	operation.TakesOver = true
	return operation
}
