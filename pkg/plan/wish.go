package plan

import (
	"fmt"
	"maps"
	"slices"
)

// Wish is what one action of one rule wants of one object.
type Wish struct {
	Rule        Rule
	Target      Object
	Current     map[string]any // the target in the snapshot; never changed
	Subresource string
	Type        Type
	// Body is map[string]any for Merge, Apply and Create, []any for JSON, and
	// [Deletion] or [Finalizer] for the types of that name.
	Body    any
	Force   bool
	Release ReleasePolicy // of Apply only; empty where all of the object is ours
	// Confirm are the look-ups that led here and must be confirmed by a live
	// read.
	Confirm []Read
	// Reads are the look-ups that the rule may have decided by.
	Reads []Read
	// Unseen is there of an apply that is to make its target where it was looked for
	// among what selectors select only.
	Unseen *Unseen
}

// Unseen is how an object that the rules do not see may have the name of one that is to
// be made: to the API server it is there, whatever a selection leaves out.
type Unseen struct {
	From []Selection // where it was looked for
	// Event is told where there is such an object. Nil leaves it alone without a word.
	Event *Event
}

// Deletion says how an object is to go. The API server's defaults stand for
// what is not given.
type Deletion struct {
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	PropagationPolicy  string `json:"propagationPolicy,omitempty"` // Background, Foreground or Orphan
}

// Finalizer is a name in metadata.finalizers that is wanted there, or gone.
type Finalizer struct {
	Name    string
	Present bool
}

// claim is the value that a wish wants at a path, whether it is there already
// or not.
type claim struct {
	path  Path
	value any
	// absent says that nothing may be there.
	absent bool
	// opaque says that the outcome depends on what is there, so no other wish
	// for the place agrees with it.
	opaque bool
	// merged says that the API server may merge this list by its keys, so two
	// rules may each apply their own elements. It will say where they differ,
	// unless it is forced not to.
	merged bool
	// member says that the last step of the path is not a key or an index but a
	// value of the list, which is there or not.
	member bool
}

// fields is the body of a merge patch, an apply or a create, as the API server returns it;
// claims has checked it.
func (w Wish) fields() map[string]any {
	fields, _ := w.Body.(map[string]any)
	return w.Target.returned(fields)
}

// hasFields reports whether the body has the form of a merge patch, an apply or a create, and the type is one of these.
func (w Wish) hasFields() bool {
	return w.fields() != nil && (w.Type == Merge || w.Type == Apply || w.Type == Create)
}

// steps is the body of a JSON patch; claims has checked it.
func (w Wish) steps() []any {
	steps, _ := w.Body.([]any)
	return steps
}

// claims lists the paths that the wish decides. A deletion decides none of
// them: the object is to have no fields at all, which [ledger] watches.
func (w Wish) claims() ([]claim, error) {
	switch w.Type {
	case JSON:
		operations, err := parseJSONPatch(w.Body)
		if err != nil {
			return nil, err
		}
		var out []claim
		for _, op := range operations {
			out = append(out, op.claims(w.Current)...)
		}
		return out, nil
	case Delete:
		_, err := w.deletion()
		return nil, err
	case Finalize:
		f, err := w.finalizer()
		return []claim{f.claim()}, err
	default:
		if w.fields() == nil {
			return nil, fmt.Errorf("the body of %s must be a map, have %s", w.Type, typeName(w.Body))
		}
		return mapClaims(nil, nil, w.fields(), w.Type == Apply && !w.Force), nil
	}
}

// mapClaims appends a claim for each leaf under body. An empty map claims
// nothing: it agrees with whatever else is put into it.
func mapClaims(out []claim, path Path, body map[string]any, merged bool) []claim {
	for _, key := range sortedKeys(body) {
		at := path.child(key)
		switch value := body[key].(type) {
		case map[string]any:
			out = mapClaims(out, at, value, merged)
		case nil:
			out = append(out, claim{path: at, absent: true})
		case []any:
			out = append(out, claim{path: at, value: value, merged: merged})
		default:
			out = append(out, claim{path: at, value: value})
		}
	}
	return out
}

// sortedKeys is for maps of which there are many: it makes nothing but the result.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// typeName names the type of a JSON value as users know it.
func typeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, int, float64:
		return "a number"
	default:
		return fmt.Sprintf("%T", value)
	}
}

// applyTo returns the object with the wish, which joins others in an update.
func (w Wish) applyTo(current map[string]any) (map[string]any, error) {
	switch w.Type {
	case JSON:
		after, err := jsonPatched(current, w.Body)
		return w.Target.returned(after), err
	case Finalize:
		f, err := w.finalizer()
		return f.applyTo(current), err
	default:
		return withoutNewEmpty(current, w.Target.returned(mergePatched(current, w.fields()))), nil
	}
}

// withoutNewEmpty returns after without the maps and lists of metadata that a merge
// patch left empty and that were not there before, as where it removes a label of
// an object without labels. The API server stores none as absent, so to write them
// would never be over.
func withoutNewEmpty(current, after map[string]any) map[string]any {
	before, _ := current["metadata"].(map[string]any)
	metadata, _ := after["metadata"].(map[string]any)
	isNew := func(key string, value any) bool {
		_, was := before[key]
		return !was && isEmpty(value)
	}
	for key, value := range metadata {
		if !isNew(key, value) {
			continue
		}
		after, metadata = maps.Clone(after), maps.Clone(metadata)
		maps.DeleteFunc(metadata, isNew)
		after["metadata"] = metadata
		break
	}
	return after
}

// changesCurrent reports whether the wish, alone, would change the object as it is.
func (w Wish) changesCurrent(stored storage) bool {
	if w.Type == Apply {
		return !stored.applied(w.place(), w.Current, w.fields(), w.manager())
	}
	return w.reliesOn(w.Current, stored)
}

// reliesOn reports whether a wish that changes nothing any more would change
// the object as it is: then another rule's wish in the same request does so.
func (w Wish) reliesOn(current map[string]any, stored storage) bool {
	alone, err := w.applyTo(current)
	return err == nil && !stored.same(w.Target, current, alone)
}

// stepsBetween are the wish as JSON patch operations.
func (w Wish) stepsBetween(before, after map[string]any) []any {
	if w.Type == JSON {
		return w.steps()
	}
	return jsonDifference(nil, before, after)
}
