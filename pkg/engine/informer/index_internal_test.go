package informer

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestIndexesOnDemand holds that a cache pays for what is asked of it and no more,
// however much a rule may compute to ask.
func TestIndexesOnDemand(t *testing.T) {
	field := func(name string, value any) []plan.FieldValue {
		return []plan.FieldValue{{Path: plan.Path{"spec", name}, Value: value}}
	}
	steps := []struct {
		reason string
		read   plan.Read
		want   int // indexes from then on
	}{
		{"Everything needs no index.", plan.Read{By: plan.ByAll}, 0},
		{"A name in a namespace is a key.", plan.Read{By: plan.ByName, Namespace: "a", Names: []string{"x"}}, 0},
		{"What a label must not be is not indexed.", plan.Read{By: plan.ByLabels, Labels: "color!=red"}, 0},
		{"A name anywhere needs one.", plan.Read{By: plan.ByName, Names: []string{"x"}}, 1},
		{"Another name is in the same.", plan.Read{By: plan.ByName, Names: []string{"y", "z"}}, 1},
		{"So is the question again.", plan.Read{By: plan.ByName, Names: []string{"x"}}, 1},
		{"A label.", plan.Read{By: plan.ByLabels, Labels: "color=red"}, 2},
		{"Another value.", plan.Read{By: plan.ByLabels, Labels: "color in (blue, red)"}, 2},
		{"Within a namespace.", plan.Read{By: plan.ByLabels, Namespace: "a", Labels: "color=red"}, 3},
		{"Another namespace.", plan.Read{By: plan.ByLabels, Namespace: "b", Labels: "color=red"}, 3},
		{"A label that is there.", plan.Read{By: plan.ByLabels, Labels: "color"}, 4},
		{"Or is not.", plan.Read{By: plan.ByLabels, Labels: "!color"}, 4},
		{"A field.", plan.Read{By: plan.ByFields, Fields: field("a", 1)}, 5},
		{"Another value.", plan.Read{By: plan.ByFields, Fields: field("a", "1")}, 5},
		{"Another field.", plan.Read{By: plan.ByFields, Fields: field("b", 1)}, 6},
		{"An owner.", plan.Read{By: plan.ByOwner, Owners: owners("u")}, 7},
		{"A namespace.", plan.Read{By: plan.ByAll, Namespace: "a"}, 8},
	}
	synctest.Test(t, func(t *testing.T) {
		set, _ := begin(t, &api{}, everywhere)
		synctest.Wait()
		for _, step := range steps {
			step.read.From = []plan.Selection{everywhere}
			if _, err := set.Read(step.read); err != nil {
				t.Fatal(err)
			}
			if got := len(set.running[everywhere].indexer.GetIndexers()); got != step.want {
				t.Errorf("%s There are %d, want %d", step.reason, got, step.want)
			}
		}
	})
}

func TestIndexesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		for i := range 3 * maxIndexes {
			server.put(widget("a", fmt.Sprintf("x%d", i), labelled(fmt.Sprintf("key-%d", i), "v"), with("v", "spec", fmt.Sprint(i))))
		}
		set, _ := begin(t, server, everywhere)
		synctest.Wait()
		from := []plan.Selection{everywhere}
		for i := range 3 * maxIndexes {
			for _, q := range []plan.Read{
				{From: from, By: plan.ByLabels, Labels: fmt.Sprintf("key-%d=v", i)},
				{From: from, By: plan.ByLabels, Namespace: "a", Labels: fmt.Sprintf("key-%d", i)},
				{From: from, By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"spec", fmt.Sprint(i)}, Value: "v"}}},
			} {
				got, err := set.Read(q)
				if diff := cmp.Diff([]string{fmt.Sprintf("a/x%d", i)}, names(got)); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", q.Key(), err, diff)
				}
			}
		}
		if _, err := set.Read(plan.Read{From: from, By: plan.ByName, Names: []string{"x1"}}); err != nil {
			t.Error(err)
		}
		indexes := set.running[everywhere].indexer.GetIndexers()
		byName, inNamespace := indexName(plan.Requirement{Key: plan.IndexKey{By: plan.ByName}}), indexName(plan.InNamespace("a"))
		if len(indexes) != maxIndexes+2 || indexes[byName] == nil || indexes[inNamespace] == nil {
			t.Errorf("there are %d indexes, want %d and those that every rule may need", len(indexes), maxIndexes)
		}
	})
}

