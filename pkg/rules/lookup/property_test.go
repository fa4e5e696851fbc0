package lookup_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// drawPods draws pods with few different names, labels, fields and owners, no two
// of one name in a namespace.
func drawPods(t *rapid.T) []map[string]any {
	one := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
	var out []map[string]any
	seen := map[string]bool{}
	for range rapid.IntRange(0, 12).Draw(t, "pods") {
		namespace, name := one("namespace", "a", "b"), one("name", "k", "l", "m", "k-1", "web")
		if seen[namespace+name] {
			continue
		}
		seen[namespace+name] = true
		out = append(out, map[string]any{
			"metadata": map[string]any{
				"namespace": namespace, "name": name, "uid": "u-" + namespace + name,
				"labels":          map[string]any{"app": one("app", "web", "db")},
				"ownerReferences": []any{map[string]any{"uid": one("owner", "u-w", "u-x"), "controller": rapid.Bool().Draw(t, "controller")}},
			},
			"spec": map[string]any{"nodeName": one("node", "n1", "n2")},
		})
	}
	return out
}

// TestFindsWhatMatches compares each form with a plain look at every pod, and
// holds that the order in which the source answers does not matter.
func TestFindsWhatMatches(t *testing.T) {
	metadata := func(pod map[string]any, key string) any { return pod["metadata"].(map[string]any)[key] }
	forms := map[string]func(pod map[string]any) bool{
		`{resource: pods, names: [k, "${object.spec.app}"]}`: func(pod map[string]any) bool {
			return slices.Contains([]any{"k", "web"}, metadata(pod, "name"))
		},
		`{resource: pods, matchLabels: {app: "${object.spec.app}"}}`: func(pod map[string]any) bool {
			return metadata(pod, "labels").(map[string]any)["app"] == "web"
		},
		`{resource: pods, selector: {matchExpressions: [{key: app, operator: NotIn, values: ["${object.spec.app}"]}]}}`: func(pod map[string]any) bool {
			return metadata(pod, "labels").(map[string]any)["app"] != "web"
		},
		`{resource: pods, matchFields: {spec.nodeName: n1}}`: func(pod map[string]any) bool {
			return pod["spec"].(map[string]any)["nodeName"] == "n1"
		},
		`{resource: pods, ownedBy: object}`: func(pod map[string]any) bool {
			reference := metadata(pod, "ownerReferences").([]any)[0].(map[string]any)
			controller, _ := reference["controller"].(bool)
			return controller && reference["uid"] == "u-w"
		},
		`{resource: pods, all: true}`: func(map[string]any) bool { return true },
	}
	compiled := map[string]*lookup.Lookup{}
	for text := range forms {
		compiled[text] = compile(t, text, declared(""))
	}
	values := valuesOf(t)
	rapid.Check(t, func(t *rapid.T) {
		pods := drawPods(t)
		shuffled := rapid.Permutation(pods).Draw(t, "order")
		for text, matches := range forms {
			want := []string{}
			for _, pod := range pods {
				if metadata(pod, "namespace") == "a" && matches(pod) {
					want = append(want, fmt.Sprintf("a/%v", metadata(pod, "name")))
				}
			}
			slices.Sort(want)
			for _, source := range [][]map[string]any{pods, shuffled} {
				reader := &lookup.Reader{Source: lookup.Objects{podsGVR: source}, Kinds: kinds, Home: home}
				got, err := compiled[text].Evaluate(&expression.Evaluation{Names: values}, reader)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, identities(got)); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", text, diff)
				}
			}
		}
	})
}

// TestNamesAreFoundOrMissed holds that every name that was asked for is either
// found or missed, and never both.
func TestNamesAreFoundOrMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reader := &lookup.Reader{Source: lookup.Objects{podsGVR: drawPods(t)}, Kinds: kinds, Home: home}
		asked := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"k", "l", "m", "n", "o"}), rapid.ID).Draw(t, "names")
		found, err := reader.Look(podsNamed(asked...), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, pod := range found {
			name, _ := pod["metadata"].(map[string]any)["name"].(string)
			got = append(got, name)
		}
		for _, q := range reader.Missed() {
			got = append(got, q.Names...)
		}
		slices.Sort(got)
		slices.Sort(asked)
		if !slices.Equal(got, asked) {
			t.Fatalf("asked for %v, found or missed %v", asked, got)
		}
	})
}

// TestConcurrentUse evaluates one lookup on many objects at once, as workers do.
func TestConcurrentUse(t *testing.T) {
	r := compile(t, `{resource: pods, matchLabels: {app: "${object.spec.app}"}, namespace: "${object.spec.other}"}`, declared(""))
	values, source := valuesOf(t), worldObjects(t)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 50 {
				reader := &lookup.Reader{Source: source, Kinds: kinds, Home: home}
				got, err := r.Evaluate(&expression.Evaluation{Names: values}, reader)
				if diff := cmp.Diff([]string{"b/x", "b/xa"}, identities(got)); diff != "" || err != nil {
					t.Errorf("have %v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
	workers.Wait()
}

// TestPlaces holds that errors point into the lines of a real file.
func TestPlaces(t *testing.T) {
	const text = `resource: pods
matchLabels:
  app.kubernetes.io/name: >-
    ${object.metadata.name}-
    ${object.spec.app}
  tier: ${object.spec.other}
`
	e, reader := evaluation(t)
	_, err := compile(t, text, declared("")).Evaluate(e, reader)
	const want = `w.yaml:3:27: matchLabels["app.kubernetes.io/name"]: "w- web" cannot be the value of a label: `
	if got := message(err); len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("have %q, want %q", got, want)
	}
	const hop = `resource: pods
ownedBy: objects
namespace: ${rule.nam.e}
`
	_, errs := lookup.Compile("found", parse(t, hop), scope, declared(""))
	const wantHop = `w.yaml:2:10: ownedBy: unknown name "objects"
  2 | ownedBy: objects
    |          ^^^^^^^
  hint: did you mean "object"?
`
	if diff := cmp.Diff(wantHop, errs.Render()); diff != "" {
		t.Errorf("the error (-want +got):\n%s", diff)
	}
}
