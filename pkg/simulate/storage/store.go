package storage

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// store implements [storage.Interface] for one resource as etcd3's does, on the world of
// each request's context. It is immutable.
type store struct {
	codec     runtime.Codec
	versioner storage.APIObjectVersioner
	newObject func() runtime.Object
}

// Decorate is a generic.StorageDecorator. There is nothing to destroy.
func Decorate(
	config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), newObject, _ func() runtime.Object,
	_ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return &store{codec: config.Codec, newObject: newObject}, func() {}, nil
}

// Versioner implements [storage.Interface].
func (s *store) Versioner() storage.Versioner { return s.versioner }

// Create implements [storage.Interface]. Nothing expires by itself.
func (s *store) Create(ctx context.Context, key string, object, out runtime.Object, _ uint64) error {
	world := From(ctx)
	if version, err := s.versioner.ObjectResourceVersion(object); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	world.stampNew(key, object)
	data, err := s.encode(object)
	if err != nil {
		return err
	}
	version, done := world.replace(key, 0, data)
	if !done {
		return storage.NewKeyExistsError(key, 0)
	}
	if out == nil {
		return nil
	}
	return s.decode(data, version, out)
}

// Get implements [storage.Interface]. There is nothing older than what is stored.
func (s *store) Get(ctx context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	world := From(ctx)
	found, now := world.get(key)
	if err := s.tooNew(options.ResourceVersion, now); err != nil {
		return err
	}
	switch {
	case found.data != nil:
		return s.decode(found.data, found.version, out)
	case options.IgnoreNotFound:
		return runtime.SetZeroValue(out)
	default:
		return storage.NewKeyNotFoundError(key, 0)
	}
}

// Delete implements [storage.Interface].
func (s *store) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	world := From(ctx)
	for {
		found, _ := world.get(key)
		if found.data == nil {
			return storage.NewKeyNotFoundError(key, 0)
		}
		object := s.newObject()
		if err := s.decode(found.data, found.version, object); err != nil {
			return err
		}
		if err := preconditions.Check(key, object); err != nil {
			return err
		}
		if err := validate(ctx, object); err != nil {
			return err
		}
		if version, done := world.replace(key, found.version, nil); done {
			return s.decode(found.data, version, out)
		}
	}
}

// GuaranteedUpdate implements [storage.Interface]. What was found in the world counts as if it
// had been written here: a test need not say what defaulting adds.
func (s *store) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	world := From(ctx)
	for {
		found, _ := world.get(key)
		before := s.newObject()
		if found.data == nil && !ignoreNotFound {
			return storage.NewKeyNotFoundError(key, 0)
		}
		if found.data != nil {
			if err := s.decode(found.data, found.version, before); err != nil {
				return err
			}
		}
		if err := preconditions.Check(key, before); err != nil {
			return err
		}
		object, _, err := update(before.DeepCopyObject(), storage.ResponseMeta{ResourceVersion: found.version})
		if err != nil {
			return err //nolint:wrapcheck // The registries look into it.
		}
		if found.data == nil {
			world.stampNew(key, object)
		} else {
			world.stampChanged(before, object)
		}
		data, err := s.encode(object)
		if err != nil {
			return err
		}
		was := found.data
		if found.asFound {
			if was, err = s.encode(before); err != nil {
				return err
			}
		}
		if bytes.Equal(data, was) {
			return s.decode(found.data, found.version, out)
		}
		if version, done := world.replace(key, found.version, data); done {
			return s.decode(data, version, out)
		}
	}
}

// GetList implements [storage.Interface], without pages: what is asked for is answered
// whole. It leaves out what the predicate cannot judge, as etcd's store does.
func (s *store) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return fmt.Errorf("finding the items of a list: %w", err)
	}
	items := reflect.ValueOf(pointer).Elem()
	items.Set(reflect.MakeSlice(items.Type(), 0, 0)) // Shown as [], not as null.
	if options.Recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	keys, found, now := From(ctx).below(key)
	if err := s.tooNew(options.ResourceVersion, now); err != nil {
		return err
	}
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		now, _ = s.versioner.ParseResourceVersion(options.ResourceVersion) // It has been parsed.
		if keys, found, err = From(ctx).belowAt(key, now); err != nil {
			return apierrors.NewResourceExpired(err.Error())
		}
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
		if matches, err := options.Predicate.Matches(object); err == nil && matches {
			items.Set(reflect.Append(items, reflect.ValueOf(object).Elem()))
		}
	}
	return s.versioner.UpdateList(list, now, "", nil)
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

// encode is the object as it is stored, without its version.
func (s *store) encode(object runtime.Object) ([]byte, error) {
	if err := s.versioner.PrepareObjectForStorage(object); err != nil {
		return nil, fmt.Errorf("preparing an object to be stored: %w", err)
	}
	return runtime.Encode(s.codec, object)
}

func (s *store) decode(data []byte, version uint64, out runtime.Object) error {
	if _, _, err := s.codec.Decode(data, nil, out); err != nil {
		return fmt.Errorf("decoding what is stored: %w", err)
	}
	return s.versioner.UpdateObject(out, version)
}

// What a store must have and nobody here needs.

// Stats implements [storage.Interface].
func (s *store) Stats(context.Context) (storage.Stats, error) { return storage.Stats{}, nil }

// ReadinessCheck implements [storage.Interface].
func (s *store) ReadinessCheck() error { return nil }

// RequestWatchProgress implements [storage.Interface]. A watch is never behind.
func (s *store) RequestWatchProgress(context.Context) error { return nil }

// GetCurrentResourceVersion implements [storage.Interface].
func (s *store) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	return From(ctx).Version(), nil
}

// EnableResourceSizeEstimation implements [storage.Interface].
func (s *store) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements [storage.Interface]. A list has no pages, so nobody reads what was before.
func (s *store) CompactRevision() int64 { return 0 }
