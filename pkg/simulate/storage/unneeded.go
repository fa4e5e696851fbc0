package storage

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// What a store must have and nobody here needs.

var errNoWatch = errors.New("a world is not watched: ask it what has changed")

// Watch implements [storage.Interface] and refuses: [World.Take] tells what changed.
func (s *store) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, errNoWatch
}

// Stats implements [storage.Interface].
func (s *store) Stats(context.Context) (storage.Stats, error) { return storage.Stats{}, nil }

// ReadinessCheck implements [storage.Interface].
func (s *store) ReadinessCheck() error { return nil }

// RequestWatchProgress implements [storage.Interface].
func (s *store) RequestWatchProgress(context.Context) error { return errNoWatch }

// GetCurrentResourceVersion implements [storage.Interface].
func (s *store) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	world := From(ctx)
	if world == nil {
		return 0, errNoWorld
	}
	return world.Version(), nil
}

// EnableResourceSizeEstimation implements [storage.Interface].
func (s *store) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements [storage.Interface]: nothing has been forgotten yet.
func (s *store) CompactRevision() int64 { return 0 }
