package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// gitTool does to an object what a tool does that keeps it as it is in git.
type gitTool interface {
	// sync reconciles the object once, and returns it as it is stored after that, nil if nothing was written.
	sync(t *testing.T, gvr schema.GroupVersionResource, namespace, git string) *unstructured.Unstructured
	// manager is the field manager of the tool.
	manager() string
}

// flux is the kustomize-controller of Flux 2.9, which applies as github.com/fluxcd/pkg/ssa v0.84.0 does: with force, unless a dry run shows
// no difference.
type flux struct {
	ignore []string // JSON pointers of spec.ignore
}

const fluxManager = "kustomize-controller"

func (flux) manager() string { return fluxManager }

func (f flux) sync(t *testing.T, gvr schema.GroupVersionResource, namespace, git string) *unstructured.Unstructured {
	t.Helper()
	c, object, live := ofGit(t, gvr, namespace, git)
	policy := object.GetAnnotations()["kustomize.toolkit.fluxcd.io/ssa"]
	if live == nil {
		return must(c.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: fluxManager, Force: true}))(t)
	}
	if policy == "IfNotPresent" {
		return nil
	}
	predicted := must(c.Apply(t.Context(), object.GetName(), object,
		metav1.ApplyOptions{FieldManager: fluxManager, Force: true, DryRun: []string{metav1.DryRunAll}}))(t)
	moved := policy != "Merge" && takesOverFromKubectl(t, c, live)
	if !moved && equality.Semantic.DeepEqual(withoutPaths(live, f.ignore), withoutPaths(predicted, f.ignore)) {
		return nil
	}
	for _, pointer := range f.ignore { // It applies what is live, where no other manager has applied the field.
		copyField(live, object, strings.Split(pointer, "/")[1:])
	}
	return must(c.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: fluxManager, Force: true}))(t)
}

// takesOverFromKubectl moves to Flux what was written with kubectl, whatever its command, so that the next apply removes what is not in git.
func takesOverFromKubectl(t *testing.T, c dynamic.ResourceInterface, live *unstructured.Unstructured) bool {
	t.Helper()
	managers := sets.New[string]()
	for _, entry := range live.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" && strings.HasPrefix(entry.Manager, "kubectl") {
			managers.Insert(entry.Manager)
		}
	}
	if managers.Len() == 0 {
		return false
	}
	patch := must(csaupgrade.UpgradeManagedFieldsPatch(live, managers, fluxManager))(t)
	must(c.Patch(t.Context(), live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fluxManager}))(t)
	return true
}

// argo is the application controller of Argo CD 3.6 with selfHeal.
type argo struct {
	serverSide     bool     // ServerSideApply=true
	ignoreManagers []string // ignoreDifferences.managedFieldsManagers
	ignorePointers []string // ignoreDifferences.jsonPointers
	respect        bool     // RespectIgnoreDifferences=true
}

const argoManager = "argocd-controller"

func (argo) manager() string { return argoManager }

func (a argo) sync(t *testing.T, gvr schema.GroupVersionResource, namespace, git string) *unstructured.Unstructured {
	t.Helper()
	c, object, live := ofGit(t, gvr, namespace, git)
	switch {
	case live == nil && a.serverSide:
		return must(c.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: argoManager, Force: true}))(t)
	case live == nil:
		return must(c.Create(t.Context(), withLastApplied(t, object), metav1.CreateOptions{FieldManager: argoManager}))(t)
	}
	// What is ignored is compared as it is live. It is applied so too with RespectIgnoreDifferences.
	wanted := object.DeepCopy()
	for _, path := range a.ignored(t, live, object) {
		copyField(live, wanted, path)
	}
	predicted := a.apply(t, c, live, wanted, metav1.DryRunAll)
	if equality.Semantic.DeepEqual(withoutPaths(live, nil), withoutPaths(predicted, nil)) {
		return nil
	}
	if !a.respect {
		wanted = object
	}
	return a.apply(t, c, live, wanted)
}

