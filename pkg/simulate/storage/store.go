package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

var errNoWorld = errors.New("the request is about no world")

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
	if world == nil {
		return errNoWorld
	}
	if version, err := s.versioner.ObjectResourceVersion(object); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	if err := world.stampNew(key, object); err != nil {
		return err
	}
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
	if world == nil {
		return errNoWorld
	}
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
	if world == nil {
		return errNoWorld
	}
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

// GuaranteedUpdate implements [storage.Interface].
func (s *store) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	world := From(ctx)
	if world == nil {
		return errNoWorld
	}
	for {
		found, _ := world.get(key)
		before, err := s.current(key, found, ignoreNotFound)
		if err != nil {
			return err
		}
		if err := preconditions.Check(key, before); err != nil {
			return err
		}
		data, err := s.updated(world, key, found, before, update)
		if err != nil {
			return err
		}
		same, err := s.same(data, found, before)
		if err != nil {
			return err
		}
		if same {
			return s.decode(found.data, found.version, out)
		}
		if version, done := world.replace(key, found.version, data); done {
			return s.decode(data, version, out)
		}
	}
}

// same reports whether an update changes nothing. What was found in the world counts as if
// it had been written here: a test need not say what defaulting adds.
func (s *store) same(data []byte, found entry, before runtime.Object) (bool, error) {
	if bytes.Equal(data, found.data) {
		return true, nil
	}
	if !found.asFound {
		return false, nil
	}
	written, err := s.encode(before)
	return bytes.Equal(data, written), err
}

// current is the object to be updated: an empty one where there is none.
func (s *store) current(key string, found entry, ignoreNotFound bool) (runtime.Object, error) {
	object := s.newObject()
	switch {
	case found.data != nil:
		return object, s.decode(found.data, found.version, object)
	case ignoreNotFound:
		return object, runtime.SetZeroValue(object)
	default:
		return nil, storage.NewKeyNotFoundError(key, 0)
	}
}

// updated is the encoded object after an update.
func (s *store) updated(world *World, key string, found entry, before runtime.Object, update storage.UpdateFunc) ([]byte, error) {
	if _, err := s.versioner.ObjectResourceVersion(before); err != nil {
		return nil, fmt.Errorf("reading the version of what is stored: %w", err)
	}
	object, _, err := update(before.DeepCopyObject(), storage.ResponseMeta{ResourceVersion: found.version})
	if err != nil {
		return nil, err //nolint:wrapcheck // The registries look into it.
	}
	if found.data == nil {
		err = world.stampNew(key, object)
	} else {
		err = world.stampChanged(before, object)
	}
	if err != nil {
		return nil, err
	}
	return s.encode(object)
}

// encode is the object as it is stored, without its version.
func (s *store) encode(object runtime.Object) ([]byte, error) {
	if err := s.versioner.PrepareObjectForStorage(object); err != nil {
		return nil, fmt.Errorf("preparing an object to be stored: %w", err)
	}
	return runtime.Encode(s.codec, object)
}

func (s *store) decode(data []byte, version uint64, out runtime.Object) error {
	if _, err := conversion.EnforcePtr(out); err != nil {
		return fmt.Errorf("the object to decode into is no pointer: %w", err)
	}
	if _, _, err := s.codec.Decode(data, nil, out); err != nil {
		return fmt.Errorf("decoding what is stored: %w", err)
	}
	return s.versioner.UpdateObject(out, version)
}
