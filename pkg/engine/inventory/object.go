package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Object is a [Part] in the status of the object that a set is, for what this set has left, and which of its rules are paused; which it asks to
// resume is in an annotation. While there is something left, [v1alpha1.Finalizer] keeps the object from being gone before it is cleaned up; a
// set that has left nothing has no such finalizer. Any update sees to that, also one that changes nothing.
//
// It takes the rights to get and patch the object, and to patch its status.
type Object struct {
	client     dynamic.ResourceInterface // of the sets of its kind and namespace
	set        plan.Rule
	uid        types.UID
	generation int64
}

// ErrChanged says that the API server has another version of a set object than the one by which somebody wants to change
// its inventory, or to clean up. It passes when the watch of set objects shows that version.
var ErrChanged = errors.New("the set object has changed, and its new version is not in effect here yet")

// ErrGone says that a set is gone, or about to be with nothing to keep it, so that it can not be noted what its rules are
// about to leave.
var ErrGone = errors.New("the set is gone, so nothing would be cleaned up that its rules leave now")

// ErrAsked says that a book is stored, but that the annotation could not be changed by which the set asks rules to resume.
var ErrAsked = errors.New("the annotation " + spec.ResumeAnnotation + " still names rules that it has been answered for")

// NewObject returns the part of a set, which is a rule without a name, for one version of its object, or without a uid for any.
// Where the API server has another one, nothing is read or written: the error is [ErrChanged].
func NewObject(client dynamic.ResourceInterface, set plan.Rule, uid types.UID, generation int64) *Object {
	return &Object{client, set.OfSet(), uid, generation}
}

// String names the object.
func (o *Object) String() string { return o.set.SetName() }

// Read implements [Part]. What is gone has an empty book. One that is not empty cannot replace it, which is [ErrGone].
func (o *Object) Read(ctx context.Context) (Book, Replace, error) {
	stored, err := o.client.Get(ctx, o.set.Set, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		stored, err = &unstructured.Unstructured{}, nil
	case err == nil && o.uid != "" && (o.uid != stored.GetUID() || o.generation != stored.GetGeneration()):
		err = ErrChanged
	}
	var before Book
	if err == nil {
		before, err = o.decode(stored)
	}
	if err != nil {
		return Book{}, nil, fmt.Errorf("reading the inventory of %s: %w", o, err)
	}
	return before, func(ctx context.Context, after Book) (Book, error) {
		now, err := o.replace(ctx, stored, before, after)
		if err != nil {
			err = fmt.Errorf("writing the inventory of %s: %w", o, err)
		}
		if now == nil {
			return Book{}, err
		}
		return after.Asking(o.set, asked(now)...), err
	}, nil
}

// fields are those of the status that the inventory is in.
var fields = [...]string{"inventory", "paused", "counted", "rollouts"}

// decode reads the status of the object.
func (o *Object) decode(stored *unstructured.Unstructured) (Book, error) {
	const advice = "it says what rules have left in the cluster, and which are paused: use the version that wrote it, or restore it"
	var s v1alpha1.Status
	for _, field := range fields {
		list, _, err := unstructured.NestedFieldNoCopy(stored.Object, "status", field)
		if err == nil {
			var data []byte
			if data, err = json.Marshal(map[string]any{field: list}); err == nil {
				err = parse(data, &s)
			}
		}
		if err != nil {
			return Book{}, fmt.Errorf("status.%s: %w; %s", field, err, advice)
		}
	}
	// What the set cannot have left is passed over.
	s.Inventory = slices.DeleteFunc(s.Inventory, func(l v1alpha1.Leftover) bool { return !l.Within(o.set.Namespace) })
	book, err := decode(o.set, s)
	if err != nil {
		return Book{}, fmt.Errorf("status.%w; %s", err, advice)
	}
	return book.Asking(o.set, asked(stored)...), nil
}

// asked names the rules that a set object asks to resume.
func asked(stored *unstructured.Unstructured) []string {
	return spec.Resumed(stored.GetAnnotations()[spec.ResumeAnnotation])
}

// replace stores a book, between putting the finalizer on and taking it off, after which the object may be gone. Before that
// it takes what is answered out of the annotation; where only that fails, the error is [ErrAsked].
func (o *Object) replace(ctx context.Context, stored *unstructured.Unstructured, before, after Book) (_ *unstructured.Unstructured, err error) {
	empty := len(after.leftovers) == 0
	finalizers := stored.GetFinalizers()
	switch held := slices.Contains(finalizers, v1alpha1.Finalizer); {
	case stored.Object == nil && empty:
		return stored, nil
	case stored.Object == nil, !empty && !held && stored.GetDeletionTimestamp() != nil:
		return nil, ErrGone // The API server takes no new finalizer for what is being deleted.
	case !empty && !held:
		if stored, err = o.patch(ctx, stored, finalizing(append(finalizers, v1alpha1.Finalizer)), nil); err != nil {
			return nil, err
		}
	}
	if !after.Equal(before) {
		s := after.encode()
		status := map[string]any{"inventory": s.Inventory, "paused": s.Paused, "counted": s.Counted, "rollouts": s.Rollouts}
		if stored, err = o.patch(ctx, stored, nil, status); err != nil {
			return nil, err
		}
	}
	names := asked(stored)
	answered := func(name string) bool {
		rule := o.set
		rule.Name = name
		return after.limits[rule].Answered
	}
	var errAsked error
	if rest := slices.DeleteFunc(slices.Clone(names), answered); len(rest) < len(names) {
		var value any // None are no annotation.
		if len(rest) > 0 {
			value = strings.Join(rest, ",")
		}
		patched, err := o.patch(ctx, stored, map[string]any{"annotations": map[string]any{spec.ResumeAnnotation: value}}, nil)
		switch {
		case err == nil:
			stored = patched
		case errors.Is(err, ErrOvertaken):
			return nil, err
		default:
			errAsked = fmt.Errorf("%w: %w", ErrAsked, err)
		}
	}
	if finalizers = stored.GetFinalizers(); empty && slices.Contains(finalizers, v1alpha1.Finalizer) {
		others := slices.DeleteFunc(finalizers, func(finalizer string) bool { return finalizer == v1alpha1.Finalizer })
		if stored, err = o.patch(ctx, stored, finalizing(others), nil); err != nil {
			return nil, err
		}
	}
	return stored, errAsked
}

func finalizing(finalizers []string) map[string]any { return map[string]any{"finalizers": finalizers} }

// patch changes the object that was read, and no other version of it: its status, or else its metadata.
func (o *Object) patch(ctx context.Context, stored *unstructured.Unstructured, metadata, status map[string]any) (*unstructured.Unstructured, error) {
	read := map[string]any{"uid": string(stored.GetUID()), "resourceVersion": stored.GetResourceVersion()}
	maps.Copy(read, metadata)
	body := map[string]any{"metadata": read}
	var subresources []string
	if status != nil {
		body["status"], subresources = status, []string{"status"}
	}
	data, err := utiljson.Marshal(body)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: plan.FieldManager}
	patched, err := o.client.Patch(ctx, o.set.Set, types.MergePatchType, data, options, subresources...)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	return patched, err
}
