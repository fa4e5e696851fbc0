package informer

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var everywhere = Key{GVR: widgets}

// widget is an object as a test changes it.
func widget(namespace, name string, changes ...func(map[string]any)) map[string]any {
	object := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": namespace, "name": name},
	}
	for _, change := range changes {
		change(object)
	}
	return object
}

// with puts a value at a path, where maps are made as they are needed.
func with(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) {
		for _, step := range path[:len(path)-1] {
			inside, _ := object[step].(map[string]any)
			if inside == nil {
				inside = map[string]any{}
				object[step] = inside
			}
			object = inside
		}
		object[path[len(path)-1]] = value
	}
}

func labelled(key string, value any) func(map[string]any) {
	return with(value, "metadata", "labels", key)
}

func controlledBy(uids ...any) func(map[string]any) {
	var references []any
	for _, uid := range uids {
		references = append(references, map[string]any{"kind": "Owner", "uid": uid, "controller": true})
	}
	return with(references, "metadata", "ownerReferences")
}

// names are those of the objects, in order, with their versions.
func names(objects []map[string]any) []string {
	out := make([]string, len(objects))
	for i, object := range objects {
		u := unstructured.Unstructured{Object: object}
		out[i] = strings.Trim(u.GetNamespace()+"/"+u.GetName(), "/")
	}
	slices.Sort(out)
	return out
}

func TestRead(t *testing.T) {
	from := func(keys ...Key) []Key { return keys }
	inA := Key{GVR: widgets, Namespace: "a"}
	red := Key{GVR: widgets, LabelSelector: "color=red"}
	all := from(everywhere)
	field := func(value any, path ...string) plan.FieldValue { return plan.FieldValue{Path: path, Value: value} }
	objects := []map[string]any{
		widget("a", "x", labelled("color", "red"), labelled("size", "big"), with(int64(1), "spec", "n"), controlledBy("u1")),
		widget("a", "y", labelled("color", "blue"), with(1.0, "spec", "n"), with("1", "spec", "text"), controlledBy("u2", "u1")),
		widget("b", "x", labelled("color", "red"), with(false, "spec", "n"), with([]any{"p", "q"}, "spec", "list")),
		widget("b", "z", labelled("color", int64(7)), with(nil, "spec", "n"), controlledBy(int64(7))),
		widget("", "node", labelled("color", "green"), with(1e300, "spec", "n")),
		widget("b", "odd", with("text", "metadata", "labels"), with("text", "spec"), with([]any{"u1", nil}, "metadata", "ownerReferences")),
	}
	tests := map[string]struct {
		reason string
		read   plan.Read
		want   []string
	}{
		"All":               {"All that is there.", plan.Read{From: all, By: plan.ByAll}, []string{"a/x", "a/y", "b/odd", "b/x", "b/z", "node"}},
		"AllInNamespace":    {"All in one namespace.", plan.Read{From: all, By: plan.ByAll, Namespace: "a"}, []string{"a/x", "a/y"}},
		"NoNamespace":       {"There is none.", plan.Read{From: all, By: plan.ByAll, Namespace: "c"}, nil},
		"NothingDeclared":   {"Nobody selects anything.", plan.Read{By: plan.ByAll}, nil},
		"Unknown":           {"There is no such way to ask.", plan.Read{From: all, By: "?"}, nil},
		"Selected":          {"Only what the cache selects.", plan.Read{From: from(red), By: plan.ByAll}, []string{"a/x", "b/x"}},
		"Name":              {"In any namespace.", plan.Read{From: all, By: plan.ByName, Names: []string{"x", "node", "x", "none"}}, []string{"a/x", "b/x", "node"}},
		"NameInNamespace":   {"In one.", plan.Read{From: all, By: plan.ByName, Namespace: "a", Names: []string{"x", "x", "y", "z"}}, []string{"a/x", "a/y"}},
		"NameInCache":       {"The cache has only one.", plan.Read{From: from(inA), By: plan.ByName, Names: []string{"x"}}, []string{"a/x"}},
		"NameOutside":       {"The cache has another.", plan.Read{From: from(inA), By: plan.ByName, Namespace: "b", Names: []string{"x"}}, nil},
		"NoNames":           {"No names find nothing.", plan.Read{From: all, By: plan.ByName}, nil},
		"Labels":            {"Both hold.", plan.Read{From: all, By: plan.ByLabels, Labels: "color=red,size=big"}, []string{"a/x"}},
		"LabelsInNamespace": {"It holds in the namespace.", plan.Read{From: all, By: plan.ByLabels, Namespace: "b", Labels: "color=red"}, []string{"b/x"}},
		"LabelIn":           {"Either holds.", plan.Read{From: all, By: plan.ByLabels, Labels: "color in (red, blue),size notin (big)"}, []string{"a/y", "b/x"}},
		"LabelExists":       {"Whatever it is.", plan.Read{From: all, By: plan.ByLabels, Labels: "size"}, []string{"a/x"}},
		"LabelMissing":      {"It is not there.", plan.Read{From: all, By: plan.ByLabels, Labels: "!size,color=red"}, []string{"b/x"}},
		"LabelNot":          {"No index knows what is not.", plan.Read{From: all, By: plan.ByLabels, Labels: "color!=red"}, []string{"a/y", "b/odd", "b/z", "node"}},
		"LabelNoText":       {"What is no text is empty.", plan.Read{From: all, By: plan.ByLabels, Labels: "color="}, []string{"b/z"}},
		"NoLabels":          {"A selection never widens by accident.", plan.Read{From: all, By: plan.ByLabels}, nil},
		"WrongLabels":       {"What cannot be read selects nothing.", plan.Read{From: all, By: plan.ByLabels, Labels: "color in red"}, nil},
		"Field":             {"Numbers are equal in any type.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field(1, "spec", "n")}}, []string{"a/x", "a/y"}},
		"Fields":            {"Both hold.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field(1.0, "spec", "n"), field("1", "spec", "text")}}, []string{"a/y"}},
		"FieldText":         {"A text is no number.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field("1", "spec", "n")}}, nil},
		"FieldFalse":        {"False is not absent.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field(false, "spec", "n")}}, []string{"b/x"}},
		"FieldNull":         {"Nor is null.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field(nil, "spec", "n")}}, []string{"b/z"}},
		"FieldOfList":       {"By its index.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field("q", "spec", "list", "1")}}, []string{"b/x"}},
		"FieldWhole":        {"A list is found as well.", plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{field([]any{"p", "q"}, "spec", "list")}}, []string{"b/x"}},
		"NoFields":          {"No fields find nothing.", plan.Read{From: all, By: plan.ByFields}, nil},
		"Owner":             {"It is the first controller.", plan.Read{From: all, By: plan.ByOwner, Owners: []types.UID{"u1", "none"}}, []string{"a/x"}},
		"OwnerInNamespace":  {"And in the namespace.", plan.Read{From: all, By: plan.ByOwner, Namespace: "b", Owners: []types.UID{"u1", "u2"}}, nil},
		"NoOwners":          {"Nobody owns nothing.", plan.Read{From: all, By: plan.ByOwner}, nil},
		"NoOwner":           {"No uid is nobody's.", plan.Read{From: all, By: plan.ByOwner, Owners: []types.UID{""}}, nil},
		"SeveralCaches":     {"Each object once.", plan.Read{From: from(red, inA, everywhere, red), By: plan.ByLabels, Labels: "color in (red, blue)"}, []string{"a/x", "a/y", "b/x"}},
		"TwoNamespaces":     {"The cache of another namespace has no answer.", plan.Read{From: from(inA, Key{GVR: widgets, Namespace: "b"}), By: plan.ByAll, Namespace: "a"}, []string{"a/x", "a/y"}},
	}
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		for _, object := range objects {
			server.put(object)
		}
		set, _ := begin(t, server, everywhere, inA, red)
		synctest.Wait()
		for name, tc := range tests {
			got, err := set.Read(tc.read)
			if diff := cmp.Diff(append([]string{}, tc.want...), names(got)); diff != "" || err != nil {
				t.Errorf("%s: %s %v (-want +got):\n%s", name, tc.reason, err, diff)
			}
		}
	})
}

// TestReadNotSynced holds that an answer is whole or none: unsynced is not empty.
func TestReadNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, late := &api{}, Key{GVR: widgets, LabelSelector: "late"}
		server.hold(late, true)
		set, _ := begin(t, server, everywhere, late)
		synctest.Wait()
		never := Key{GVR: widgets, LabelSelector: "never"}
		for _, key := range []Key{late, never} {
			q := plan.Read{From: []plan.Selection{everywhere, key}, By: plan.ByAll}
			if _, err := set.Read(q); !errors.Is(err, lookup.ErrNotSynced) || !strings.Contains(err.Error(), key.String()) {
				t.Errorf("%s: %v", key, err)
			}
			if version := set.Version(key); version != "" {
				t.Errorf("%s has seen up to %s", key, version)
			}
		}
		server.hold(late, false)
		synctest.Wait()
		if _, err := set.Read(plan.Read{From: []plan.Selection{late}, By: plan.ByAll}); err != nil {
			t.Errorf("the cache is complete: %v", err)
		}
	})
}

