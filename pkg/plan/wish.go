package plan

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
)

// Wish is what one action of one rule wants of one object.
type Wish struct {
	Rule Rule
	// Action numbers the actions of the rule from 1. What comes before them has 0, what comes after them [Afterwards].
	Action      int
	Reacts      bool // the action reads failure: it is sent also where others have failed
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
	// Reads are the look-ups that the rule may have decided by, and Missed those of them by name that found nothing.
	Reads, Missed []Read
	// Unseen is there of an apply that is to make its target where it was looked for
	// among what selectors select only.
	Unseen *Unseen
	// Derived are the fields that the action makes of values of Secrets.
	Derived Derived
	// Restoring is there of a merge or JSON patch that changes fields for a while.
	Restoring *Restoring
}

// Afterwards stands for what is no action: what a rule prunes, and the finalizer that it takes off.
const Afterwards = math.MaxInt

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

// fields is the body of a merge patch, an apply or a create, as the API server returns it.
func (w Wish) fields() map[string]any {
	fields, _ := w.Body.(map[string]any)
	return w.Target.returned(fields)
}

// unnamed reports whether the API server will choose the name, which is then
// nobody else's.
func (w Wish) unnamed() bool { return w.Type == Create && w.Target.Name == "" }

// deletesLiving reports whether the wish is the end of an object that nobody
// has deleted yet.
func (w Wish) deletesLiving() bool { return w.Type == Delete && !BeingDeleted(w.Current) }

// BeingDeleted reports whether an object is on its way: it is there until its
// finalizers are gone.
func BeingDeleted(object map[string]any) bool {
	at, _ := Lookup(object, Path{"metadata", "deletionTimestamp"})
	return at != nil
}

// changes reports whether the deletion still has something to do: what is
// being deleted can only be hurried.
func (d Deletion) changes(object map[string]any) bool {
	if !BeingDeleted(object) {
		return true
	}
	left, _ := Lookup(object, Path{"metadata", "deletionGracePeriodSeconds"})
	_, seconds, known := number(left)
	return d.GracePeriodSeconds != nil && known && *d.GracePeriodSeconds < seconds
}

// with joins two deletions of an object: the shorter grace, and the policy of
// the first. One that gives no grace leaves it to the other.
func (d Deletion) with(other Deletion) Deletion {
	if d.GracePeriodSeconds == nil || other.GracePeriodSeconds != nil && *other.GracePeriodSeconds < *d.GracePeriodSeconds {
		d.GracePeriodSeconds = other.GracePeriodSeconds
	}
	return d
}

// dying is what a deletion leaves of an object until it is gone. The API
// server knows the time of day and the grace that is the default.
func (d Deletion) dying(object map[string]any) map[string]any {
	metadata := map[string]any{}
	if !BeingDeleted(object) {
		metadata["deletionTimestamp"] = ""
	}
	if d.GracePeriodSeconds != nil {
		metadata["deletionGracePeriodSeconds"] = *d.GracePeriodSeconds
	}
	return mergePatched(object, map[string]any{"metadata": metadata})
}

// holds reports whether the wish is to put a finalizer on.
func (w Wish) holds() bool {
	f, _ := w.Body.(Finalizer)
	return f.Present
}

// stage orders the wishes of all rules: first what holds the object, last what lets it go, which may be its end.
func (w Wish) stage() int {
	switch {
	case w.holds():
		return 0
	case w.Type == Finalize && BeingDeleted(w.Current):
		return 2
	default:
		return 1
	}
}

var finalizersPath = Path{"metadata", "finalizers"}

// HasFinalizers reports whether something keeps an object that is deleted.
func HasFinalizers(object map[string]any) bool {
	found, _ := Lookup(object, finalizersPath)
	list, _ := found.([]any)
	return len(list) > 0
}

// applyTo returns the object with or without the name, in an order that leaves
// the others where they are. No finalizers are no list, as the API server
// stores them.
func (f Finalizer) applyTo(current map[string]any) map[string]any {
	found, _ := Lookup(current, finalizersPath)
	list, _ := found.([]any)
	has := slices.Contains(list, any(f.Name))
	switch {
	case has == f.Present:
		return current
	case f.Present:
		list = append(slices.Clip(list), f.Name)
	default:
		list = slices.DeleteFunc(slices.Clone(list), func(name any) bool { return name == f.Name })
	}
	if len(list) == 0 {
		return WithField(current, finalizersPath, nil)
	}
	return WithField(current, finalizersPath, list)
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

// IsEmpty reports whether a value is a map or a list without anything in it.
func IsEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return false
	}
}

// alone returns the object with the wish.
func (o Options) alone(w Wish, current map[string]any) (map[string]any, error) {
	if w.Restoring != nil {
		return o.restoring(w, current)
	}
	return w.applyTo(current)
}

// applyTo returns the object with the wish, which joins others in an update.
func (w Wish) applyTo(current map[string]any) (map[string]any, error) {
	switch w.Type {
	case JSON:
		after, err := jsonPatched(current, w.Body)
		return w.Target.returned(after), err
	case Finalize:
		f, _ := w.Body.(Finalizer)
		return f.applyTo(current), nil
	default:
		return withoutNewEmpty(current, w.Target.returned(mergePatched(current, w.fields()))), nil
	}
}

