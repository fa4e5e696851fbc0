package plan

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Mark identifies a change, or an apply as a whole, together with what it
// found. It depends on neither the version of the object nor on what else is
// written with it: an unrelated change does not make a write effective that
// was not.
type Mark [sha256.Size]byte

// Marks is a set of them.
type Marks map[Mark]bool

// Has reports whether all the others are among them.
func (m Marks) Has(others Marks) bool {
	for mark := range others {
		if !m[mark] {
			return false
		}
	}
	return true
}

func markOf(parts ...any) Mark {
	// All of it came from JSON, so it can be encoded, with keys in order.
	data, _ := json.Marshal(parts)
	return sha256.Sum256(data)
}

func (c Change) mark(at place) Mark {
	return markOf(at.target.lasting(), at.subresource, c.Rule, c.Path, c.Before, c.After)
}

// lasting is what of an object's identity stays when it changes. What is not
// there yet has a name at most.
func (o Object) lasting() any {
	if o.UID != "" {
		return o.UID
	}
	return o
}

// isWhole reports whether the operation has an effect or has none, rather than
// each of its changes: of an apply, ownership may be the only one.
func (o Operation) isWhole() bool { return o.Type == Apply || o.Type == Create || o.Type == Delete }

// All returns the marks of everything that the operation changes.
func (o Operation) All() Marks {
	marks, before := Marks{}, make([]any, len(o.Changes))
	for i, change := range o.Changes {
		if before[i] = change.Before; !o.isWhole() {
			marks[change.mark(place{o.Target, o.Subresource})] = true
		}
	}
	if o.isWhole() {
		marks[markOf(o.Target.lasting(), o.Subresource, o.Type, o.Manager, o.Body, before)] = true
	}
	return marks
}

// Ineffective returns what of the operation had no effect, given the object
// that came back: fields that are as they were, and an apply that left the
// resourceVersion alone. A create and a deletion that are accepted have an
// effect; what is gone at once still shows its last version.
func (o Operation) Ineffective(object map[string]any) (Marks, []Change) {
	switch {
	case o.Type == Apply, !o.isWhole() && o.answeredByAnother(object):
		if Text(object, "metadata", "resourceVersion") != o.Target.ResourceVersion {
			return nil, nil
		}
	case o.isWhole():
		return nil, nil
	default:
		o.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(change Change) bool {
			value, _ := Lookup(object, change.Path)
			return !Equal(value, change.Before)
		})
	}
	return o.All(), o.Changes
}

// Landed reports whether a live read of the target shows that the operation was carried
// out, for who never got the answer. It is given nil for an object that is not there.
//
// It is not certain: a field that somebody else has changed since tells nothing, so the
// answer is no, and of a deletion it is not known who has carried it out.
func (o Operation) Landed(live map[string]any) bool {
	same := live != nil && (o.Target.UID == "" || Text(live, "metadata", "uid") == string(o.Target.UID))
	if o.Type == Delete {
		return !same || BeingDeleted(live)
	}
	if !same || Text(live, "metadata", "resourceVersion") == o.Target.ResourceVersion || o.answeredByAnother(live) {
		return false
	}
	manages := func(path Path) bool {
		return slices.ContainsFunc(Managers(live, path), func(m Manager) bool { return m.Name == o.Manager })
	}
	if len(o.Changes) == 0 {
		return manages(nil) // All that it changes is who owns what.
	}
	return !slices.ContainsFunc(o.Changes, func(change Change) bool {
		value, _ := Lookup(live, change.Path)
		return !Equal(value, change.After) || value != nil && !manages(change.Path)
	})
}

// CameTrue reports whether the object that came back is as predicted, apart
// from what the API server alone writes. Where it is not, admission or another
// writer had a hand in it, and what else was planned may be wrong.
//
// Some subresources, such as scale, answer with an object of another kind, of
// which nothing is predicted.
//
// Into what is new the API server fills defaults that nobody here knows, so
// everything asked for must be there but more may be. Of what is deleted
// nothing is predicted: it is gone, or on its way.
func (o Operation) CameTrue(object map[string]any) bool {
	switch {
	case o.Type == Delete, o.answeredByAnother(object):
		return true
	case o.Type == Create, o.Type == Apply && o.Target.UID == "":
		return covers(object, o.Predicted)
	default:
		return Equal(withoutBookkeeping(o.Predicted), withoutBookkeeping(object))
	}
}

// answeredByAnother reports whether what came back is not the target.
func (o Operation) answeredByAnother(object map[string]any) bool {
	return o.Subresource != "" && object["kind"] != o.Predicted["kind"]
}

func withoutBookkeeping(object map[string]any) map[string]any {
	out := WithoutMetadata(object, "resourceVersion", "generation", "managedFields")
	// The API server stores no labels as none, not as an empty map.
	metadata, _ := out["metadata"].(map[string]any)
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return IsEmpty(value) })
	return out
}

// covers reports whether have is want, with more fields at most. What is empty
// or null may be absent.
func covers(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		haveMap, _ := have.(map[string]any)
		for key, value := range want {
			if !covers(haveMap[key], value) {
				return false
			}
		}
		return have == nil || haveMap != nil
	case []any:
		haveList, _ := have.([]any)
		return len(haveList) == len(want) && slices.EqualFunc(haveList, want, covers)
	default:
		return Equal(have, want)
	}
}

// Without returns the operation as it is to be sent when an earlier one of the plan, on
// the same object, was not carried out. The finalizers are sent as a whole, so those that
// rules of the other one wanted to add or to take away would come and go with these.
func (o Operation) Without(undone Operation) Operation {
	isOfFinalizers := func(c Change) bool { return slices.Equal(c.Path, finalizersPath) }
	if !slices.ContainsFunc(o.Changes, isOfFinalizers) || !slices.ContainsFunc(undone.Changes, isOfFinalizers) {
		return o
	}
	list, _ := Lookup(o.Predicted, finalizersPath)
	finalizers, _ := list.([]any)
	for _, change := range undone.Changes {
		if !isOfFinalizers(change) {
			continue
		}
		before, _ := change.Before.([]any)
		after, _ := change.After.([]any)
		finalizers = difference(finalizers, difference(after, before))
		finalizers = append(finalizers, difference(difference(before, after), finalizers)...)
	}
	return o.withFinalizers(finalizers)
}

// difference is what is in a list and not in another one.
func difference(list, other []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(one any) bool {
		return slices.ContainsFunc(other, func(two any) bool { return Equal(one, two) })
	})
}

// withFinalizers has the operation leave just these.
func (o Operation) withFinalizers(list []any) Operation {
	var value any // None are no list, as the API server stores them.
	if len(list) > 0 {
		value = list
	}
	o.Predicted = WithField(o.Predicted, finalizersPath, value)
	switch body := o.Body.(type) {
	case map[string]any:
		o.Body = replaced(body, finalizersPath, value)
	case []any:
		pointer := finalizersPath.Pointer()
		steps := slices.DeleteFunc(slices.Clone(body), func(step any) bool {
			at, _ := Lookup(step, Path{"path"})
			text, _ := at.(string)
			return text == pointer || strings.HasPrefix(text, pointer+"/")
		})
		o.Body = append(steps, step("add", finalizersPath, append([]any{}, list...)))
	}
	return o
}
