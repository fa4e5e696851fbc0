package value

import (
	"errors"
	"testing"
)

// FuzzComputed holds for what parses texts: a mistake is a fault, and the
// canonical form of a result is that of an equal value.
func FuzzComputed(f *testing.F) {
	for _, text := range []string{
		"1Gi", "-1.5", "1e3", "9E", "8Ei", "500m", "0.1n", "+5", ".5", "1.", "1e-9", "1E", "00", "9223372036854775807",
		"1.2.3", "v1", "1.2", "1.0.0-rc.1+b", "0.0.0--", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:30", "0000-01-01T00:00:00-23:59",
		"9999-12-31T23:59:59.999999999Z", "2026-01-31T24:00:00Z", "1h30m", "1w2d", "-5ms", "0", "1.5µs",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Quantity, Semver, Duration, Time} {
			v, err := parseAs(kind, text)
			if err != nil {
				if _, isFault := errors.AsType[*Fault](err); !isFault {
					t.Errorf("%q as %s: %v is not a fault", text, kind, err)
				}
				continue
			}
			canonical, ok := Text(v)
			if !ok {
				t.Fatalf("%q as %s has no text", text, kind)
			}
			again, err := parseAs(kind, canonical)
			if err != nil {
				t.Fatalf("%q as %s became %q: %v", text, kind, canonical, err)
			}
			if same, err := Equal(v, again, nil); err != nil || !same {
				t.Errorf("%q as %s became %q, which is another", text, kind, canonical)
			}
		}
	})
}

func parseAs(kind Kind, text string) (v any, err error) {
	defer Catch(&err)
	return readAs(kind, text), nil
}
