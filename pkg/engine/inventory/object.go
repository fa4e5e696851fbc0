package inventory

import (
	"context"
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

// ObjectClient is what an [Object] needs of a dynamic client for the sets of its kind
// and namespace.
type ObjectClient interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error)
}

// Object is a [Store] in the status of the object that a set is, for what this set has
// left, and which of its rules are paused. While there is something, [v1alpha1.Finalizer] keeps the object from being gone
// before it is cleaned up; a set that has left nothing has no such finalizer. Any Update
// sees to that, also one that changes nothing.
//
// It takes the rights to get and patch the object, and to patch its status.
type Object struct {
	client ObjectClient
	set    plan.Rule
	// seen is the version of the object that alone is read and written; nil for any.
	seen *version
}

// version tells what an object says from what it said before.
type version struct {
	uid        types.UID
	generation int64
}

// ErrChanged says that the API server has another version of a set object than the one by
// which somebody wants to change its inventory, or to clean up. It passes when the watch of
// set objects shows that version.
var ErrChanged = errors.New("the set object has changed, and its new version is not in effect here yet")

// NewObject returns the store of a set, which is a rule without a name.
func NewObject(client ObjectClient, set plan.Rule) *Object {
	return &Object{client: client, set: set.OfSet()}
}

// Seen returns the store for one version of the object. Where the API server has another
// one, nothing is read or written: the error is [ErrChanged].
func (o *Object) Seen(uid types.UID, generation int64) *Object {
	return &Object{client: o.client, set: o.set, seen: &version{uid, generation}}
}

// String names the object.
func (o *Object) String() string { return o.set.SetName() }

// GoneError says that a set is gone, or about to be with nothing to keep it, so that it
// can not be noted what its rules are about to leave.
type GoneError struct {
	Set plan.Rule // without the name of a rule
}

// Error implements error.
func (e *GoneError) Error() string {
	return e.Set.SetName() + " is gone, so nothing would be cleaned up that its rules leave now"
}

// Load implements [Store]. What is gone has an empty book.
func (o *Object) Load(ctx context.Context) (Book, error) {
	_, book, err := o.read(ctx)
	return book, err
}

// Update implements [Store]. A book that is not empty cannot be stored when the object
// is gone, which is a [GoneError].
func (o *Object) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	var book Book
	err := errOvertaken
	for i := 0; i < attempts && errors.Is(err, errOvertaken); i++ {
		book, err = o.try(ctx, change)
	}
	return book, err
}

func (o *Object) try(ctx context.Context, change func(Book) Book) (Book, error) {
	stored, before, err := o.read(ctx)
	if err != nil {
		return Book{}, err
	}
	after := change(before)
	if err := o.check(after); err != nil {
		return Book{}, err
	}
	empty := len(after.leftovers) == 0
	switch {
	case stored == nil && empty:
		return after, nil
	case stored == nil:
		return Book{}, &GoneError{o.set}
	}
	if !empty {
		if stored, err = o.hold(ctx, stored); err != nil {
			return Book{}, err
		}
	}
	if !after.Equal(before) {
		if stored, err = o.store(ctx, stored, after); err != nil {
			return Book{}, err
		}
	}
	if empty {
		err = o.release(ctx, stored)
	}
	return after, err
}

// check holds that everything is of the set.
func (o *Object) check(book Book) error {
	for _, l := range book.leftovers {
		if l.Rule.OfSet() != o.set {
			return fmt.Errorf("writing the inventory of %s: %s is of %s", o, l, l.Rule.SetName())
		}
	}
	for _, p := range book.pauses {
		if p.Rule.OfSet() != o.set {
			return fmt.Errorf("writing the inventory of %s: the pause of %s is of %s", o, p.Rule, p.Rule.SetName())
		}
	}
	for _, c := range book.counts {
		if c.Rule.OfSet() != o.set {
			return fmt.Errorf("writing the inventory of %s: the count of %s is of %s", o, c.Rule, c.Rule.SetName())
		}
	}
	return nil
}

