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
	var failures []Decision
	for {
		accepted, refused := accept(wishes)
		b := builder{known: options.Ineffective, met: Marks{}}
		operations, failed := b.assemble(batches(accepted, options.Separate))
		if failed == nil {
			return Plan{Operations: operations, Decisions: append(refused, failures...), Suppressed: b.met}
		}
		failures = append(failures, *failed)
		wishes = without(wishes, failed.Rule)
	}
}

// builder carries the marks of one attempt at a plan.
type builder struct {
	known, met Marks
}

// assemble turns each batch into an operation, or says which rule's wish
// cannot be applied to the snapshot.
func (b builder) assemble(all []*batch) ([]Operation, *Decision) {
	// A later request to the same object starts from what an earlier one made.
	current := map[Object]map[string]any{}
	var out []Operation
	for _, joined := range all {
		first := joined.wishes[0]
		if _, ok := current[first.Target]; !ok {
			current[first.Target] = first.Current
		}
		build := b.update
		if first.Type == Apply {
			build = b.apply
		}
		operation, err := build(joined, current[first.Target])
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

// update joins merge and JSON patches: into one merge patch where all are,
// otherwise into one JSON patch. It is nil where nothing would change.
func (b builder) update(joined *batch, current map[string]any) (*Operation, *Decision) {
	operation := joined.operation(Merge)
	after := current
	var steps []any
	for _, wish := range joined.wishes {
		next, err := wish.applyTo(after)
		if err != nil {
			return nil, &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		changed := changes(wish.Rule, nil, after, next)
		changed, next = wish.withoutIneffective(changed, after, next, b.known, b.met)
		if len(changed) == 0 {
			if wish.reliesOn(current) {
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

// withRule keeps each rule once, in the order of their first change.
func withRule(rules []Rule, rule Rule) []Rule {
	if slices.Contains(rules, rule) {
		return rules
	}
	return append(rules, rule)
}

// applyTo returns the object with the wish, which is not an Apply.
func (w Wish) applyTo(current map[string]any) (map[string]any, error) {
	if w.Type == Merge {
		return mergePatched(current, w.fields()), nil
	}
	return jsonPatched(current, w.Body)
}

// reliesOn reports whether a wish that changes nothing any more would change
// the object as it is: then another rule's wish in the same request does so.
func (w Wish) reliesOn(current map[string]any) bool {
	alone, err := w.applyTo(current)
	return err == nil && !equal(current, alone)
}

// stepsBetween are the wish as JSON patch operations.
func (w Wish) stepsBetween(before, after map[string]any) []any {
	if w.Type == Merge {
		return jsonDifference(nil, before, after)
	}
	return w.steps()
}

// apply joins what one rule applies to one object: a second apply under the
// same manager would take back the fields of the first.
func (b builder) apply(joined *batch, current map[string]any) (*Operation, *Decision) {
	operation := joined.operation(Apply)
	body := map[string]any{}
	for _, wish := range joined.wishes {
		body = mergePatched(body, wish.fields())
		operation.Force = operation.Force || wish.Force
	}
	rule := joined.wishes[0].Rule
	if applied(current, body, operation.Manager, operation.Subresource) {
		return nil, nil
	}
	operation.Body = body
	operation.Rules = []Rule{rule}
	operation.Predicted = mergePatched(current, body)
	operation.Changes = changes(rule, nil, current, operation.Predicted)
	if mark := operation.applyMark(); b.known[mark] {
		b.met[mark] = true
		return nil, nil
	}
	return operation, nil
}
