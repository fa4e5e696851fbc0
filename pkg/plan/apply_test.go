package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestApplyRelease holds that of two policies of a rule the one that destroys
// nothing holds.
func TestApplyRelease(t *testing.T) {
	tests := map[string]struct {
		reason string
		given  []ReleasePolicy
		want   ReleasePolicy
	}{
		"None":        {"What is all ours is applied as a whole.", []ReleasePolicy{"", ""}, ""},
		"Remove":      {"A policy is kept.", []ReleasePolicy{RemoveFields, RemoveFields}, RemoveFields},
		"One":         {"One of two that says so is enough.", []ReleasePolicy{"", RemoveFields}, RemoveFields},
		"OrphanFirst": {"Values that are to stay stay.", []ReleasePolicy{OrphanFields, RemoveFields}, OrphanFields},
		"OrphanLast":  {"Whichever comes first.", []ReleasePolicy{RemoveFields, OrphanFields}, OrphanFields},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": `{}`}.wishes(t, "a apply x {spec: {a: 1}}", "a apply x {spec: {b: 1}}")
			for i := range wishes {
				wishes[i].Release = tc.given[i]
			}
			if got := Build(wishes, Options{}).Operations[0].Release; got != tc.want {
				t.Errorf("%s got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestApplyGivesUp holds when an apply leaves fields behind that are to stay.
func TestApplyGivesUp(t *testing.T) {
	owning := func(fields string) string {
		return `{metadata: {managedFields: [{manager: kubectl, operation: Update, fieldsV1: {"f:spec": {"f:z": {}}}}, ` +
			`{manager: ` + rule("a").FieldManager() + `, operation: Apply, fieldsV1: ` + fields + `}]}, ` +
			`spec: {a: 1, b: 1, list: [{name: x, v: 1}, {name: y, v: 1}], tags: [p, q]}}`
	}
	const ab = `{"f:spec": {"f:a": {}, "f:b": {}}}`
	tests := map[string]struct {
		reason  string
		current string
		body    string
		release ReleasePolicy
		want    bool
	}{
		"Less":    {"A field is not applied any more.", owning(ab), `{spec: {a: 1}}`, OrphanFields, true},
		"Removed": {"The API server removes it.", owning(ab), `{spec: {a: 1}}`, RemoveFields, false},
		"AllOurs": {"What is all ours is applied as a whole.", owning(ab), `{spec: {a: 1}}`, "", false},
		"First":   {"Nothing was applied before.", `{spec: {a: 1}}`, `{spec: {a: 2}}`, OrphanFields, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": tc.current}.wishes(t, "a apply x "+tc.body)
			wishes[0].Release = tc.release
			operations := Build(wishes, Options{}).Operations
			if len(operations) != 1 {
				t.Fatalf("%s the operations are %v", tc.reason, written(t, operations))
			}
			if got := operations[0].Orphans(); got != tc.want {
				t.Errorf("%s got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestApplyTwice holds that a rule may apply to one object in several actions: each adds to what is merged, and the later one decides what
// both have.
func TestApplyTwice(t *testing.T) {
	tests := map[string]struct{ reason, first, second, want string }{
		"list":    {"Each has an element of its own.", `{list: [{name: a, x: 1}]}`, `{list: [{name: b}]}`, `{list: [{name: a, x: 1}, {name: b}]}`},
		"element": {"Both have fields of one.", `{list: [{name: a, x: 1, y: 1}]}`, `{list: [{name: a, x: 2, z: 2}]}`, `{list: [{name: a, x: 2, y: 1, z: 2}]}`},
		"set":     {"Each adds a value to a set.", `{metadata: {finalizers: [a, b]}}`, `{metadata: {finalizers: [b, c]}}`, `{metadata: {finalizers: [a, b, c]}}`},
		"atomic":  {"What is one field is the later one's.", `{list: [1, 2]}`, `{list: [3]}`, `{list: [3]}`},
		"null":    {"Null says nothing.", `{a: 1, map: {b: 1}}`, `{a: null, map: {b: null, c: 2}}`, `{a: 1, map: {b: 1, c: 2}}`},
		"new":     {"Nothing is there before.", `{}`, `{list: [{name: a}]}`, `{list: [{name: a}]}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": `{metadata: {name: x}}`}.wishes(t, "a apply x "+tc.first, "a apply x "+tc.second, `b apply x {list: [{name: b, x: 5}]}`)
			built := Build(wishes, Options{Applied: byKey})
			if diff := cmp.Diff(decode[map[string]any](t, tc.want), built.Operations[0].Body); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if first := encode(t, wishes[0].Body); first != encode(t, decode[any](t, tc.first)) {
				t.Errorf("%s The wish has become %s", tc.reason, first)
			}
		})
	}
}

// TestApplyNothing holds that a rule whose patch has become empty gives up what it
// owns, once.
func TestApplyNothing(t *testing.T) {
	entry := `metadata: {managedFields: [{manager: ` + rule("a").FieldManager() + `, operation: Apply, fieldsV1: {"f:spec": {"f:a": {}}}}]}`
	for _, body := range []string{`{}`, `{metadata: {}}`} {
		built := Build(cluster{"x": `{` + entry + `, spec: {a: 1}}`}.wishes(t, "a apply x "+body), Options{})
		if diff := cmp.Diff([]string{"apply x a {}"}, written(t, built.Operations)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		built = Build(cluster{"x": `{spec: {a: 1}}`}.wishes(t, "a apply x "+body), Options{})
		if diff := cmp.Diff([]string(nil), written(t, built.Operations)); diff != "" {
			t.Errorf("%s, given up (-want +got):\n%s", body, diff)
		}
	}
}

// TestOver holds what becomes of an apply that was to make an object where it is there.
func TestOver(t *testing.T) {
	tests := map[string]struct {
		reason, current string
		want            string
		predicted       string
	}{
		"Ours": {
			reason: "What else it has stays.", current: `{metadata: {uid: u, resourceVersion: "7", labels: {other: "1"}}, data: {a: "0"}}`,
			want:      `{"data":{"a":"1"}}`,
			predicted: `{"data":{"a":"1"},"metadata":{"labels":{"other":"1"},"resourceVersion":"7","uid":"u"}}`,
		},
		"Adopted": {
			reason: "The mark would be given up if it were not applied again.", current: `{metadata: {uid: u, resourceVersion: "7", annotations: {dyncontroller.dev/adopted: "true"}}}`,
			want:      `{"data":{"a":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"}}}`,
			predicted: `{"data":{"a":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"resourceVersion":"7","uid":"u"}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			planned := Build(cluster{}.wishes(t, `a apply x {data: {a: "1"}}`), Options{}).Operations[0]
			over := Options{}.Over(planned, decode[map[string]any](t, tc.current))
			if diff := cmp.Diff([]string{tc.want, tc.predicted}, []string{encode(t, over.Body), encode(t, over.Predicted)}); diff != "" {
				t.Errorf("%s\nbody and prediction (-want +got):\n%s", tc.reason, diff)
			}
			if over.Target.UID != "u" || over.Target.ResourceVersion != "7" || len(over.Changes) == 0 {
				t.Errorf("%s\nit is not guarded by what is there: %+v", tc.reason, over)
			}
			if planned.Target.UID != "" || encode(t, planned.Body) != `{"data":{"a":"1"}}` {
				t.Errorf("%s\nthe plan has changed: %+v", tc.reason, planned)
			}
		})
	}
}

// TestApplyUnseen holds that of two applies to an object the one that tells prevails.
func TestApplyUnseen(t *testing.T) {
	silent, told := &Unseen{}, &Unseen{Event: &Event{}}
	for _, order := range [][]*Unseen{{silent, told}, {told, silent}, {nil, told}, {told, nil}} {
		wishes := cluster{}.wishes(t, `a apply x {a: 1}`, `a apply x {b: 1}`)
		for i := range wishes {
			wishes[i].Unseen = order[i]
		}
		if got := Build(wishes, Options{}).Operations[0].Unseen; got != told {
			t.Errorf("%v came to %v", order, got)
		}
	}
}
