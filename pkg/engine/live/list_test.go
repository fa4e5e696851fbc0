package live_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestList(t *testing.T) {
	const first, second, third = group + "/widgets?" + limited, group + "/widgets?continue=2&" + limited, group + "/widgets?continue=3&" + limited
	tests := map[string]struct {
		reason  string
		answers map[string][]string
		want    []string
		asked   int
		wrong   func(error) bool // nil for no error
	}{
		"Empty": {reason: "There is nothing.", answers: map[string][]string{first: {list("")}}, asked: 1},
		"Pages": {
			reason: "All pages are visited, an empty one too.",
			answers: map[string][]string{
				first: {list("2", object("", "a"), object("", "b"))}, second: {list("3")}, third: {list("", object("", "c"))},
			},
			want: []string{"/a", "/b", "/c"}, asked: 3,
		},
		"Expired": {
			reason: "Where a token has expired the API server gives another one, which goes on.",
			answers: map[string][]string{
				first: {list("2", object("", "a"))}, second: {expired("3")}, third: {list("", object("", "c"))},
			},
			want: []string{"/a", "/c"}, asked: 3,
		},
		"NeverEnds": {
			reason:  "The same one does not.",
			answers: map[string][]string{first: {list("2", object("", "a"))}, second: {expired("3")}, third: {expired("3")}},
			want:    []string{"/a"}, asked: 3, wrong: apierrors.IsResourceExpired,
		},
		"NoMore": {
			reason:  "Some have no other.",
			answers: map[string][]string{first: {list("2", object("", "a"))}, second: {expired("")}},
			want:    []string{"/a"}, asked: 2, wrong: apierrors.IsResourceExpired,
		},
		"ExpiredAtOnce": {
			reason:  "A list without a token cannot expire.",
			answers: map[string][]string{first: {expired("")}}, asked: 1, wrong: apierrors.IsResourceExpired,
		},
		"Refused": {
			reason:  "Any other failure is one.",
			answers: map[string][]string{first: {list("2", object("", "a"))}, second: {refusal(403, "Forbidden", "")}},
			want:    []string{"/a"}, asked: 2, wrong: apierrors.IsForbidden,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, server := reader(t, tc.answers)
			var got []string
			err := r.List(t.Context(), plan.Selection{GVR: widgets}, func(object map[string]any) error {
				got = append(got, named(object))
				return nil
			})
			if (err != nil) != (tc.wrong != nil) || err != nil && !tc.wrong(err) {
				t.Errorf("%s the error is %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(server.asked) != tc.asked {
				t.Errorf("%s asked %v", tc.reason, server.asked)
			}
		})
	}
}

// TestListStops holds that a visitor ends the list with its own error.
func TestListStops(t *testing.T) {
	enough := errors.New("enough")
	r, server := reader(t, map[string][]string{group + "/widgets?" + limited: {list("2", object("", "a"), object("", "b"))}})
	visited := 0
	err := r.List(t.Context(), plan.Selection{GVR: widgets}, func(map[string]any) error {
		visited++
		return enough
	})
	if !errors.Is(err, enough) || visited != 1 || len(server.asked) != 1 {
		t.Errorf("got %v after %d objects and %v", err, visited, server.asked)
	}
}
