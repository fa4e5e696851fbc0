package field

import (
	"slices"
	"strings"
)

// place is where fields belong, for hints at other places.
type place struct {
	of     string // such as "an action"
	write  string // such as "write it under actions", "" where a key of another place need not be meant for it
	fields *Type
}

// places are those of all types that have one. Packages add theirs as they are initialized, and nothing changes them afterwards.
var places []place

// Placed says of the type where its fields belong, for a key that is written in another type with a place, and returns the type. What to write may be empty.
func (t *Type) Placed(of, write string) *Type {
	t.placed = true
	places = append(places, place{of, write, t})
	return t
}

// elsewhere is the hint for a key that is a field of another place, "" for other keys.
func (t *Type) elsewhere(name string) string {
	var of []string
	write := ""
	for _, p := range places {
		if t.placed && slices.Contains(p.fields.names(), name) {
			of, write = append(of, p.of), p.write
		}
	}
	switch last := len(of) - 1; {
	case last < 0:
		return ""
	case last > 0:
		of, write = []string{strings.Join(of[:last], ", ") + " and " + of[last]}, ""
	}
	hint := name + " is a field of " + of[0]
	if write != "" {
		return hint + ": " + write
	}
	return hint + "; " + t.fieldsHere()
}
