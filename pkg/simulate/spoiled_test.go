package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestSpoiledBy(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         []bool // of each document
	}{
		"none":               {"nothing is wrong", "a: b\n---\nc: d\n", []bool{false, false}},
		"first":              {"the one with the mistake", "a: b\na: c\n---\nc: d\n", []bool{true, false}},
		"last":               {"as well", "a: b\n---\nc: d\nc: e\n", []bool{false, true}},
		"both":               {"each for itself", "a: b\na: c\n---\nc: d\nc: e\n", []bool{true, true}},
		"cannot be read":     {"what comes before it can", "a: b\n---\nc: d\n---\ne: [\n", []bool{false, false}},
		"with a comment":     {"it begins a document too", "a: b\n--- # next\ne: [\n", []bool{false}},
		"on a line of CR":    {"so does this", "a: b\r\n---\r\ne: [\r\n", []bool{false}},
		"at the first key":   {"the document begins there", "a: !b c\n---\nd: e\n", []bool{true, false}},
		"a text like a mark": {"it is indented", "a: |\n  ---\n  b\na: c\n", []bool{true}},
		"no document":        {"there is nothing to spoil", "a: [\n", nil},
	} {
		documents, errs := document.Parse(document.File{Name: "a.yaml", Data: []byte(tc.text)})
		spoiled := spoiledBy(errs, documents, []byte(tc.text))
		var got []bool
		for _, n := range documents {
			got = append(got, spoiled[n])
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", name, tc.reason, diff)
		}
	}
	// A mistake may have no place.
	if got := spoiledBy(document.Errors{{Message: "too large"}}, nil, nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
