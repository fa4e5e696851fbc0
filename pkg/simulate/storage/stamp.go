package storage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Now is the time of the world as objects carry it.
func (w *World) Now() metav1.Time { return metav1.NewTime(w.clock.Now().UTC().Truncate(time.Second)) }

// stampNew replaces what the registries took from the machine in a new object.
func (w *World) stampNew(key string, object runtime.Object) error {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("reading the metadata of a new object: %w", err)
	}
	if !w.Made(metadata.GetUID()) { // A registry may have asked for it before, to put it into the object.
		w.mu.Lock()
		uid := w.nextUID(key)
		w.mu.Unlock()
		metadata.SetUID(uid)
	}
	metadata.SetCreationTimestamp(w.Now())
	w.stampManagers(nil, metadata)
	return nil
}

// stampChanged does the same for what a change brought into an object.
func (w *World) stampChanged(before, after runtime.Object) error {
	was, err := meta.Accessor(before)
	if err != nil {
		return fmt.Errorf("reading the metadata of what is stored: %w", err)
	}
	is, err := meta.Accessor(after)
	if err != nil {
		return fmt.Errorf("reading the metadata of a changed object: %w", err)
	}
	switch had := was.GetDeletionGracePeriodSeconds(); {
	case is.GetDeletionTimestamp() == nil:
	case was.GetDeletionTimestamp() == nil:
		w.stampEnd(is, w.Now())
	case had != nil && !was.GetDeletionTimestamp().Equal(is.GetDeletionTimestamp()):
		w.stampEnd(is, metav1.NewTime(was.GetDeletionTimestamp().Add(-time.Duration(*had)*time.Second)))
	}
	w.stampManagers(was.GetManagedFields(), is)
	return nil
}

// stampEnd sets when an object is gone whose grace began then. What is shortened is not
// moved into the past.
func (w *World) stampEnd(object metav1.Object, began metav1.Time) {
	end := began
	if grace := object.GetDeletionGracePeriodSeconds(); grace != nil {
		end = metav1.NewTime(end.Add(time.Duration(*grace) * time.Second))
	}
	if now := w.Now(); end.Before(&now) {
		end = now
	}
	object.SetDeletionTimestamp(&end)
}

// stampManagers gives the entries of managedFields that are new the time of the world. Then
// they stand in another order: whoever writes the object next would find it changed else.
func (w *World) stampManagers(before []metav1.ManagedFieldsEntry, object metav1.Object) {
	type manager struct {
		name, subresource, version string
		operation                  metav1.ManagedFieldsOperationType
	}
	of := func(e metav1.ManagedFieldsEntry) manager {
		return manager{e.Manager, e.Subresource, e.APIVersion, e.Operation}
	}
	times := map[manager]*metav1.Time{}
	for _, known := range before {
		times[of(known)] = known.Time
	}
	entries := object.GetManagedFields()
	if len(entries) == 0 {
		return
	}
	now := w.Now()
	stamped := make([]metav1.ManagedFieldsEntry, len(entries))
	for i, entry := range entries {
		if known, is := times[of(entry)]; entry.Time != nil && (!is || !entry.Time.Equal(known)) {
			entry.Time = &now
		}
		stamped[i] = entry
	}
	slices.SortStableFunc(stamped, compareManagers)
	object.SetManagedFields(stamped)
}

// compareManagers orders entries as the API server's field manager does.
func compareManagers(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource),
	)
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}
