package plan

import "slices"

// Options are what a caller knows besides the wishes.
type Options struct {
	// Separate keeps rules from sharing an operation.
	Separate bool
	// Ineffective is what is known to have no effect. It is not written.
	Ineffective Marks
}

// Build joins the wishes of all rules about the objects of one snapshot, in
// order of precedence, into as few operations as keep the order in which each
// rule wrote its actions. A rule that wants another value for a field than an
// earlier one is left out as a whole, as is one whose patch cannot be applied;
// the decisions of the plan say so, one for each rule left out.
func Build(wishes []Wish, options Options) Plan {
	accepted, refused := accept(wishes)
	for {
		b := builder{known: options.Ineffective, met: Marks{}}
		operations, failed := b.assemble(batches(accepted, options.Separate))
		if failed == nil {
			return Plan{Operations: operations, Decisions: refused, Suppressed: b.met}
		}
		refused = append(refused, *failed)
		accepted = without(accepted, failed.Rule)
	}
}

// builder carries the marks of one attempt at a plan.
type builder struct {
	known, met Marks
}

// accept drops the rules that lose a conflict.
func accept(wishes []Wish) (accepted []Wish, refused []Decision) {
	trees := map[place]*claims{}
	for _, group := range byRule(wishes) {
		if decision := refusal(trees, group); decision != nil {
			refused = append(refused, *decision)
			continue
		}
		for _, wish := range group {
			tree := trees[wish.place()]
			if tree == nil {
				tree = &claims{}
				trees[wish.place()] = tree
			}
			all, _ := wish.claims() // refusal has seen the error
			for _, c := range all {
				tree.add(wish.Rule, c)
			}
		}
		accepted = append(accepted, group...)
	}
	return accepted, refused
}

