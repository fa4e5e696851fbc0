package lookup_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// counting counts the questions that reach the source.
type counting struct {
	lookup.Source
	asked []string
}

func (c *counting) Read(q plan.Read) ([]map[string]any, error) {
	c.asked = append(c.asked, string(q.By))
	return c.Source.Read(q)
}

// constant gives the same answer to every question.
type constant []map[string]any

func (c constant) Read(plan.Read) ([]map[string]any, error) { return c, nil }

func everyPod() plan.Read {
	return plan.Read{From: []plan.Selection{{GVR: podsGVR}}, By: plan.ByAll}
}

func podsNamed(names ...string) plan.Read {
	return plan.Read{From: []plan.Selection{{GVR: podsGVR}}, Namespace: "a", By: plan.ByName, Names: names}
}

func TestReaderOrder(t *testing.T) {
	named := func(text string) map[string]any { return object(t, "metadata: "+text) }
	tests := map[string]struct {
		reason string
		found  constant
		want   []string
	}{
		"None":      {"Nothing is an empty list.", nil, []string{}},
		"Sorted":    {"By namespace, then name, as bytes.", constant{named("{namespace: b, name: a}"), named("{namespace: a, name: b}"), named("{namespace: a, name: a-b}"), named("{namespace: a, name: a}")}, []string{"a/a", "a/a-b", "a/b", "b/a"}},
		"Cluster":   {"Without a namespace.", constant{named("{name: b}"), named("{name: a}")}, []string{"/a", "/b"}},
		"Twice":     {"What two selections hold is one object.", constant{named("{name: a}"), named("{name: b}"), named("{name: a}")}, []string{"/a", "/b"}},
		"Deformed":  {"Whatever an object is, nothing breaks.", constant{{"metadata": "none"}, nil, named("{name: 5}")}, []string{"/"}},
		"SameNames": {"A name is taken once a namespace.", constant{named("{namespace: b, name: a}"), named("{namespace: a, name: a}")}, []string{"a/a", "b/a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.found)
			reader := &lookup.Reader{Source: tc.found, Kinds: kinds, Home: home}
			got, err := reader.Read(everyPod(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, identities(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(identities([]map[string]any(before)), identities([]map[string]any(tc.found))); diff != "" {
				t.Errorf("the slice of the source was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderSharesObjects(t *testing.T) {
	all := worldObjects(t)
	reader := &lookup.Reader{Source: all}
	got, err := reader.Read(podsNamed("x"), nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("have %v, %v", got, err)
	}
	all[podsGVR][3]["marked"] = "here"
	if got[0]["marked"] != "here" {
		t.Error("the object was copied")
	}
}

func TestReaderAsksOnce(t *testing.T) {
	e, reader := evaluation(t)
	source := &counting{Source: reader.Source}
	reader.Source = source
	for _, text := range []string{
		`{resource: pods, matchLabels: {app: web, tier: a}}`,
		`{resource: pods, names: [x, xa]}`,
		`{resource: pods, selector: {matchLabels: {tier: a, app: web}}}`, // The same question in other words.
		`{resource: pods, names: [xa, x, x]}`,
		`{resource: pods, names: [x, xa], namespace: a}`,
		`{resource: pods, name: "${nil}"}`, // No question.
		`{resource: pods, names: [x, xa], namespace: b}`,
		`{resource: webPods, names: [x, xa]}`, // Others of the same resource.
	} {
		if _, err := compile(t, text, declared("")).Evaluate(e, reader); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"labels", "name", "name", "name"}, source.asked); diff != "" {
		t.Errorf("questions asked (-want +got):\n%s", diff)
	}
	web := plan.Selection{GVR: podsGVR, LabelSelector: "app=web"}
	other := podsNamed("x", "xa")
	other.Namespace = "b"
	declaredWeb := podsNamed("x", "xa")
	declaredWeb.From = []plan.Selection{web}
	want := []plan.Read{
		{From: []plan.Selection{{GVR: podsGVR}}, Namespace: "a", By: plan.ByLabels, Labels: "app=web,tier=a"},
		podsNamed("x", "xa"), other, declaredWeb,
	}
	if diff := cmp.Diff(want, reader.Reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

func TestReaderErrors(t *testing.T) {
	first, second := errors.New("first"), fmt.Errorf("second: %w", lookup.ErrNotSynced)
	source := &failing{first}
	reader := &lookup.Reader{Source: source}
	if reader.Err() != nil {
		t.Errorf("an error before anything was read: %v", reader.Err())
	}
	for range 2 {
		if _, err := reader.Read(podsNamed("x"), nil); !errors.Is(err, first) {
			t.Fatalf("have %v, want %v", err, first)
		}
		source.err = second // The first question is not asked again.
	}
	if _, err := reader.Read(everyPod(), nil); !errors.Is(err, lookup.ErrNotSynced) {
		t.Fatalf("have %v, want %v", err, second)
	}
	if got := reader.Err(); !errors.Is(got, first) {
		t.Errorf("the first error is %v", got)
	}
	if len(reader.Reads()) != 2 {
		t.Errorf("what could not be read was asked for all the same: %v", reader.Reads())
	}
	if got := reader.Missed(); got != nil {
		t.Errorf("what is not known was not missed: %v", got)
	}
}

func TestReaderMissed(t *testing.T) {
	tests := map[string]struct {
		reason string
		asked  []plan.Read
		want   []plan.Read
	}{
		"Name":     {"The name was not found.", []plan.Read{podsNamed("nope")}, []plan.Read{podsNamed("nope")}},
		"Twice":    {"Each question once.", []plan.Read{podsNamed("nope"), podsNamed("nope")}, []plan.Read{podsNamed("nope")}},
		"List":     {"A list that is empty was not looked up by name.", []plan.Read{{From: []plan.Selection{{GVR: secretsGVR}}, By: plan.ByAll}}, nil},
		"Declared": {"What is not declared is absent.", []plan.Read{{By: plan.ByName, Names: []string{"x"}}}, []plan.Read{{By: plan.ByName, Names: []string{"x"}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, reader := evaluation(t)
			if _, err := reader.Read(podsNamed("child"), nil); err != nil {
				t.Fatal(err)
			}
			if got := reader.Missed(); got != nil {
				t.Errorf("no rule decides by what an action asks: %v", got)
			}
			for _, q := range tc.asked {
				if _, err := reader.Look(q, nil); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, reader.Missed()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReaderSize(t *testing.T) {
	_, reader := evaluation(t)
	if reader.Size() != 0 {
		t.Errorf("nothing was read, and its size is %d", reader.Size())
	}
	want := 0
	for _, q := range []plan.Read{podsNamed("x"), everyPod(), podsNamed("x"), podsNamed("nope")} {
		before := len(reader.Reads())
		found, err := reader.Read(q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(reader.Reads()) > before {
			for _, object := range found {
				want += expression.ObjectSize(object)
			}
		}
		if got := reader.Size(); got != want {
			t.Errorf("after %v the size is %d, want %d", q, got, want)
		}
	}
}

// manyPods are in no order.
func manyPods(n int) lookup.Objects {
	pods := make([]map[string]any, n)
	for i := range pods {
		app := "web"
		if i%10 == 0 {
			app = "db"
		}
		pods[i] = map[string]any{
			"metadata": map[string]any{
				"namespace": "a", "name": fmt.Sprintf("pod-%d", i*7919%n), "uid": types.UID(fmt.Sprint(i)),
				"labels": map[string]any{"app": app},
			},
			"spec": map[string]any{"nodeName": strings.Repeat("n", 100)},
		}
	}
	return lookup.Objects{podsGVR: pods}
}

// TestManyObjects holds that a large list is paid for by its own size: 5,000 are
// within the floor, and 40,000 within what they add themselves.
func TestManyObjects(t *testing.T) {
	q := everyPod()
	for _, tc := range []struct {
		n    int
		lazy bool
	}{{5_000, false}, {40_000, true}} {
		reader := &lookup.Reader{Source: constant(manyPods(tc.n)[podsGVR])}
		budget := value.NewBudget(0)
		if tc.lazy {
			if _, err := reader.Read(q, budget); !errors.Is(err, value.ErrBudget) {
				t.Errorf("%d objects: have %v, want an error of a budget that does not grow", tc.n, err)
			}
			reader = &lookup.Reader{Source: reader.Source}
			budget = value.NewLazyBudget(reader.Size)
		}
		got, err := reader.Read(q, budget)
		if err != nil || len(got) != tc.n {
			t.Errorf("%d objects: have %d and %v", tc.n, len(got), err)
		}
		if !slices.IsSortedFunc(got, func(a, b map[string]any) int {
			return strings.Compare(identities(a).(string), identities(b).(string))
		}) {
			t.Errorf("%d objects are not in order", tc.n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	source := constant(manyPods(5_000)[podsGVR])
	b.ReportAllocs()
	for b.Loop() {
		reader := &lookup.Reader{Source: source}
		if _, err := reader.Read(everyPod(), value.NewBudget(0)); err != nil {
			b.Fatal(err)
		}
	}
}
