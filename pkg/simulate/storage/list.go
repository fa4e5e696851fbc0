package storage

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
)

// GetList implements [storage.Interface], without pages: what is asked for is answered
// whole.
func (s *store) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	world := From(ctx)
	if world == nil {
		return errNoWorld
	}
	items, err := itemsOf(list)
	if err != nil {
		return err
	}
	if options.Recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	keys, found, now := world.below(key)
	if err := s.tooNew(options.ResourceVersion, now); err != nil {
		return err
	}
	for _, at := range keys {
		if !options.Recursive && at != key {
			continue
		}
		object := s.newObject()
		if err := s.decode(found[at].data, found[at].version, object); err != nil {
			return fmt.Errorf("%s: %w", changeOf(at), err)
		}
		if _, custom := object.(runtime.Unstructured); !custom { // As a real API server lists built-in kinds.
			object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		}
		appendMatch(items, object, options.Predicate)
	}
	if items.IsNil() {
		items.Set(reflect.MakeSlice(items.Type(), 0, 0)) // Shown as [], not as null.
	}
	return s.versioner.UpdateList(list, now, "", nil)
}

// appendMatch leaves out what the predicate cannot judge, as etcd's store does.
func appendMatch(items reflect.Value, object runtime.Object, predicate storage.SelectionPredicate) {
	if matches, err := predicate.Matches(object); err == nil && matches {
		items.Set(reflect.Append(items, reflect.ValueOf(object).Elem()))
	}
}

var errNoSlice = errors.New("the items of a list are no slice")

func itemsOf(list runtime.Object) (reflect.Value, error) {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return reflect.Value{}, fmt.Errorf("finding the items of a list: %w", err)
	}
	items, err := conversion.EnforcePtr(pointer)
	switch {
	case err != nil:
		return reflect.Value{}, fmt.Errorf("finding the items of a list: %w", err)
	case items.Kind() != reflect.Slice:
		return reflect.Value{}, errNoSlice
	default:
		return items, nil
	}
}

// tooNew refuses to answer for a version that the world has not reached.
func (s *store) tooNew(wanted string, now uint64) error {
	version, err := s.versioner.ParseResourceVersion(wanted)
	if err != nil {
		return err
	}
	if version > now {
		return storage.NewTooLargeResourceVersionError(version, now, 1)
	}
	return nil
}
