package dependencies_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	pods    = plan.Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
	podsInA = plan.Selection{GVR: pods.GVR, Namespace: "a"}
	nodes   = plan.Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}}
)

func of(from plan.Selection) []plan.Selection { return []plan.Selection{from} }

func byName(namespace string, names ...string) plan.Read {
	return plan.Read{From: of(pods), Namespace: namespace, By: plan.ByName, Names: names}
}

func byLabels(namespace, selector string) plan.Read {
	return plan.Read{From: of(pods), Namespace: namespace, By: plan.ByLabels, Labels: selector}
}

func byField(namespace string, value any, path ...string) plan.Read {
	return plan.Read{
		From: of(pods), Namespace: namespace, By: plan.ByFields,
		Fields: []plan.FieldValue{{Path: path, Value: value}},
	}
}

func byOwner(namespace string, owners ...types.UID) plan.Read {
	return plan.Read{From: of(pods), Namespace: namespace, By: plan.ByOwner, Owners: owners}
}

func all(namespace string) plan.Read {
	return plan.Read{From: of(pods), Namespace: namespace, By: plan.ByAll}
}

type object = map[string]any

// meta is an object of namespace a with more metadata.
func meta(name string, more object) object {
	metadata := object{"namespace": "a", "name": name}
	maps.Copy(metadata, more)
	return object{"metadata": metadata}
}

func labelled(labels object) object { return meta("x", object{"labels": labels}) }

func owned(references ...any) object { return meta("x", object{"ownerReferences": references}) }