// follow is applyTo for a wish that follows others of the same plan. It also returns all that the wish asks for, and the operations by which
// a JSON patch is sent.
func (o *draftedObject) follow(options Options, w Wish, current map[string]any) (after, asks map[string]any, sent []any, err error) {
	switch {
	case w.Restoring != nil:
		after, err = options.restoring(w, current)
		asks = after
	case w.Type == JSON:
		d := newDraft(current)
		d.positions, d.asked = &o.positions, o.asked
		err = d.patch(w.Body)
		after, sent = w.Target.returned(d.object()), d.sent
		asks = after
	case w.Type == Merge:
		asks = w.Target.returned(mergePatched(current, w.fields()))
		after = withoutNewEmpty(current, asks)
	default:
		after, err = w.applyTo(current)
		asks = after
	}
	return after, asks, sent, err
}

// ask records what a wish asks for, which has led from one object to another.
func (o *draftedObject) ask(w Wish, sent []any, before, asks map[string]any) {
	switch {
	case sameMap(o.asked, before), w.Restoring != nil: // As for most plans: nothing was left out.
		o.asked = asks
	case w.Type == JSON:
		if asked, err := jsonPatched(o.asked, sent); err == nil {
			o.asked = w.Target.returned(asked)
		}
	case w.Type == Merge:
		o.asked = w.Target.returned(mergePatched(o.asked, w.fields()))
	default:
		o.asked, _ = w.applyTo(o.asked)
	}
}

// withoutNewEmpty returns after without the maps and lists of metadata that a merge
// patch left empty and that were not there before, as where it removes a label of
// an object without labels. The API server stores none as absent, so to write them
// would never be over.
func withoutNewEmpty(current, after map[string]any) map[string]any {
	before, _ := current["metadata"].(map[string]any)
	metadata, _ := after["metadata"].(map[string]any)
	for key, value := range metadata {
		if _, was := before[key]; !was && IsEmpty(value) {
			metadata = maps.Clone(metadata)
			delete(metadata, key)
			return withoutNewEmpty(current, replaced(after, Path{"metadata"}, metadata))
		}
	}
	return after
}

// returned are the fields of an object, or of a patch of it, as the API server returns them. It accepts stringData of a Secret and
// turns it into data, where it wins: the field itself cannot be compared with what is there, and its field manager
// does not own what it becomes. What is not text the API server
// refuses, so it stays, as does what cannot be folded into a patch that removes data.
func (o Object) returned(fields map[string]any) map[string]any {
	if !o.IsSecret() {
		return fields
	}
	given, there := fields["stringData"]
	texts, isMap := given.(map[string]any)
	data, hasData := fields["data"].(map[string]any)
	if _, set := fields["data"]; !there || given != nil && !isMap || set && !hasData {
		return fields
	}
	folded := map[string]any{}
	maps.Copy(folded, data)
	for key, value := range texts {
		switch value := value.(type) {
		case nil:
		case string:
			folded[key] = base64.StdEncoding.EncodeToString([]byte(value))
		default:
			return fields
		}
	}
	out := maps.Clone(fields)
	delete(out, "stringData")
	if hasData || len(folded) > 0 {
		out["data"] = folded
	}
	return out
}

// identity are the fields that say which object it is. Only a create writes
// them.
var identity = []Path{
	{"apiVersion"},
	{"kind"},
	{"metadata", "name"},
	{"metadata", "generateName"},
	{"metadata", "namespace"},
}

// servers are the fields that belong to the API server.
var servers = []Path{
	{"metadata", "uid"},
	{"metadata", "resourceVersion"},
	{"metadata", "generation"},
	{"metadata", "managedFields"},
	{"metadata", "creationTimestamp"},
	{"metadata", "deletionTimestamp"},
	{"metadata", "deletionGracePeriodSeconds"},
	{"metadata", "selfLink"},
}

// identityAndServers are the fields that no rule writes but by a create.
var identityAndServers = slices.Concat(identity, servers)

// ForbiddenField returns the field under body that no rule may write, or nil
// where there is none. The body of a JSON patch is judged by its paths.
func ForbiddenField(kind Type, body any) Path {
	forbidden := servers
	if kind != Create {
		forbidden = identityAndServers
	}
	if kind != JSON {
		fields, _ := body.(map[string]any)
		if i := slices.IndexFunc(forbidden, func(path Path) bool { return touches(fields, path) }); i >= 0 {
			return forbidden[i]
		}
		return nil
	}
	for _, c := range (Wish{Type: kind, Body: body}).claims(nil) {
		for _, path := range forbidden {
			if c.path.hasPrefix(path) || path.hasPrefix(c.path) {
				return path
			}
		}
	}
	return nil
}

// touches reports whether a body writes the field at a path, something in it, or what it is in.
func touches(body map[string]any, path Path) bool {
	value, there := body[path[0]]
	below, isMap := value.(map[string]any)
	switch {
	case !there || !isMap:
		return there
	case len(path) == 1:
		return len(appliedClaims(nil, nil, below, nil, false)) > 0
	default:
		return touches(below, path[1:])
	}
}