// TestManyOffers holds that a question does not look up more entries than it is
// worth.
func TestManyOffers(t *testing.T) {
	offers := func(key string, count int) string {
		values := make([]string, count)
		for i := range values {
			values[i] = fmt.Sprint(i)
		}
		return key + " in (" + strings.Join(values, ",") + ")"
	}
	tests := map[string]struct {
		reason   string
		selector string
		want     int
	}{
		"Product":  {"Every combination is an entry.", offers("a", 4) + "," + offers("b", 8), 32},
		"Limit":    {"As many as are allowed.", offers("a", 16) + "," + offers("b", 16), 256},
		"Over":     {"The second is judged object by object.", offers("a", 16) + "," + offers("b", 17), 16},
		"OverThen": {"A later one can still help.", offers("a", 16) + "," + offers("b", 17) + ",c=1,d", 16},
		"Alone":    {"No index at all.", offers("a", 257), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			required, possible := plan.Read{By: plan.ByLabels, Labels: tc.selector}.Requirements()
			if got := entriesOf(affordable(required)); len(got) != tc.want || !possible {
				t.Errorf("%s There are %d, want %d", tc.reason, len(got), tc.want)
			}
		})
	}
}

// TestIndexNames holds that different indexes are not taken for one another.
func TestIndexNames(t *testing.T) {
	fields := func(paths ...plan.Path) (out []plan.FieldValue) {
		for _, path := range paths {
			out = append(out, plan.FieldValue{Path: path, Value: 1})
		}
		return out
	}
	seen := map[string]string{}
	for name, q := range map[string]plan.Read{
		"Name":        {By: plan.ByName, Names: []string{"x"}},
		"Owner":       {By: plan.ByOwner, Owners: owners("x")},
		"Label":       {By: plan.ByLabels, Labels: "name=x"},
		"HasLabel":    {By: plan.ByLabels, Labels: "name"},
		"Labels":      {By: plan.ByLabels, Labels: "a=1,name=x"},
		"Field":       {By: plan.ByFields, Fields: fields(plan.Path{"name"})},
		"FieldSlash":  {By: plan.ByFields, Fields: fields(plan.Path{"a/b"})},
		"FieldPath":   {By: plan.ByFields, Fields: fields(plan.Path{"a", "b"})},
		"Fields":      {By: plan.ByFields, Fields: fields(plan.Path{"a"}, plan.Path{"b"})},
		"FieldQuotes": {By: plan.ByFields, Fields: fields(plan.Path{`a" field "/b`})},
	} {
		required, _ := q.Requirements()
		for _, all := range [][]plan.Requirement{required, append([]plan.Requirement{plan.InNamespace("a")}, required...)} {
			key := indexName(all...)
			if other, twice := seen[key]; twice {
				t.Errorf("%s and %s have the index %s", name, other, key)
			}
			seen[key] = name
		}
	}
}

// TestIndexOfOddObjects holds that no object makes an index fail, which would end the
// process.
func TestIndexOfOddObjects(t *testing.T) {
	keys := []plan.Requirement{plan.InNamespace("a")}
	for _, q := range []plan.Read{
		{By: plan.ByName, Names: []string{"x"}},
		{By: plan.ByOwner, Owners: owners("x")},
		{By: plan.ByLabels, Labels: "a=x,b,!c"},
		{By: plan.ByFields, Fields: []plan.FieldValue{{Value: 1}, {Path: plan.Path{"spec", "-1"}}, {Path: plan.Path{"spec", "99"}}, {Path: plan.Path{""}}}},
	} {
		of, _ := q.Requirements()
		keys = append(keys, of...)
	}
	objects := []any{nil, 1, &unstructured.Unstructured{}}
	for _, odd := range []any{nil, "x", int64(1), math.NaN(), []any{}, []any{nil, "x", []any{}, map[string]any{"controller": "true"}}, map[string]any{}} {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"metadata": odd, "spec": odd}})
		for _, field := range []string{"name", "namespace", "labels", "ownerReferences"} {
			objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{field: odd}}})
		}
	}
	for i := range keys {
		for _, object := range objects {
			if _, err := indexOver(keys[i : i+1])(object); err != nil {
				t.Errorf("%s of %v: %v", keys[i].Key, object, err)
			}
		}
	}
}

func owners(uids ...types.UID) []types.UID { return uids }