func TestConcerned(t *testing.T) {
	tests := map[string]struct {
		reason        string
		question      plan.Read
		before, after object
		want          bool
	}{
		"NameAppears":      {"What was not found is there now.", byName("a", "x"), nil, meta("x", nil), true},
		"NameVanishes":     {"What was found is gone.", byName("a", "x"), meta("x", nil), nil, true},
		"NameChanges":      {"It was read, and is not the same.", byName("a", "x"), meta("x", nil), meta("x", nil), true},
		"NameAmongSeveral": {"Each of the names was asked for.", byName("a", "y", "x", "z"), nil, meta("x", nil), true},
		"NameTwice":        {"Twice is once.", byName("a", "x", "x"), nil, meta("x", nil), true},
		"NameAnywhere":     {"Every namespace has this one.", byName("", "x"), nil, meta("x", nil), true},
		"OtherName":        {"It asked for another.", byName("a", "y"), meta("x", nil), meta("x", nil), false},
		"OtherNamespace":   {"The name alone is not enough.", byName("b", "x"), nil, meta("x", nil), false},
		"NoNames":          {"Who asks for nothing is told nothing.", byName("a"), nil, meta("x", nil), false},
		"NoObject":         {"Nothing has happened.", byName("a", "x"), nil, nil, false},

		"Label":             {"It has the label.", byLabels("a", "app=web"), nil, labelled(object{"app": "web"}), true},
		"LabelComes":        {"It is among the answers now.", byLabels("a", "app=web"), labelled(nil), labelled(object{"app": "web"}), true},
		"LabelGoes":         {"It was among the answers.", byLabels("a", "app=web"), labelled(object{"app": "web"}), labelled(nil), true},
		"LabelOtherValue":   {"Neither was nor is it among them.", byLabels("a", "app=web"), labelled(object{"app": "db"}), labelled(nil), false},
		"LabelOfTwo":        {"One of two is not enough.", byLabels("a", "app=web,tier=1"), nil, labelled(object{"app": "web"}), false},
		"LabelBoth":         {"Both are enough.", byLabels("", "app=web,tier=1"), nil, labelled(object{"app": "web", "tier": "1"}), true},
		"LabelIn":           {"The last value counts as the first.", byLabels("a", "app in (db,web)"), nil, labelled(object{"app": "web"}), true},
		"LabelExists":       {"Any value is one.", byLabels("a", "app"), nil, labelled(object{"app": "web"}), true},
		"LabelExistsNot":    {"It has none.", byLabels("a", "app"), nil, labelled(nil), false},
		"LabelGreater":      {"A number is compared.", byLabels("a", "size>3"), nil, labelled(object{"size": "4"}), true},
		"LabelNotGreater":   {"A number is compared.", byLabels("a", "size>3"), nil, labelled(object{"size": "3"}), false},
		"LabelAbsent":       {"It lacks what it must not have.", byLabels("a", "!app"), nil, labelled(nil), true},
		"LabelNotAbsent":    {"It has what it must not have.", byLabels("a", "!app"), nil, labelled(object{"app": "web"}), false},
		"LabelNotIn":        {"It lacks what it must not have.", byLabels("a", "app notin (db)"), nil, meta("x", nil), true},
		"LabelEmptyValue":   {"An empty value is a value.", byLabels("a", "app="), nil, labelled(object{"app": ""}), true},
		"LabelNone":         {"No selector selects nothing.", byLabels("a", ""), nil, labelled(object{"app": "web"}), false},
		"LabelWrong":        {"What cannot be read selects nothing.", byLabels("a", "app in ("), nil, labelled(object{"app": "web"}), false},
		"LabelAnywhereElse": {"It is in a, not in b.", byLabels("b", "app=web"), nil, labelled(object{"app": "web"}), false},

		"Field":         {"The field has the value.", byField("a", "x", "metadata", "name"), nil, meta("x", nil), true},
		"FieldOther":    {"It has another value.", byField("a", "y", "metadata", "name"), nil, meta("x", nil), false},
		"FieldAbsent":   {"It is not there.", byField("a", "x", "spec", "nodeName"), nil, meta("x", nil), false},
		"FieldAnywhere": {"In all namespaces.", byField("", "x", "metadata", "name"), meta("x", nil), nil, true},
		"FieldWhole":    {"1 and 1.0 are the same number.", byField("", 1.0, "n"), nil, object{"n": int64(1)}, true},
		"FieldInt":      {"Numbers are the same in any type.", byField("", 1, "n"), nil, object{"n": 1.0}, true},
		"FieldZero":     {"There is one zero.", byField("", 0, "n"), nil, object{"n": math.Copysign(0, -1)}, true},
		"FieldFraction": {"It equals itself.", byField("", 1.5, "n"), nil, object{"n": 1.5}, true},
		"FieldLarge":    {"No rounding.", byField("", int64(math.MaxInt64), "n"), nil, object{"n": float64(math.MaxInt64)}, false},
		"FieldNaN":      {"It does not equal itself.", byField("", math.NaN(), "n"), nil, object{"n": math.NaN()}, false},
		"FieldText":     {"A string is no number.", byField("", "1", "n"), nil, object{"n": 1}, false},
		"FieldBool":     {"A boolean is compared.", byField("", true, "n"), nil, object{"n": true}, true},
		"FieldNull":     {"A null is there.", byField("", nil, "n"), nil, object{"n": nil}, true},
		"FieldNoNull":   {"What is absent is no null.", byField("", nil, "n"), nil, object{}, false},
		"FieldList":     {"A whole list can be the same.", byField("", []any{"a"}, "n"), nil, object{"n": []any{"a"}}, true},
		"FieldElement":  {"A step may be an index.", byField("", "b", "n", "1"), nil, object{"n": []any{"a", "b"}}, true},
		"FieldBeyond":   {"There is no such element.", byField("", "b", "n", "2"), nil, object{"n": []any{"a", "b"}}, false},
		"FieldBefore":   {"Nor this one.", byField("", "b", "n", "-1"), nil, object{"n": []any{"a", "b"}}, false},
		"FieldSlash":    {"Any key can be a step.", byField("", "b", "a/~1"), nil, object{"a/~1": "b"}, true},
		"FieldRoot":     {"No steps lead to all of it.", byField("", object{"a": "b"}), nil, object{"a": "b"}, true},
		"FieldNone":     {"No fields select nothing.", plan.Read{From: of(pods), By: plan.ByFields}, nil, meta("x", nil), false},

		"Owner":          {"Its controller.", byOwner("a", "u"), nil, owned(object{"uid": "u", "controller": true}), true},
		"OwnerOfSeveral": {"Each of the owners was asked for.", byOwner("", "v", "u"), nil, owned(object{"uid": "u", "controller": true}), true},
		"OwnerReleased":  {"It was its controller.", byOwner("a", "u"), owned(object{"uid": "u", "controller": true}), owned(), true},
		"OwnerSecond":    {"Who owns and does not control comes before.", byOwner("a", "u"), nil, owned(object{"uid": "v"}, object{"uid": "u", "controller": true}), true},
		"OwnerNoControl": {"To own is not to control.", byOwner("a", "u"), nil, owned(object{"uid": "u"}), false},
		"OwnerNoUID":     {"An empty uid is nobody's.", byOwner("a", ""), nil, owned(object{"controller": true}), false},
		"OwnerNone":      {"Nobody is asked for.", byOwner("a"), nil, owned(object{"uid": "u", "controller": true}), false},

		"All":              {"Everything in a.", all("a"), nil, meta("x", nil), true},
		"AllAnywhere":      {"Everything.", all(""), meta("x", nil), nil, true},
		"AllElsewhere":     {"Everything in b.", all("b"), nil, meta("x", nil), false},
		"AllClusterScoped": {"It has no namespace.", all(""), nil, object{"metadata": object{"name": "x"}}, true},

		"UnknownWay": {"Nothing is known of it.", plan.Read{From: of(pods), By: "magic"}, nil, meta("x", nil), false},
		"Zero":       {"It asks nobody.", plan.Read{}, nil, meta("x", nil), false},
		"OtherResource": {
			"A node is no pod.",
			plan.Read{From: of(nodes), By: plan.ByAll},
			nil, meta("x", nil), false,
		},
		"OtherSelection": {
			"The object comes from a cache that was not asked.",
			plan.Read{From: of(podsInA), By: plan.ByAll},
			nil, meta("x", nil), false,
		},
		"SeveralSelections": {
			"Each of them may have it.",
			plan.Read{From: []plan.Selection{podsInA, pods}, By: plan.ByAll},
			nil, meta("x", nil), true,
		},
		"SelectionTwice": {
			"Twice is once.",
			plan.Read{From: []plan.Selection{pods, pods}, By: plan.ByAll},
			nil, meta("x", nil), true,
		},

		"NoMetadata":        {"Nothing is known of it.", byName("a", "x"), nil, object{}, false},
		"MetadataList":      {"No map has no name.", byName("a", "x"), nil, object{"metadata": []any{"x"}}, false},
		"NameNumber":        {"No string is no name.", byName("", "1"), nil, object{"metadata": object{"name": 1}}, false},
		"NameEmpty":         {"No string reads as an empty one.", byName("", ""), nil, object{"metadata": object{"name": 1}}, true},
		"LabelsList":        {"No map has no labels.", byLabels("a", "!app"), nil, meta("x", object{"labels": []any{"app"}}), true},
		"LabelNumber":       {"It is there, and reads as empty.", byLabels("a", "app="), nil, labelled(object{"app": 1}), true},
		"LabelNumberExists": {"It is there.", byLabels("a", "app"), nil, labelled(object{"app": 1}), true},
		"OwnersMap":         {"No list has no owners.", byOwner("a", "u"), nil, meta("x", object{"ownerReferences": object{"uid": "u", "controller": true}}), false},
		"OwnerText":         {"What is no map is passed over.", byOwner("a", "u"), nil, owned("u", nil, object{"uid": "u", "controller": true}), true},
		"OwnerNumber":       {"No string is no uid.", byOwner("a", "1"), nil, owned(object{"uid": 1, "controller": true}), false},
		"FieldStrange":      {"A kind that JSON lacks is compared all the same.", byField("", uint8(1), "n"), nil, object{"n": uint8(1)}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			index := dependencies.NewIndex[string]()
			index.Ask("me", tc.question)
			index.Ask("other", byName("c", "unconcerned"))
			got := index.Concerned(pods, tc.before, tc.after)
			if want := []string{"me"}; tc.want && !cmp.Equal(got, want) || !tc.want && got != nil {
				t.Errorf("%s\nconcerned: %v", tc.reason, got)
			}
			if index.Forget("me"); index.Concerned(pods, tc.before, tc.after) != nil {
				t.Error("concerned and forgotten")
			}
		})
	}
}