func refusal(trees map[place]*claims, group []Wish) *Decision {
	for _, wish := range group {
		all, err := wish.claims()
		if err != nil {
			return &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		if tree := trees[wish.place()]; tree != nil {
			for _, c := range all {
				if lost := tree.conflict(wish.Rule, c); lost != nil {
					return &Decision{Rule: wish.Rule, Outcome: Withheld, Reason: lost.Error()}
				}
			}
		}
	}
	return nil
}

// place is what two wishes must share to be able to contradict each other.
type place struct {
	target      Object
	subresource string
}

func (w Wish) place() place { return place{w.Target, w.Subresource} }

// byRule splits the wishes, which come rule by rule, into one slice a rule.
func byRule(wishes []Wish) [][]Wish {
	var out [][]Wish
	for i, wish := range wishes {
		if i > 0 && wishes[i-1].Rule == wish.Rule {
			out[len(out)-1] = append(out[len(out)-1], wish)
			continue
		}
		out = append(out, []Wish{wish})
	}
	return out
}

func without(wishes []Wish, rule Rule) []Wish {
	var out []Wish
	for _, wish := range wishes {
		if wish.Rule != rule {
			out = append(out, wish)
		}
	}
	return out
}

// batch holds the wishes that travel in one request.
type batch struct {
	place   place
	manager string
	wishes  []Wish
}

// assemble turns each batch into an operation, or says which rule's wish
// cannot be applied to the snapshot.
func (b builder) assemble(all []*batch) ([]Operation, *Decision) {
	// A later request to the same object starts from what an earlier one made.
	current := map[Object]map[string]any{}
	var out []Operation
	for _, batch := range all {
		first := batch.wishes[0]
		if _, ok := current[first.Target]; !ok {
			current[first.Target] = first.Current
		}
		build := b.update
		if first.Type == Apply {
			build = b.apply
		}
		operation, err := build(batch, current[first.Target])
		if err != nil {
			return nil, err
		}
		if operation != nil {
			out = append(out, *operation)
			current[first.Target] = operation.Predicted
		}
	}
	return out, nil
}

// batches puts the wishes together that can travel together.
func batches(wishes []Wish, separate bool) []*batch {
	var out []*batch
	for _, wish := range wishes {
		b := joinable(out, wish, separate)
		if b == nil {
			b = &batch{place: wish.place(), manager: wish.manager()}
			out = append(out, b)
		}
		b.wishes = append(b.wishes, wish)
	}
	return out
}

// joinable finds the batch that the wish can join, nil where there is none. A
// wish does not overtake what its own rule asked for before it.
func joinable(all []*batch, wish Wish, separate bool) *batch {
	for _, b := range slices.Backward(all) {
		own := b.hasRule(wish.Rule)
		if b.place == wish.place() && b.manager == wish.manager() && (own || !separate) {
			return b
		}
		if own {
			return nil
		}
	}
	return nil
}

func (b *batch) hasRule(rule Rule) bool {
	for _, wish := range b.wishes {
		if wish.Rule == rule {
			return true
		}
	}
	return false
}

// manager is the same for all merge and JSON patches, since the API server
// keeps only ten Update managers for an object.
func (w Wish) manager() string {
	if w.Type == Apply {
		return w.Rule.FieldManager()
	}
	return FieldManager
}

// operation is the request without its body.
func (b *batch) operation(kind Type) *Operation {
	first := b.wishes[0]
	return &Operation{Target: first.Target, Subresource: first.Subresource, Type: kind, Manager: b.manager}
}

func (o *Operation) addRule(rule Rule) {
	for _, have := range o.Rules {
		if have == rule {
			return
		}
	}
	o.Rules = append(o.Rules, rule)
}

// update joins merge and JSON patches: into one merge patch where all are,
// otherwise into one JSON patch. It is nil where nothing would change.
func (b builder) update(batch *batch, current map[string]any) (*Operation, *Decision) {
	operation := batch.operation(Merge)
	after := current
	var steps []any
	for _, wish := range batch.wishes {
		next, err := wish.applyTo(after)
		if err != nil {
			return nil, &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		changed := changes(wish.Rule, nil, after, next)
		changed, next = wish.withoutIneffective(changed, next, b.known, b.met)
		if len(changed) == 0 {
			continue
		}
		operation.Changes = append(operation.Changes, changed...)
		operation.addRule(wish.Rule)
		if wish.Type == JSON {
			operation.Type = JSON
		}
		if batch.hasJSON() {
			steps = append(steps, wish.steps(after, next)...)
		}
		after = next
	}
	if equal(current, after) {
		return nil, nil
	}
	operation.Predicted = after
	operation.Body = steps
	if operation.Type == Merge {
		operation.Body = mergeDifference(current, after)
	}
	return operation, nil
}

func (b *batch) hasJSON() bool {
	return slices.ContainsFunc(b.wishes, func(w Wish) bool { return w.Type == JSON })
}

// applyTo returns the object with the wish, which is not an Apply.
func (w Wish) applyTo(current map[string]any) (map[string]any, error) {
	if w.Type == Merge {
		return mergePatched(current, w.Body.(map[string]any)), nil
	}
	return jsonPatched(current, w.Body)
}

// steps are the wish as JSON patch operations.
func (w Wish) steps(before, after map[string]any) []any {
	if w.Type == Merge {
		return jsonDifference(nil, before, after)
	}
	return w.Body.([]any)
}

// apply joins what one rule applies to one object: a second apply under the
// same manager would take back the fields of the first.
func (b builder) apply(batch *batch, current map[string]any) (*Operation, *Decision) {
	operation := batch.operation(Apply)
	body := map[string]any{}
	for _, wish := range batch.wishes {
		body = mergePatched(body, wish.Body.(map[string]any))
		operation.Force = operation.Force || wish.Force
	}
	rule := batch.wishes[0].Rule
	if applied(current, body, operation.Manager, operation.Subresource) {
		return nil, nil
	}
	operation.Body = body
	operation.addRule(rule)
	operation.Predicted = mergePatched(current, body)
	operation.Changes = changes(rule, nil, current, operation.Predicted)
	if mark := operation.applyMark(); b.known[mark] {
		b.met[mark] = true
		return nil, nil
	}
	return operation, nil
}
