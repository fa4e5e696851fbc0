package inventory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// maxObject is the size in bytes that an object may have, which etcd says.
const maxObject = 3 << 19

// ObjectClient is what an [Object] needs of a dynamic client for the sets of its kind and namespace.
type ObjectClient interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error)
}

// Object is a [Store] in the status of the object that a set is, for what this set has left, and which of its rules are
// paused. While there is something left, [v1alpha1.Finalizer] keeps the object from being gone before it is cleaned up; a
// set that has left nothing has no such finalizer. Any update sees to that, also one that changes nothing. It implements
// [Part].
//
// It takes the rights to get and patch the object, and to patch its status.
type Object struct {
	client ObjectClient
	set    plan.Rule
	// uid and generation are of the version of the object that alone is read and written. Without a uid it is any.
	uid        types.UID
	generation int64
}

// ErrChanged says that the API server has another version of a set object than the one by which somebody wants to change
// its inventory, or to clean up. It passes when the watch of set objects shows that version.
var ErrChanged = errors.New("the set object has changed, and its new version is not in effect here yet")

// GoneError says that a set is gone, or about to be with nothing to keep it, so that it can not be noted what its rules are
// about to leave.
type GoneError struct {
	Set plan.Rule // without the name of a rule
}

// Error implements error.
func (e *GoneError) Error() string {
	return e.Set.SetName() + " is gone, so nothing would be cleaned up that its rules leave now"
}

// NewObject returns the store of a set, which is a rule without a name.
func NewObject(client ObjectClient, set plan.Rule) *Object {
	return &Object{client: client, set: set.OfSet()}
}

// Seen returns the store for one version of the object. Where the API server has another one, nothing is read or written:
// the error is [ErrChanged].
func (o *Object) Seen(uid types.UID, generation int64) *Object {
	return &Object{o.client, o.set, uid, generation}
}

// String names the object.
func (o *Object) String() string { return o.set.SetName() }

// Read implements [Part]. What is gone has an empty book. One that is not empty cannot replace it, which is a [GoneError].
func (o *Object) Read(ctx context.Context) (Book, Replace, error) {
	stored, err := o.client.Get(ctx, o.set.Set, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		stored, err = &unstructured.Unstructured{}, nil
	case err == nil && o.uid != "" && (o.uid != stored.GetUID() || o.generation != stored.GetGeneration()):
		err = ErrChanged
	}
	d := newDecoder()
	if err == nil {
		err = cmp.Or(
			readList(stored, "inventory", "leftover", func(l v1alpha1.Leftover) error {
				if !l.Within(o.set.Namespace) {
					return nil // The set cannot have left it.
				}
				return d.leftover(o.set, l)
			}, "; it says what rules have left in the cluster: use the version that wrote it, or restore it"),
			readList(stored, "paused", "pause", func(p v1alpha1.Pause) error { return d.pause(o.set, p) },
				"; it says which rules are paused: use the version that wrote it, or restore it"),
			readList(stored, "counted", "count", func(c v1alpha1.Count) error { return d.count(o.set, c) }, ""),
		)
	}
	if err != nil {
		return Book{}, nil, fmt.Errorf("reading the inventory of %s: %w", o, err)
	}
	before := d.book()
	return before, func(ctx context.Context, after Book) (Book, error) {
		err := o.replace(ctx, stored, before, after)
		if _, gone := errors.AsType[*GoneError](err); gone {
			return Book{}, err
		}
		if err != nil {
			return Book{}, fmt.Errorf("writing the inventory of %s: %w", o, err)
		}
		return after, nil
	}, nil
}

// readList reads a list of the status.
func readList[T any](object *unstructured.Unstructured, field, what string, read func(T) error, says string) error {
	var all []T
	list, _, err := unstructured.NestedFieldNoCopy(object.Object, "status", field)
	if err == nil {
		var data []byte
		if data, err = json.Marshal(list); err == nil {
			err = cmp.Or(decode(data, &all), each(what, all, read))
		}
	}
	if err != nil {
		return fmt.Errorf("status.%s: %w%s", field, err, says)
	}
	return nil
}

// replace stores a book, between putting the finalizer on and taking it off, after which the object may be gone.
func (o *Object) replace(ctx context.Context, stored *unstructured.Unstructured, before, after Book) (err error) {
	for set := range groups(after, setOf) {
		if set != o.set {
			return fmt.Errorf("there is something of %s", set.SetName())
		}
	}
	empty := len(after.leftovers) == 0
	finalizers := stored.GetFinalizers()
	switch held := slices.Contains(finalizers, v1alpha1.Finalizer); {
	case stored.Object == nil && empty:
		return nil
	case stored.Object == nil, !empty && !held && stored.GetDeletionTimestamp() != nil:
		return &GoneError{o.set} // The API server takes no new finalizer for what is being deleted.
	case !empty && !held:
		if stored, err = o.patch(ctx, stored, append(finalizers, v1alpha1.Finalizer), nil); err != nil {
			return err
		}
	}
	if !after.Equal(before) {
		s := after.encode()
		rest, _, _ := unstructured.NestedMap(stored.Object, "status")
		for _, field := range []string{"inventory", "paused", "counted"} {
			delete(rest, field)
		}
		whole := maps.Clone(stored.Object)
		whole["status"] = []any{rest, s.Inventory, s.Paused, s.Counted}
		data, err := utiljson.Marshal(whole)
		if err != nil {
			return err
		}
		if len(data) > maxObject {
			return fmt.Errorf("status.inventory: with the %d things that it lists the object would have %d bytes, and may have %d: "+
				"have fewer rules in a set", len(s.Inventory), len(data), maxObject)
		}
		status := map[string]any{"inventory": s.Inventory, "paused": s.Paused, "counted": s.Counted}
		if stored, err = o.patch(ctx, stored, nil, status); err != nil {
			return err
		}
	}
	if finalizers = stored.GetFinalizers(); empty && slices.Contains(finalizers, v1alpha1.Finalizer) {
		others := slices.DeleteFunc(finalizers, func(finalizer string) bool { return finalizer == v1alpha1.Finalizer })
		_, err = o.patch(ctx, stored, others, nil)
	}
	return err
}

// patch changes the object that was read, and no other version of it: its status, or else its finalizers.
func (o *Object) patch(ctx context.Context, stored *unstructured.Unstructured, finalizers []string, status map[string]any) (*unstructured.Unstructured, error) {
	metadata := map[string]any{"uid": string(stored.GetUID()), "resourceVersion": stored.GetResourceVersion()}
	body := map[string]any{"metadata": metadata}
	var subresources []string
	if status != nil {
		body["status"], subresources = status, []string{"status"}
	} else {
		metadata["finalizers"] = finalizers
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
