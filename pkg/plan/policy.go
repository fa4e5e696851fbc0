package plan

// ReleasePolicy says what becomes of applied fields that a rule gives up.
type ReleasePolicy string

// The policies.
const (
	OrphanFields ReleasePolicy = "Orphan" // ownership is dropped, the values stay
	RemoveFields ReleasePolicy = "Remove" // values that nobody else owns go
)

// LookupPointer returns the value that a JSON pointer leads to, nil where there
// is none.
func LookupPointer(value any, pointer string) any {
	path, ok := parsePointer(pointer)
	if !ok {
		return nil
	}
	found, _ := lookup(value, path)
	return found
}

// IsSecret reports whether the answer has values that must not be shown.
func (r Read) IsSecret() bool {
	return len(r.From) > 0 && Object{GVR: r.From[0].GVR}.IsSecret()
}
