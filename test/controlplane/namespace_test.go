package controlplane

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// recorder is a test that goes on after Fatalf.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestNamespaceFailsItsTest(t *testing.T) {
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	c := &ControlPlane{dynamic: client}
	r := &recorder{TB: t}
	if name := c.Namespace(r); name != "" || !strings.Contains(r.failed, `creating a namespace for "testnamespacefailsitstest"`) {
		t.Errorf("Namespace = %q, and the test failed with %q", name, r.failed)
	}
}

func TestPrefix(t *testing.T) {
	tests := map[string]struct{ reason, name, want string }{
		"plain":    {"Upper case is not allowed.", "TestGuardrails", "testguardrails"},
		"subtest":  {"Nor is what a subtest's name holds.", "TestX/an_even_PD_(#2)", "testx-an-even-pd-2"},
		"long":     {"The server's suffix needs room.", "Test" + strings.Repeat("x", 100), "test" + strings.Repeat("x", maxPrefix-4)},
		"cut dash": {"A cut must not leave a dash at the end.", strings.Repeat("x", maxPrefix-1) + "/y", strings.Repeat("x", maxPrefix-1)},
		"other":    {"Letters of other alphabets are not allowed.", "Testé日x", "test-x"},
	}
	valid := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := prefix(tc.name)
			if got != tc.want || !valid.MatchString(got) || len(got) > maxPrefix {
				t.Errorf("%s\nprefix(%q) = %q, want %q", tc.reason, tc.name, got, tc.want)
			}
		})
	}
}
