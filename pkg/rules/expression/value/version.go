package value

import (
	"strings"

	"golang.org/x/mod/semver"
)

// Version is a semantic version. Use Equal, since == also sees build
// metadata, which has no place in the order of versions.
type Version struct {
	text string // Canonical, with its v and its metadata; empty for 0.0.0.
}

// ParseVersion reads a version, or a string such as "v1.31.0-rc.1". A leading v
// may be missing, and so may zeros at the end, as in "1.31".
func ParseVersion(v any) (Version, error) {
	switch v := v.(type) {
	case Version:
		return v, nil
	case string:
		return parseVersion(v)
	default:
		return Version{}, Faultf("want a version, have %s", KindOf(v))
	}
}

func parseVersion(text string) (Version, error) {
	const longest = 128
	wrong := Faultf("%q is not a version", Excerpt(text)).
		WithHint(`write it as major.minor.patch, such as "1.31.0" or "v1.31.0-rc.1"`)
	if len(text) > longest {
		return Version{}, wrong
	}
	text = "v" + strings.TrimPrefix(text, "v")
	if !semver.IsValid(text) {
		return Version{}, wrong
	}
	return Version{text: semver.Canonical(text) + semver.Build(text)}, nil
}

// Equal reports whether neither version comes before the other.
func (v Version) Equal(w Version) bool { return v.compare(w) == 0 }

func (v Version) compare(w Version) int { return semver.Compare(v.canonical(), w.canonical()) }

func (v Version) canonical() string {
	if v.text == "" {
		return "v0.0.0"
	}
	return v.text
}

// String returns the version with all three numbers and without a leading v.
func (v Version) String() string { return v.canonical()[1:] }

// MarshalText returns the canonical form.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
