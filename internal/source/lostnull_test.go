package source

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// TestLostNull compares what was applied with what the object says.
func TestLostNull(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		applied string // the annotation; empty for none
		stored  string // the spec
		want    string
	}{
		"condition": {
			reason:  "It would match everything.",
			applied: `{"spec":{"rules":[{"name":"a"},{"name":"b","when":null}]}}`,
			stored:  `{"rules":[{"name":"a"},{"name":"b"}]}`,
			want:    "spec.rules[1].when",
		},
		"body": {
			reason:  "The rule would leave the field as it is, and was to take it away.",
			applied: `{"spec":{"rules":[{"actions":[{"patch":{"merge":{"spec":{"paused":null}}}}]}]}}`,
			stored:  `{"rules":[{"actions":[{"patch":{"merge":{"spec":{}}}}]}]}`,
			want:    "spec.rules[0].actions[0].patch.merge.spec.paused",
		},
		"first": {
			reason:  "One is named, and always the same.",
			applied: `{"spec":{"b":null,"c":null,"a":{"x":null}}}`,
			stored:  `{"a":{}}`,
			want:    "spec.a.x",
		},
		"whole spec": {
			reason:  "There is no place within a spec that is null.",
			applied: `{"spec":null}`,
			stored:  `null`,
		},
		"kept": {
			reason:  "A first apply sends the null, and a body keeps it.",
			applied: `{"spec":{"merge":{"a":null},"n":1}}`,
			stored:  `{"merge":{"a":null},"n":1}`,
		},
		"one kept, one lost": {
			reason:  "The one that is lost counts.",
			applied: `{"spec":{"when":null,"merge":{"a":null}}}`,
			stored:  `{"merge":{"a":null}}`,
			want:    "spec.when",
		},
		"element of a list": {
			reason:  "A list is sent whole, so nothing of it is lost but keys.",
			applied: `{"spec":{"list":[null,{"a":null},1]}}`,
			stored:  `{"list":[null,{},1]}`,
			want:    "spec.list[1].a",
		},
		"list of nulls":     {reason: "They are where they were.", applied: `{"spec":{"list":[null,2]}}`, stored: `{"list":[null,2]}`},
		"no annotation":     {reason: "A server-side apply has none.", stored: `{"rules":[]}`},
		"no null":           {reason: "Nothing was lost.", applied: `{"spec":{"rules":[]}}`, stored: `{"rules":[]}`},
		"null in a text":    {reason: "It is only a word.", applied: `{"spec":{"description":"null"}}`, stored: `{"description":"null"}`},
		"null elsewhere":    {reason: "Only the spec is compiled.", applied: `{"metadata":{"creationTimestamp":null},"spec":{}}`, stored: `{}`},
		"empty stays empty": {reason: "A map without keys is not a null.", applied: `{"spec":{"a":{},"b":null}}`, stored: `{"a":{}}`, want: "spec.b"},
		"changed since": {
			reason:  "Who changed it by other means does not mean what was applied before.",
			applied: `{"spec":{"rules":[{"name":"a","when":null}]}}`,
			stored:  `{"rules":[{"name":"a","when":"true"}]}`,
		},
		"changed elsewhere": {
			reason:  "The annotation is of another version.",
			applied: `{"spec":{"mode":"Audit","rules":[{"name":"a","when":null}]}}`,
			stored:  `{"mode":"Enforce","rules":[{"name":"a"}]}`,
		},
		"added since": {
			reason:  "The annotation is of another version.",
			applied: `{"spec":{"when":null}}`,
			stored:  `{"description":"more"}`,
		},
		"list grown since": {
			reason:  "The annotation is of another version.",
			applied: `{"spec":{"rules":[{"when":null}]}}`,
			stored:  `{"rules":[{},{}]}`,
		},
		"another type": {
			reason:  "The annotation is of another version.",
			applied: `{"spec":{"rules":[{"when":null}]}}`,
			stored:  `{"rules":{"when":"x"}}`,
		},
		"numbers": {
			reason:  "A whole number is one in both.",
			applied: `{"spec":{"params":{"n":9007199254740993,"f":1.5,"x":null}}}`,
			stored:  `{"params":{"n":9007199254740993,"f":1.5}}`,
			want:    "spec.params.x",
		},
		"not JSON":     {reason: "Anybody may write annotations.", applied: `null}`, stored: `{}`},
		"not a map":    {reason: "Anybody may write annotations.", applied: `[null]`, stored: `{}`},
		"spec no map":  {reason: "Anybody may write annotations.", applied: `{"spec":[null]}`, stored: `{}`},
		"spec missing": {reason: "Anybody may write annotations.", applied: `{"a":null}`, stored: `{}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spec any
			if err := utiljson.Unmarshal([]byte(tc.stored), &spec); err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			if tc.applied != "" {
				u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": tc.applied})
			}
			if got := lostNull(u); got != tc.want {
				t.Errorf("%s\ngot  %q\nwant %q", tc.reason, got, tc.want)
			}
			u.SetName("guard")
			if got := objectOf("RuleSet", u).LostNull; got != tc.want {
				t.Errorf("the object says %q", got)
			}
		})
	}
}