func TestWhoIsConcerned(t *testing.T) {
	index := dependencies.NewIndex[string]()
	index.Ask("one", byName("a", "x"))
	index.Ask("one", byLabels("a", "app=web"))
	index.Ask("one", all(""))
	index.Ask("two", byName("a", "x"))
	index.Ask("three", byLabels("a", "app=db"))
	index.Ask("four", plan.Read{From: of(nodes), By: plan.ByAll})

	x := meta("x", object{"labels": object{"app": "web"}})
	if diff := cmp.Diff([]string{"one", "two"}, sorted(index.Concerned(pods, x, x))); diff != "" {
		t.Errorf("each once, whatever it asked: %s", diff)
	}
	relabelled := meta("x", object{"labels": object{"app": "db"}})
	if diff := cmp.Diff([]string{"one", "three", "two"}, sorted(index.Concerned(pods, x, relabelled))); diff != "" {
		t.Errorf("of both selectors: %s", diff)
	}
	if diff := cmp.Diff([]string{"one", "three", "two"}, sorted(index.Asking(pods))); diff != "" {
		t.Errorf("asking of pods: %s", diff)
	}
	if diff := cmp.Diff([]string{"four"}, index.Asking(nodes)); diff != "" {
		t.Errorf("asking of nodes: %s", diff)
	}
	if got := index.Asking(podsInA); got != nil {
		t.Errorf("asking of a selection that nobody asked: %v", got)
	}
}

