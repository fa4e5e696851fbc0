package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// marked stands in texts of objects for what rules leave there: a and b are rules of
// one set, other is one of another.
func marked(text string) string {
	other := Rule{Kind: "ClusterRuleSet", Set: "other", Name: "a"}
	const madeFields = `{"f:metadata": {"f:labels": {"f:dyncontroller.dev/set": {}}}}`
	entries := func(name string, r Rule) []string {
		manager := `{manager: ` + r.FieldManager() + `, operation: Apply`
		return []string{
			"MADE-" + name, manager + `, fieldsV1: ` + madeFields + `}`,
			"STATUS-" + name, manager + `, subresource: status, fieldsV1: {"f:status": {"f:phase": {}}}}`,
			"PROXY-" + name, manager + `, subresource: proxy, fieldsV1: {"f:spec": {}}}`,
			"APPLIED-" + name, manager + `, fieldsV1: {"f:spec": {"f:size": {}}}}`,
			"HOLD-" + name, r.Finalizer(),
		}
	}
	var pairs []string
	for name, r := range map[string]Rule{"a": rule("a"), "b": rule("b"), "other": other} {
		pairs = append(pairs, entries(name, r)...)
	}
	pairs = append(pairs,
		"LABELS-a", `dyncontroller.dev/set: `+rule("a").SetID()+`, dyncontroller.dev/rule: a, dyncontroller.dev/owner-uid: u-owner`,
		"LABELS-b", `dyncontroller.dev/set: `+rule("a").SetID()+`, dyncontroller.dev/rule: b, dyncontroller.dev/owner-uid: u-owner`,
		"LABELS-other", `dyncontroller.dev/set: `+other.SetID()+`, dyncontroller.dev/rule: a, dyncontroller.dev/owner-uid: u-owner`,
		"ADOPTED", `annotations: {dyncontroller.dev/adopted: "true"}`,
		"USER", `{manager: kubectl, operation: Update, fieldsV1: {"f:spec": {"f:size": {}}}}`,
		"GOING", `deletionTimestamp: "2026-01-01T00:00:00Z"`,
	)
	return strings.NewReplacer(pairs...).Replace(text)
}

// asText is what is to be sent of an operation.
func asText(t *testing.T, o *Operation) string {
	t.Helper()
	if o == nil {
		return ""
	}
	text := string(o.Type)
	if o.Subresource != "" {
		text += "/" + o.Subresource
	}
	if o.Force {
		text += " force"
	}
	return text + " " + encode(t, o.Body)
}