// TestReadOfStopped holds that who reads a cache that stops meanwhile finds what it had, by a new index too.
func TestReadOfStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		synctest.Wait()
		r := set.running[everywhere]
		r.stop()
		synctest.Wait()
		if found, err := r.candidates(plan.Read{By: plan.ByName, Names: []string{"x"}}); err != nil || len(found) != 1 {
			t.Errorf("an informer that has stopped has %v: %v", found, err)
		}
	})
}

// TestReadTakesTheNewestCopy holds that a cache that lags behind neither adds an
// object that has changed since nor hides one.
func TestReadTakesTheNewestCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lagging := &api{}, Key{GVR: widgets, Namespace: "a"}
		server.put(widget("a", "x", labelled("color", "red")))
		set, _ := begin(t, server, everywhere, lagging)
		synctest.Wait()
		server.hold(lagging, true)
		server.put(widget("a", "x", labelled("color", "blue")))
		synctest.Wait()
		for _, from := range [][]plan.Selection{
			{everywhere, lagging}, {lagging, everywhere},
		} {
			for color, want := range map[string]int{"red": 0, "blue": 1} {
				got, err := set.Read(plan.Read{From: from, By: plan.ByLabels, Labels: "color=" + color})
				if err != nil || len(got) != want {
					t.Errorf("%s: found %v %v", color, names(got), err)
				}
			}
		}
		if got, err := set.Read(plan.Read{From: []plan.Selection{lagging}, By: plan.ByLabels, Labels: "color=red"}); err != nil || len(got) != 1 {
			t.Errorf("of the cache alone that lags behind: %v %v", names(got), err)
		}
	})
}

// TestReadIsACopy holds that who reads an object cannot change it.
func TestReadIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &api{}
		server.put(widget("a", "x"))
		set, _ := begin(t, server, everywhere)
		synctest.Wait()
		got, err := set.Read(plan.Read{From: []plan.Selection{everywhere}, By: plan.ByAll})
		if err != nil {
			t.Fatal(err)
		}
		got[0]["shape"] = "changed"
		if shape := set.View(everywhere, "a", "x").Object.Fields()["shape"]; shape != nil {
			t.Errorf("who changes an answer changes what the cache shows: %v", shape)
		}
	})
}