// Asking counts who asked what nothing can answer: it may have read that there
// is nothing.
func TestAskingWithoutAnswer(t *testing.T) {
	for _, q := range []plan.Read{byName("a"), byLabels("", ""), byLabels("", "a in ("), byOwner(""), {From: of(pods)}} {
		index := dependencies.NewIndex[string]()
		index.Ask("me", q)
		if got := index.Asking(pods); !cmp.Equal(got, []string{"me"}) {
			t.Errorf("%s: asking is %v", q.Key(), got)
		}
	}
}

func TestKeep(t *testing.T) {
	x, y, z := meta("x", nil), meta("y", nil), meta("z", nil)
	asked := func(names ...string) []plan.Read {
		var out []plan.Read
		for _, name := range names {
			out = append(out, byName("a", name))
		}
		return out
	}
	tests := map[string]struct {
		reason string
		asked  []string // before
		keep   []string
		want   []string
	}{
		"Same":      {"Nothing changes.", []string{"x", "y"}, []string{"y", "x"}, []string{"x", "y"}},
		"Fewer":     {"What this evaluation did not ask is forgotten.", []string{"x", "y"}, []string{"y"}, []string{"y"}},
		"More":      {"What was not noted is noted.", []string{"x"}, []string{"x", "y"}, []string{"x", "y"}},
		"Others":    {"As many, and not the same.", []string{"x", "y"}, []string{"y", "z"}, []string{"y", "z"}},
		"Unknown":   {"Who asked nothing before.", nil, []string{"x"}, []string{"x"}},
		"Twice":     {"Twice is once.", []string{"x"}, []string{"y", "y"}, []string{"y"}},
		"None":      {"It reads nothing any more.", []string{"x", "y"}, nil, nil},
		"NoneAtAll": {"It never did.", nil, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			index := dependencies.NewIndex[string]()
			index.Ask("other", byName("a", "x"))
			for _, q := range asked(tc.asked...) {
				index.Ask("me", q)
			}
			index.Keep("me", asked(tc.keep...))
			for name, object := range map[string]object{"x": x, "y": y, "z": z} {
				concerned := slices.Contains(index.Concerned(pods, nil, object), "me")
				if want := slices.Contains(tc.want, name); concerned != want {
					t.Errorf("%s\n%s concerns me: %v", tc.reason, name, concerned)
				}
			}
			if got := index.Concerned(pods, nil, x); !slices.Contains(got, "other") {
				t.Errorf("the same question of another is forgotten: %v", got)
			}
		})
	}
}

func TestForgetUnknown(t *testing.T) {
	index := dependencies.NewIndex[string]()
	index.Ask("me", all(""))
	index.Forget("stranger")
	if got := index.Asking(pods); !cmp.Equal(got, []string{"me"}) {
		t.Errorf("asking is %v", got)
	}
}

func sorted(keys []string) []string {
	slices.Sort(keys)
	return keys
}