func TestCleanUp(t *testing.T) {
	fields := func(release ReleasePolicy) Leftover {
		return Leftover{Rule: rule("a"), Kind: LeftFields, Release: release}
	}
	children := func(prune bool) Leftover { return Leftover{Rule: rule("a"), Kind: LeftChildren, Prune: prune} }
	owned := Leftover{Rule: rule("a"), Kind: LeftChildren, Prune: true, Owned: true}
	finalizer := Leftover{Rule: rule("a"), Kind: LeftFinalizer}
	hold := rule("a").Finalizer()
	const background = `delete {"propagationPolicy":"Background"}`
	dropped := func(at int) string {
		return fmt.Sprintf(`json [{"op":"test","path":"/metadata/managedFields/%[1]d/manager","value":"%[2]s"},`+
			`{"op":"test","path":"/metadata/managedFields/%[1]d/operation","value":"Apply"},`+
			`{"op":"remove","path":"/metadata/managedFields/%[1]d"}]`, at, rule("a").FieldManager())
	}
	tests := map[string]struct {
		reason   string
		leftover Leftover
		object   string // the metadata
		want     string
	}{
		"Finalizer":      {"Ours goes, others stay.", finalizer, `finalizers: [x/y, HOLD-a, HOLD-b]`, `merge {"metadata":{"finalizers":["x/y","` + rule("b").Finalizer() + `"]}}`},
		"FinalizerLast":  {"The last one leaves no list.", finalizer, `finalizers: [HOLD-a]`, `merge {"metadata":{"finalizers":null}}`},
		"FinalizerGoing": {"An object that is being deleted waits for just that.", finalizer, `GOING, finalizers: [HOLD-a]`, `merge {"metadata":{"finalizers":null}}`},
		"FinalizerOther": {"Other rules hold their own, of the same name too.", finalizer, `finalizers: [HOLD-b, HOLD-other]`, ""},
		"FinalizerNone":  {"There is nothing to do.", finalizer, `name: x`, ""},
		"FinalizerOnly":  {"Fields and children are another matter.", finalizer, `labels: {LABELS-a}, managedFields: [MADE-a]`, ""},

		"Fields":         {"Ownership is dropped, values stay.", fields(OrphanFields), `managedFields: [USER, APPLIED-a]`, dropped(1)},
		"FieldsStatus":   {"So it is of a subresource.", fields(OrphanFields), `managedFields: [STATUS-a, USER]`, dropped(0)},
		"FieldsNoPolicy": {"Where nothing is said, values stay.", fields(""), `managedFields: [USER, APPLIED-a]`, dropped(1)},
		"FieldsOthers":   {"Others own what they own.", fields(OrphanFields), `managedFields: [USER, APPLIED-b, APPLIED-other]`, ""},
		"FieldsRemove":   {"An apply of nothing takes values along that nobody else owns.", fields(RemoveFields), `managedFields: [USER, APPLIED-a]`, "apply force {}"},
		"FieldsRemoveStatus": {
			"There too, one subresource at a time.", fields(RemoveFields), `managedFields: [STATUS-a, APPLIED-a]`, "apply/status force {}",
		},
		"FieldsRemoveProxy": {
			"Another client can write an entry of that name. No request of ours goes to a subresource that is no object.", fields(RemoveFields),
			`managedFields: [PROXY-a, STATUS-a]`, "apply/status force {}",
		},
		"FieldsRemoveOthers": {"Values of others stay.", fields(RemoveFields), `managedFields: [USER, APPLIED-b, STATUS-other]`, ""},
		"FieldsOfChild": {
			"A child that the rule still makes is owned by the same manager.", fields(OrphanFields), `labels: {LABELS-a}, managedFields: [USER, MADE-a]`, "",
		},
		"FieldsOfChildRemove": {"To remove its values would empty it.", fields(RemoveFields), `labels: {LABELS-a}, managedFields: [USER, MADE-a]`, ""},
		"FieldsOnChild": {
			"What the rule only patched is not its child, whoever made it.", fields(OrphanFields), `labels: {LABELS-b}, managedFields: [MADE-b, APPLIED-a]`, dropped(1),
		},

		"Child":         {"What the rule made goes.", children(true), `labels: {LABELS-a}, managedFields: [USER, MADE-a]`, background},
		"ChildStays":    {"Unless it is not pruned.", children(false), `labels: {LABELS-a}, managedFields: [USER, MADE-a]`, ""},
		"ChildGoing":    {"It goes only once.", children(true), `GOING, labels: {LABELS-a}, managedFields: [USER, MADE-a]`, ""},
		"ChildOfOther":  {"Another set has a rule of that name.", children(true), `labels: {LABELS-other}, managedFields: [USER, MADE-other]`, ""},
		"ChildOfRule":   {"Another rule of the set made it.", children(true), `labels: {LABELS-b}, managedFields: [USER, MADE-b]`, ""},
		"ChildRenamed":  {"Another rule of the set has taken it over: it is not ours to delete.", children(true), `labels: {LABELS-b}, managedFields: [MADE-b, MADE-a]`, dropped(1)},
		"ChildHandedOn": {"The ownership goes though the child is not pruned.", children(false), `labels: {LABELS-b}, managedFields: [MADE-b, MADE-a]`, dropped(1)},
		"ChildTaken":    {"So it does where another set has adopted it.", children(true), `labels: {LABELS-other}, ADOPTED, managedFields: [MADE-a, MADE-other]`, dropped(0)},
		"ChildUnmarked": {"And where somebody took the marks off.", children(true), `managedFields: [USER, MADE-a]`, dropped(1)},
		"Created":       {"What the rule created has its marks but was not applied.", children(true), `labels: {LABELS-a}, managedFields: [USER]`, ""},
		"CreatedPatched": {
			"Nor was it where the rule patches what it created.", children(true), `labels: {LABELS-a}, managedFields: [USER, APPLIED-a]`, "",
		},
		"CreatedStatus": {"In whatever way.", children(true), `labels: {LABELS-a}, managedFields: [USER, STATUS-a]`, ""},
		"Copied":        {"A copy that a user made has the labels only.", children(true), `labels: {LABELS-a}`, ""},
		"Adopted": {
			"What was there before is released: it would not go with its owner either.", children(true),
			`labels: {LABELS-a, app: web}, ADOPTED, ownerReferences: [{uid: u-node}, {uid: u-owner, controller: true}], managedFields: [USER, MADE-a]`,
			strings.TrimSuffix(dropped(1), "]") + `,{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"u-owner"},{"op":"remove","path":"/metadata/ownerReferences/1"},` +
				`{"op":"remove","path":"/metadata/annotations/dyncontroller.dev~1adopted"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1owner-uid"},` +
				`{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1rule"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1set"}]`,
		},
		"LetGo": {
			"Garbage collection has let go of it, so that it stays.", owned, `labels: {LABELS-a, app: web}, managedFields: [USER, MADE-a]`,
			strings.TrimSuffix(dropped(1), "]") + `,{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1owner-uid"},` +
				`{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1rule"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1set"}]`,
		},
		"Owned": {
			"Its owner owns it still.", owned, `labels: {LABELS-a}, ownerReferences: [{uid: u-owner, controller: true}], managedFields: [MADE-a]`,
			background,
		},
		"AdoptedStays": {"It too only where it is pruned.", children(false), `labels: {LABELS-a}, ADOPTED, managedFields: [MADE-a]`, ""},

		"Unknown":   {"Of what is not known nothing is done.", Leftover{Rule: rule("a"), Kind: "status"}, `finalizers: [HOLD-a], labels: {LABELS-a}, managedFields: [MADE-a]`, ""},
		"OfCreate":  {"What was created is never cleaned up.", Leftover{Rule: rule("a"), Kind: LeftCreated, Prune: true}, `labels: {LABELS-a}, managedFields: [MADE-a]`, ""},
		"Malformed": {"What is malformed is left as it is.", children(true), `labels: [a], managedFields: {a: b}, finalizers: x`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := decode[map[string]any](t, marked(`{kind: TidbCluster, metadata: {`+tc.object+`}}`))
			before := encode(t, object)
			if diff := cmp.Diff(hold+"|"+tc.want, hold+"|"+asText(t, tc.leftover.CleanUp(object))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if encode(t, object) != before {
				t.Errorf("%s the object was changed", tc.reason)
			}
		})
	}
}