// read returns the object, nil where there is none.
func (o *Object) read(ctx context.Context) (*unstructured.Unstructured, Book, error) {
	stored, err := o.client.Get(ctx, o.set.Set, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, Book{}, nil
	case err != nil:
		return nil, Book{}, fmt.Errorf("reading the inventory of %s: %w", o, err)
	case o.seen != nil && *o.seen != version{stored.GetUID(), stored.GetGeneration()}:
		return nil, Book{}, fmt.Errorf("reading the inventory of %s: %w", o, ErrChanged)
	}
	list, _, err := unstructured.NestedFieldNoCopy(stored.Object, "status", "inventory")
	if err != nil {
		return nil, Book{}, o.unreadable(err)
	}
	book, err := decodeStatus(o.set, list)
	if err != nil {
		return nil, Book{}, o.unreadable(err)
	}
	if list, _, err = unstructured.NestedFieldNoCopy(stored.Object, "status", "paused"); err != nil {
		return nil, Book{}, o.unreadable(err)
	}
	pauses, err := decodePaused(o.set, list)
	if err != nil {
		return nil, Book{}, fmt.Errorf("reading the inventory of %s: status.paused: %w; it says which rules are paused: "+
			"use the version that wrote it, or restore it", o, err)
	}
	if list, _, err = unstructured.NestedFieldNoCopy(stored.Object, "status", "counted"); err != nil {
		return nil, Book{}, o.unreadable(err)
	}
	counts, err := decodeCounted(o.set, list)
	if err != nil {
		return nil, Book{}, fmt.Errorf("reading the inventory of %s: status.counted: %w", o, err)
	}
	return stored, book.Pausing(pauses...).Counting(counts...), nil
}

func (o *Object) unreadable(err error) error {
	return fmt.Errorf("reading the inventory of %s: status.inventory: %w; it says what rules have left in the cluster: "+
		"use the version that wrote it, or restore it", o, err)
}

// hold puts the finalizer on the object. The API server takes no new one for what is
// being deleted.
func (o *Object) hold(ctx context.Context, stored *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	finalizers := stored.GetFinalizers()
	switch {
	case slices.Contains(finalizers, v1alpha1.Finalizer):
		return stored, nil
	case stored.GetDeletionTimestamp() != nil:
		return nil, &GoneError{o.set}
	}
	return o.patch(ctx, stored, map[string]any{"finalizers": append(finalizers, v1alpha1.Finalizer)}, nil)
}

// release takes the finalizer off, after which the object may be gone.
func (o *Object) release(ctx context.Context, stored *unstructured.Unstructured) error {
	finalizers := stored.GetFinalizers()
	if !slices.Contains(finalizers, v1alpha1.Finalizer) {
		return nil
	}
	others := slices.DeleteFunc(finalizers, func(finalizer string) bool { return finalizer == v1alpha1.Finalizer })
	_, err := o.patch(ctx, stored, map[string]any{"finalizers": others}, nil)
	return err
}

// store replaces the inventory in the status; other fields are left as they are.
func (o *Object) store(ctx context.Context, stored *unstructured.Unstructured, book Book) (*unstructured.Unstructured, error) {
	inventory, paused, counted := encodeStatus(book), encodePaused(book), encodeCounted(book)
	before, _, _ := unstructured.NestedMap(stored.Object, "status")
	delete(before, "inventory")
	delete(before, "paused")
	delete(before, "counted")
	whole := maps.Clone(stored.Object)
	whole["status"] = []any{before, inventory, paused, counted}
	data, err := utiljson.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing the inventory of %s: %w", o, err)
	}
	if len(data) > maxObject {
		return nil, fmt.Errorf("writing the inventory of %s: status.inventory: with the %d things that it lists the object would have "+
			"%d bytes, and may have %d: have fewer rules in a set", o, len(inventory), len(data), maxObject)
	}
	return o.patch(ctx, stored, map[string]any{}, map[string]any{"inventory": inventory, "paused": paused, "counted": counted})
}

// patch changes the object that was read, and no other version of it: its metadata, or
// its status.
func (o *Object) patch(ctx context.Context, stored *unstructured.Unstructured, metadata, status map[string]any) (*unstructured.Unstructured, error) {
	metadata["uid"], metadata["resourceVersion"] = string(stored.GetUID()), stored.GetResourceVersion()
	body := map[string]any{"metadata": metadata}
	var subresources []string
	if status != nil {
		body["status"], subresources = status, []string{"status"}
	}
	data, err := utiljson.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("writing the inventory of %s: %w", o, err)
	}
	options := metav1.PatchOptions{FieldManager: plan.FieldManager}
	patched, err := o.client.Patch(ctx, o.set.Set, types.MergePatchType, data, options, subresources...)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil, fmt.Errorf("writing the inventory of %s: %w: %w", o, errOvertaken, err)
	case err != nil:
		return nil, fmt.Errorf("writing the inventory of %s: %w", o, err)
	}
	return patched, nil
}