// ignored are the fields that ignoreDifferences names: those that differ and belong to a manager, and those of JSON pointers.
func (a argo) ignored(t *testing.T, live, object *unstructured.Unstructured) (out [][]string) {
	t.Helper()
	is := must(typed.DeducedParseableType.FromUnstructured(live.Object))(t)
	wanted := must(typed.DeducedParseableType.FromUnstructured(object.Object))(t)
	modified := must(is.Compare(wanted))(t).Modified
	for _, entry := range live.GetManagedFields() {
		if !slices.Contains(a.ignoreManagers, entry.Manager) {
			continue
		}
		owned := &fieldpath.Set{}
		if err := owned.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			t.Fatal(err)
		}
		owned.Intersection(modified).Iterate(func(path fieldpath.Path) {
			var names []string
			for _, element := range path {
				if element.FieldName != nil {
					names = append(names, *element.FieldName)
				}
			}
			out = append(out, names)
		})
	}
	for _, pointer := range a.ignorePointers {
		out = append(out, strings.Split(pointer, "/")[1:])
	}
	return out
}

// apply applies an object with server-side apply, or as kubectl apply does without: by the three-way merge of what was applied last, what
// is wanted and what is.
func (a argo) apply(t *testing.T, c dynamic.ResourceInterface, live, object *unstructured.Unstructured, dryRun ...string) *unstructured.Unstructured {
	t.Helper()
	if a.serverSide {
		options := metav1.ApplyOptions{FieldManager: argoManager, Force: true, DryRun: dryRun}
		return must(c.Apply(t.Context(), object.GetName(), object, options))(t)
	}
	last := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	wanted, is := encoded(t, withLastApplied(t, object)), encoded(t, live)
	var patch []byte
	kind := types.MergePatchType
	if live.GetKind() == "Deployment" {
		kind = types.StrategicMergePatchType
		meta := must(strategicpatch.NewPatchMetaFromStruct(appsv1.Deployment{}))(t)
		patch = must(strategicpatch.CreateThreeWayMergePatch(last, wanted, is, meta, true))(t)
	} else { // Of custom resources, lists are whole.
		patch = must(jsonmergepatch.CreateThreeWayJSONMergePatch(last, wanted, is))(t)
	}
	return must(c.Patch(t.Context(), live.GetName(), kind, patch, metav1.PatchOptions{FieldManager: argoManager, DryRun: dryRun}))(t)
}

// withLastApplied is an object with the annotation of kubectl apply.
func withLastApplied(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := object.DeepCopy()
	annotations := map[string]string{corev1.LastAppliedConfigAnnotation: string(encoded(t, object))}
	maps.Copy(annotations, object.GetAnnotations())
	out.SetAnnotations(annotations)
	return out
}

// ofGit is an object as it is in git and live; live is nil if there is none.
func ofGit(t *testing.T, gvr schema.GroupVersionResource, namespace, git string) (c dynamic.ResourceInterface, object, live *unstructured.Unstructured) {
	t.Helper()
	object = &unstructured.Unstructured{Object: decode(t, git)}
	object.SetNamespace(namespace)
	c = client(t).Resource(gvr).Namespace(namespace)
	live, err := c.Get(t.Context(), object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return c, object, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, object, live
}

// withoutPaths is an object without some fields, and without what tools do not compare.
func withoutPaths(object *unstructured.Unstructured, pointers []string) map[string]any {
	out := object.DeepCopy()
	others := []string{"/metadata/managedFields", "/metadata/resourceVersion", "/metadata/generation", "/status"}
	for _, pointer := range slices.Concat(pointers, others) {
		unstructured.RemoveNestedField(out.Object, strings.Split(pointer, "/")[1:]...)
	}
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	return out.Object
}

// copyField gives an object a field of another one, if both have it.
func copyField(from, to *unstructured.Unstructured, path []string) {
	value, there, _ := unstructured.NestedFieldCopy(from.Object, path...)
	if _, wanted, _ := unstructured.NestedFieldNoCopy(to.Object, path...); there && wanted {
		_ = unstructured.SetNestedField(to.Object, value, path...) // Its parents are maps: it is there.
	}
}

func encoded(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	data, err := json.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// must is the result of a call that a test cannot go on without.
func must[T any](result T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}