// TestCleanUpEmpties holds that maps and lists of a custom resource are emptied first that others own, though nothing in them: an apply of
// nothing would make them null.
func TestCleanUpEmpties(t *testing.T) {
	const patched = `json [{"op":"replace","path":"/spec/m","value":{}}]`
	tests := map[string]struct{ reason, group, spec, owned, others, want string }{
		"Map":      {"All that is in it is ours.", "example.com", `{m: {a: 1}}`, `"f:m": {"f:a": {}}`, `"f:m": {}`, patched},
		"Itself":   {"Both own the map.", "example.com", `{m: {a: 1}}`, `"f:m": {".": {}, "f:a": {}}`, `"f:m": {".": {}}`, patched},
		"List":     {"So it is of a list.", "example.com", `{l: [x]}`, `"f:l": {"v:\"x\"": {}}`, `"f:l": {".": {}}`, `json [{"op":"replace","path":"/spec/l","value":[]}]`},
		"Element":  {"And in an element.", "example.com", `{l: [{name: x, m: {a: 1}}]}`, `"f:l": {"k:{\"name\":\"x\"}": {"f:m": {"f:a": {}}}}`, `"f:l": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:m": {}}}`, `json [{"op":"replace","path":"/spec/l/0/m","value":{}}]`},
		"More":     {"Something of nobody stays in it.", "example.com", `{m: {a: 1, b: 1}}`, `"f:m": {"f:a": {}}`, `"f:m": {}`, "apply force {}"},
		"Shared":   {"Something of others stays in it.", "example.com", `{m: {a: 1, b: 1}}`, `"f:m": {"f:a": {}, "f:b": {}}`, `"f:m": {"f:b": {}}`, "apply force {}"},
		"Alone":    {"It goes with what is in it.", "example.com", `{m: {a: 1}}`, `"f:m": {"f:a": {}}`, `"f:o": {}`, "apply force {}"},
		"Empty":    {"It stays.", "example.com", `{m: {}, o: 1}`, `"f:m": {}, "f:o": {}`, `"f:m": {}`, "apply force {}"},
		"Built-in": {"Kubernetes stores null as nothing.", "apps", `{m: {a: 1}}`, `"f:m": {"f:a": {}}`, `"f:m": {}`, "apply force {}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := Leftover{Rule: rule("a"), Kind: LeftFields, Release: RemoveFields}
			l.GVR.Group = tc.group
			object := decode[map[string]any](t, `{metadata: {managedFields: [{manager: `+rule("a").FieldManager()+`, operation: Apply, fieldsV1: {"f:spec": {`+tc.owned+
				`}}}, {manager: kubectl, operation: Update, fieldsV1: {"f:spec": {`+tc.others+`}}}]}, spec: `+tc.spec+`}`)
			if diff := cmp.Diff(tc.want, asText(t, l.CleanUp(object))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCleanUpIsGuarded holds that nothing but the very object that was looked at is
// written.
func TestCleanUpIsGuarded(t *testing.T) {
	object := decode[map[string]any](t, marked(
		`{kind: TidbCluster, metadata: {namespace: db, name: x, uid: u-x, resourceVersion: "7", finalizers: [HOLD-a], labels: {LABELS-a}, managedFields: [MADE-a]}}`))
	for _, kind := range []LeftoverKind{LeftFinalizer, LeftChildren} {
		l := leftover(kind, "")
		l.Prune = true
		o := l.CleanUp(object)
		want := Object{GVR: l.GVR, Kind: "TidbCluster", Namespace: "db", Name: "x", UID: "u-x", ResourceVersion: "7"}
		if o == nil || o.Target != want || !cmp.Equal(o.Rules, []Rule{l.Rule}) {
			t.Errorf("%s: got %+v", kind, o)
		}
	}
	if o := leftover(LeftChildren, "").CleanUp(nil); o != nil {
		t.Errorf("of no object: got %+v", o)
	}
}

// FuzzCleanUp holds on any object that carries marks of several rules that cleaning
// up ends, leaves nothing of the one rule, and all of the others.
func FuzzCleanUp(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cleansUp)) }

func TestCleanUpProperty(t *testing.T) { rapid.Check(t, cleansUp) }

func cleansUp(t *rapid.T) {
	text := drawMarked(t)
	var object map[string]any
	if err := unmarshal([]byte(marked(text)), &object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	before := foreign(t, object)
	for _, l := range []Leftover{
		{Rule: rule("a"), Kind: LeftFinalizer},
		{Rule: rule("a"), Kind: LeftFields, Release: OrphanFields},
		{Rule: rule("a"), Kind: LeftChildren, Prune: true},
	} {
		for sent := 0; ; sent++ {
			o := l.CleanUp(object)
			if o == nil {
				break
			}
			if sent > 3 {
				t.Fatalf("%s: %s goes on: %s", text, l, encode(t, o.Body))
			}
			if o.Type == Delete {
				if !strings.Contains(text, "LABELS-a") || strings.Contains(text, "ADOPTED") || !strings.Contains(text, "MADE-a") {
					t.Fatalf("%s is deleted", text)
				}
				return
			}
			object = o.Predicted
		}
	}
	after := encode(t, object)
	stays := strings.Contains(text, "MADE-a") && strings.Contains(text, "GOING") && strings.Contains(text, "LABELS-a")
	if strings.Contains(after, rule("a").Finalizer()) || !stays && strings.Contains(after, rule("a").FieldManager()) {
		t.Fatalf("%s: left is %s", text, after)
	}
	if diff := cmp.Diff(before, foreign(t, object)); diff != "" {
		t.Fatalf("%s: others lose (-want +got):\n%s", text, diff)
	}
}

// foreign is what of an object is not the rule's.
func foreign(t *rapid.T, object map[string]any) []string {
	out := []string{encode(t, object["spec"])}
	list, _ := Lookup(object, finalizersPath)
	names, _ := list.([]any)
	for _, name := range names {
		if name != rule("a").Finalizer() {
			out = append(out, fmt.Sprint(name))
		}
	}
	for _, entry := range elements(object, "metadata", "managedFields") {
		if len(entry) > 0 && entry["manager"] != rule("a").FieldManager() {
			out = append(out, encode(t, entry))
		}
	}
	ours := Label(object, LabelRule) == "a" && Label(object, LabelSet) == rule("a").SetID()
	found, _ := Lookup(object, Path{"metadata", "labels"})
	labels, _ := found.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !ours || !strings.HasPrefix(key, "dyncontroller.dev/") {
			out = append(out, key+"="+fmt.Sprint(labels[key]))
		}
	}
	return out
}

func drawMarked(t *rapid.T) string {
	some := func(label string, of ...string) string {
		return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, len(of), rapid.ID[string]).Draw(t, label), ", ")
	}
	metadata := []string{
		`name: x, uid: u, resourceVersion: "1"`,
		"finalizers: [" + some("finalizers", "x/y", "HOLD-a", "HOLD-b", "HOLD-other") + "]",
		"labels: {" + rapid.SampledFrom([]string{"", "app: web", "LABELS-a", "LABELS-a, app: web", "LABELS-b", "LABELS-other"}).Draw(t, "labels") + "}",
	}
	if rapid.Bool().Draw(t, "adopted") {
		metadata = append(metadata, "ADOPTED")
	}
	if rapid.Bool().Draw(t, "going") {
		metadata = append(metadata, "GOING")
	}
	// A manager has one entry for an object, and one for a subresource.
	own := rapid.SampledFrom([]string{"", "APPLIED-a", "MADE-a"}).Draw(t, "own")
	entries := some("entries", "USER", "STATUS-a", "MADE-b", "STATUS-b", "APPLIED-other")
	metadata = append(metadata, "managedFields: ["+strings.Trim(own+", "+entries, ", ")+"]")
	return "{spec: {size: 3}, metadata: {" + strings.Join(metadata, ", ") + "}}"
}
