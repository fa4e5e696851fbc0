package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// TestBuiltinStored holds what is known of built-in kinds against what the API server
// stores of the least that can be written of them.
func TestBuiltinStored(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, serviceaccounts, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`)
	data, err := os.ReadFile("testdata/builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(strings.ReplaceAll(string(data), "NAMESPACE", namespace), "---\n") {
		object := &unstructured.Unstructured{Object: decode(t, text)}
		t.Run(object.GetAPIVersion()+"/"+object.GetKind(), func(t *testing.T) {
			known := builtinOf(object.GroupVersionKind())
			if known == nil {
				t.Fatal("it is not known")
			}
			for _, complaint := range complaints(known, stored(t, known, namespace, object).Object) {
				t.Error(complaint)
			}
		})
	}
}

func builtinOf(gvk apischema.GroupVersionKind) *schema.Resource {
	for _, name := range builtin.Source().Resources() {
		if name.GroupVersion() == gvk.GroupVersion() && name.Kind == gvk.Kind {
			return builtin.Source().Resource(name.GroupVersionResource)
		}
	}
	return nil
}

// stored creates an object, removes it at the end of the test, and returns what the API
// server stores of it.
func stored(t *testing.T, known *schema.Resource, namespace string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	in := client(t).Resource(known.GroupVersionResource).Namespace("")
	if known.Namespaced {
		in = client(t).Resource(known.GroupVersionResource).Namespace(namespace)
	}
	out, err := in.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Delete(context.WithoutCancel(t.Context()), out.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return out
}

// TestBuiltinThere holds the same against all that there is in the cluster, which its
// own components have made.
func TestBuiltinThere(t *testing.T) {
	alongside(t)
	objects, kinds := 0, 0
	for _, name := range builtin.Source().Resources() {
		known := builtin.Source().Resource(name.GroupVersionResource)
		if !slices.Contains(known.Verbs, "watch") {
			continue // Nobody stores them.
		}
		list, err := client(t).Resource(name.GroupVersionResource).List(t.Context(), metav1.ListOptions{Limit: 200})
		switch {
		case apierrors.IsNotFound(err):
			continue // It is not served, unless it is turned on.
		case err != nil:
			t.Fatal(err)
		case len(list.Items) > 0:
			kinds++
		}
		for i := range list.Items {
			objects++
			for _, complaint := range complaints(known, list.Items[i].Object) {
				t.Errorf("%s %s: %s", name.Resource, list.Items[i].GetName(), complaint)
			}
		}
	}
	t.Logf("%d objects of %d kinds", objects, kinds)
	if kinds < 10 || objects < 100 {
		t.Errorf("%d objects of %d kinds prove little", objects, kinds)
	}
}

// complaints are what is wrong with what is known of an object that is stored: it is
// right, nothing that is always there is missing, and it is stored as it is stored.
func complaints(known *schema.Resource, stored map[string]any) []string {
	var out []string
	for _, v := range known.Type.Validate(stored, schema.Whole) {
		out = append(out, fmt.Sprintf("%v is taken for wrong: %s", v.Path, v.Message))
	}
	out = append(out, missing("", known.Type, stored)...)
	if diff := cmp.Diff(withoutNulls(stored), known.Type.Canonical(stored)); diff != "" {
		out = append(out, "it would be stored as something else (-stored +canonical):\n"+diff)
	}
	return out
}

// withoutNulls leaves out the nulls of maps, which some Go types write where there is
// nothing: no rule can tell them from nothing.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, element := range v {
			if element != nil {
				out[key] = withoutNulls(element)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutNulls(element)
		}
		return out
	default:
		return v
	}
}

// missing lists the fields that are always there, and are not.
func missing(path string, t *schema.Type, v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range t.Names() {
			f := t.Map.Fields[name]
			if _, there := v[name]; !there && f.Always && !generated(path, name) {
				out = append(out, path+"."+name+" is always there, and is not")
			}
		}
		for key, element := range v {
			if f, possible := t.Field(key); possible {
				out = append(out, missing(path+"."+key, f.Type, element)...)
			}
		}
	case []any:
		for i, element := range v {
			out = append(out, missing(fmt.Sprintf("%s[%d]", path, i), t.Items(), element)...)
		}
	}
	return out
}

// generated reports whether a field is one that the language takes for present, as
// rules.md says, though some kinds do not have it: nil is what reading it gives.
func generated(path, name string) bool {
	return path == ".metadata" && (name == "generation" || name == "namespace")
}

// TestBuiltinServed holds which resources there are, what can be done with them, and
// their fields against what the API server says of itself.
func TestBuiltinServed(t *testing.T) {
	alongside(t)
	var wanted []apischema.GroupVersionResource
	for _, name := range builtin.Source().Resources() {
		wanted = append(wanted, name.GroupVersionResource)
	}
	asked, err := discovery.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	said, err := discovery.Ask(t.Context(), asked, wanted)
	if err != nil {
		t.Fatal(err)
	}
	served, seen := 0, map[*schema.Type]bool{}
	for _, gvr := range wanted {
		known, live := builtin.Source().Resource(gvr), said.Resource(gvr)
		if live == nil {
			continue // It has to be turned on.
		}
		served++
		if diff := cmp.Diff(summary(live), summary(known)); diff != "" {
			t.Errorf("%s (-served +known):\n%s", gvr, diff)
		}
		for _, differs := range fieldsDiffer(gvr.Resource, live.Type, known.Type, seen) {
			t.Error(differs)
		}
	}
	for _, name := range said.Resources() {
		if builtin.Source().Whole(name.Group) && builtin.Source().Resource(name.GroupVersionResource) == nil {
			t.Errorf("%s is served, and not known", name.GroupVersionResource)
		}
	}
	t.Logf("%d of %d built-in resources are served, with %d types", served, len(wanted), len(seen))
	if served < 70 || len(seen) < 500 {
		t.Error("that proves little")
	}
}

func summary(r *schema.Resource) []any {
	return []any{r.Kind, r.Namespaced, slices.Sorted(slices.Values(r.Verbs)), slices.Sorted(maps.Keys(r.Subresources))}
}

// fieldsDiffer compares the fields of two types, all the way down.
func fieldsDiffer(path string, live, known *schema.Type, seen map[*schema.Type]bool) (out []string) {
	if live == nil || known == nil || seen[known] || !live.Known() || !known.Known() {
		return nil
	}
	seen[known] = true
	for _, name := range live.Names() {
		f, there := known.Field(name)
		if !there {
			out = append(out, path+"."+name+" is served, and not known")
			continue
		}
		out = append(out, fieldsDiffer(path+"."+name, live.Map.Fields[name].Type, f.Type, seen)...)
	}
	for _, name := range known.Names() {
		if _, there := live.Field(name); !there {
			out = append(out, path+"."+name+" is known, and not served")
		}
	}
	if live.Map != nil && known.Map != nil {
		out = append(out, fieldsDiffer(path+"{}", live.Map.Values, known.Map.Values, seen)...)
	}
	return append(out, fieldsDiffer(path+"[]", live.Items(), known.Items(), seen)...)
}
