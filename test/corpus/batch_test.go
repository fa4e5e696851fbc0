package corpus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBatches(t *testing.T) {
	r := widgets(t)
	cases := []Case{
		{Name: "reads", Rule: "watch: it\nwhen: 'true'\n"},
		{Name: "writes", Rule: "watch: it\n", Writes: "spec.a"},
		{Name: "writes the same", Rule: "watch: it\n", Writes: "spec.a"},
		{Name: "writes a part", Rule: "watch: it\n", Writes: "spec.a.b"},
		{Name: "is called alike", Rule: "watch: it\n", Writes: "spec.ab"},
		{Name: "makes an object", Rule: "watch: others\n", others: true},
		{Name: "makes it too", Rule: "watch: others\n", others: true},
	}
	var got [][]string
	batches := Batches(r, cases)
	for _, b := range batches {
		var names []string
		for _, c := range b.Cases {
			names = append(names, c.Name)
		}
		got = append(got, names)
	}
	want := [][]string{{"reads", "writes", "is called alike", "makes an object"}, {"writes the same", "makes it too"}, {"writes a part"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := string(batches[0].File.Data)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		index, inRule := batches[0].Case(i + 1)
		switch strings.TrimSpace(line) {
		case "when: 'true'":
			if index != 0 || inRule != 2 {
				t.Errorf("line %d is line %d of rule %d, want 2 of the first", i+1, inRule, index)
			}
		case "watch: others":
			if index != 3 || inRule != 1 {
				t.Errorf("line %d is line %d of rule %d, want 1 of the last", i+1, inRule, index)
			}
		}
	}
	if index, _ := batches[0].Case(1); index != -1 {
		t.Errorf("the first line belongs to rule %d, want none", index)
	}
	if !strings.Contains(text, "others: {version: v1, resource: configmaps}") || strings.Contains(string(batches[2].File.Data), "others") {
		t.Errorf("only what needs other objects declares them:\n%s", text)
	}
}

func TestBatchIsBounded(t *testing.T) {
	cases := make([]Case, 2*Most+1)
	if got := len(Batches(widgets(t), cases)); got != 3 {
		t.Errorf("%d cases are in %d files, want 3", len(cases), got)
	}
}
