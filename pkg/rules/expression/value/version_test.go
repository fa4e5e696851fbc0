package value

import (
	"slices"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	tests := map[string]struct {
		reason string
		v      any
		want   string
	}{
		"whole":          {"the form of semver.org", "1.2.3", "1.2.3"},
		"with a v":       {"as tags of images and Kubernetes write it", "v1.31.0", "1.31.0"},
		"short":          {"what is missing is 0", "1.31", "1.31.0"},
		"shorter":        {"what is missing is 0", "v8", "8.0.0"},
		"a pre-release":  {"kept", "1.2.3-rc.1", "1.2.3-rc.1"},
		"metadata":       {"kept", "v1.31.2-gke.100+abc.7", "1.31.2-gke.100+abc.7"},
		"large numbers":  {"there is no limit but that of the text", "99999999999999999999.0.0", "99999999999999999999.0.0"},
		"a version":      {"it is one already", Version{}, "0.0.0"},
		"the zero value": {"it is the first of all releases", "0.0.0", "0.0.0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := ParseVersion(tt.v)
			if err != nil || v.String() != tt.want {
				t.Errorf("ParseVersion(%v) = %v, %v, want %s: %s", tt.v, v, err, tt.want, tt.reason)
			}
		})
	}
}

func TestParseVersionErrors(t *testing.T) {
	for _, text := range []string{
		"", "v", "vv1.0.0", "latest", "1.2.3.4", "01.2.3", "1.02.3", "1.2-rc1", "1.2.3-", "1.2.3-01", "1.2.3+", "-1.0.0", " 1.0.0", "1.0.0 ", "1.x", "V1.0.0",
		"1.0.0-" + strings.Repeat("a", 200), "1.0.0-ä",
	} {
		want := `"` + Excerpt(text) + `" is not a version; write it as major.minor.patch, such as "1.31.0" or "v1.31.0-rc.1"`
		if v, err := ParseVersion(text); err == nil || err.Error() != want {
			t.Errorf("ParseVersion(%q) = %v, %v, want %s", text, v, err, want)
		}
	}
	if v, err := ParseVersion(1.31); err == nil || err.Error() != "want a version, have a float" {
		t.Errorf("a float is %v, %v", v, err)
	}
}

// TestVersionOrder goes through the example of semver.org and what is easily wrong.
func TestVersionOrder(t *testing.T) {
	ordered := []string{
		"0.0.0-0", "0.0.0", "1.0.0-1", "1.0.0-9", "1.0.0-10", "1.0.0-99999999999999999999", "1.0.0--1", "1.0.0-1a", "1.0.0-alpha", "1.0.0-alpha.1",
		"1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2.0.0", "10.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			order, ok := Compare(version(t, a), version(t, b))
			if want := slices.Compare([]int{i}, []int{j}); !ok || order != want {
				t.Errorf("%s and %s: order %d, want %d", a, b, order, want)
			}
		}
	}
	if !version(t, "1.0.0+a").Equal(version(t, "v1.0.0+b")) {
		t.Error("metadata counts")
	}
}

func version(t *testing.T, text string) Version {
	t.Helper()
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
