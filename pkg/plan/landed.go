package plan

import "slices"

// Landed reports whether a live read of the target shows that the operation was carried
// out, for who never got the answer. It is given nil for an object that is not there.
//
// It is not certain: a field that somebody else has changed since tells nothing, so the
// answer is no, and of a deletion it is not known who has carried it out.
func (o Operation) Landed(live map[string]any) bool {
	same := live != nil && (o.Target.UID == "" || Text(live, "metadata", "uid") == string(o.Target.UID))
	if o.Type == Delete {
		return !same || Text(live, "metadata", "deletionTimestamp") != ""
	}
	if !same || Text(live, "metadata", "resourceVersion") == o.Target.ResourceVersion || o.answeredByAnother(live) {
		return false
	}
	if len(o.Changes) == 0 {
		return o.manages(live, nil) // All that it changes is who owns what.
	}
	return !slices.ContainsFunc(o.Changes, func(change Change) bool {
		value, _ := Lookup(live, change.Path)
		return !Equal(value, change.After) || value != nil && !o.manages(live, change.Path)
	})
}

// manages reports whether the field manager of the operation owns something at a path.
func (o Operation) manages(live map[string]any, path Path) bool {
	return slices.ContainsFunc(Managers(live, path), func(m Manager) bool { return m.Name == o.Manager })
}
