package corpus

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// widgets is a resource with a field of every sort.
func widgets(t *testing.T) *schema.Resource {
	t.Helper()
	data, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crd.Read("widgets.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return crd.NewSource(definitions).Resource(gvr("example.com/v1/widgets"))
}

// TestGolden shows the rules that are made about a small resource: who changes the shapes reads here what they write.
func TestGolden(t *testing.T) {
	r := widgets(t)
	var out strings.Builder
	for _, c := range good(r, len(goodShapes())) {
		fmt.Fprintf(&out, "# right: %s\n%s\n", c.Name, c.Rule)
	}
	for _, m := range bad(r, len(badShapes())) {
		fmt.Fprintf(&out, "# wrong: %s, %q", m.Wrong.Name, m.Codes)
		if m.Suggests != "" {
			fmt.Fprintf(&out, ", did you mean %s?", m.Suggests)
		}
		lines := slices.Collect(strings.Lines(m.Wrong.Rule))
		caret := strings.Repeat(" ", m.at.from-1) + strings.Repeat("^", m.at.to-m.at.from) + "\n"
		fmt.Fprintf(&out, "\n%s\n", strings.Join(slices.Insert(lines, m.at.line, caret), ""))
	}
	const golden = "testdata/widgets.golden"
	if *update {
		if os.Getenv("CI") != "" {
			t.Fatal("goldens are not written in CI")
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGenerated(t *testing.T) {
	r := widgets(t)
	right, wrong := Good(r), Bad(r)
	if len(right) != Most || len(wrong) != Most {
		t.Errorf("there are %d right and %d wrong rules, want %d of each", len(right), len(wrong), Most)
	}
	if diff := cmp.Diff(right, Good(widgets(t)), cmpopts.IgnoreUnexported(Case{})); diff != "" {
		t.Errorf("the second time, the right rules are others:\n%s", diff)
	}
	if diff := cmp.Diff(wrong, Bad(widgets(t)), cmpopts.IgnoreUnexported(Case{}, Mistake{})); diff != "" {
		t.Errorf("the second time, the wrong rules are others:\n%s", diff)
	}
	for _, m := range wrong {
		if m.Wrong.Rule == m.Right.Rule || len(m.Codes) == 0 || m.at.line < 1 || m.at.from >= m.at.to {
			t.Errorf("%s is no mistake at a place: %+v", m.Wrong.Name, m)
		}
		if m.Suggests != "" && !strings.Contains(m.Right.Rule, m.Suggests) {
			t.Errorf("%s suggests %s, and the right rule does not have it:\n%s", m.Wrong.Name, m.Suggests, m.Right.Rule)
		}
	}
	for _, c := range append(right, wrong[0].Right) {
		if strings.ContainsAny(c.Rule, opens+turns+closes) {
			t.Errorf("%s still has a mark:\n%q", c.Name, c.Rule)
		}
	}
}

// TestShapes holds that no shape is there in vain: each gives rules about one resource or another.
func TestShapes(t *testing.T) {
	used := map[string]int{}
	resources := []*schema.Resource{widgets(t)}
	for _, name := range []string{"/v1/pods", "apps/v1/deployments", "autoscaling/v2/horizontalpodautoscalers", "networking.k8s.io/v1/ingresses"} {
		resources = append(resources, builtin.Source().Resource(gvr(name)))
	}
	for _, r := range resources {
		for _, c := range good(r, 100) {
			used[c.Shape]++
		}
		for _, m := range bad(r, 100) {
			used[m.Wrong.Shape]++
		}
	}
	seen := map[string]bool{}
	for _, s := range append(goodShapes(), badShapes()...) {
		if used[s.name] == 0 {
			t.Errorf("there is no rule of the shape %q", s.name)
		}
		if seen[s.name] {
			t.Errorf("two shapes are called %q", s.name)
		}
		seen[s.name] = true
	}
}

func TestSays(t *testing.T) {
	m := Mistake{Codes: []document.Code{document.CodeUnknownField}, Suggests: "spec", at: region{line: 2, from: 3, to: 6}}
	for _, c := range []struct {
		reason string
		err    document.Error
		line   int
		wrong  string // What is wrong with it, "" for nothing.
	}{
		{"it is right", document.Error{Column: 7, Code: document.CodeUnknownField, Hint: `did you mean "spec"?`}, 2, ""},
		{"the last column of the place", document.Error{Column: 9, Code: document.CodeUnknownField, Hint: "spec"}, 2, ""},
		{"a column behind", document.Error{Column: 10, Code: document.CodeUnknownField, Hint: "spec"}, 2, "2:6"},
		{"a column before", document.Error{Column: 6, Code: document.CodeUnknownField, Hint: "spec"}, 2, "2:2"},
		{"another line", document.Error{Column: 7, Code: document.CodeUnknownField, Hint: "spec"}, 1, "1:3"},
		{"something else is said", document.Error{Column: 7, Code: document.CodeTypeMismatch, Hint: "spec"}, 2, "its code"},
		{"another word is suggested", document.Error{Column: 7, Code: document.CodeUnknownField, Hint: "status"}, 2, "its hint"},
	} {
		got := ""
		if err := m.Says(&c.err, c.line); err != nil {
			got = err.Error()
		}
		if (got == "") != (c.wrong == "") || !strings.Contains(got, c.wrong) {
			t.Errorf("%s: %q, want %q", c.reason, got, c.wrong)
		}
	}
}
