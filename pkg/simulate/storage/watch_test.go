package storage_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	kubernetes "k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// inWorld is a store of one world, whatever the context: some of the tests have one of their own.
type inWorld struct {
	kubernetes.Interface
	world *storage.World
}

func (s inWorld) Create(ctx context.Context, key string, object, out runtime.Object, ttl uint64) error {
	return s.Interface.Create(storage.With(ctx, s.world), key, object, out, ttl)
}

func (s inWorld) Watch(ctx context.Context, key string, options kubernetes.ListOptions) (watch.Interface, error) {
	return s.Interface.Watch(storage.With(ctx, s.world), key, options)
}

func (s inWorld) GetList(ctx context.Context, key string, options kubernetes.ListOptions, list runtime.Object) error {
	return s.Interface.GetList(storage.With(ctx, s.world), key, options, list)
}

func (s inWorld) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	return s.Interface.GetCurrentResourceVersion(storage.With(ctx, s.world))
}

func (s inWorld) Get(ctx context.Context, key string, options kubernetes.GetOptions, out runtime.Object) error {
	return s.Interface.Get(storage.With(ctx, s.world), key, options, out)
}

func (s inWorld) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *kubernetes.Preconditions,
	validate kubernetes.ValidateObjectFunc, cached runtime.Object, options kubernetes.DeleteOptions,
) error {
	return s.Interface.Delete(storage.With(ctx, s.world), key, out, preconditions, validate, cached, options)
}

func (s inWorld) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *kubernetes.Preconditions, update kubernetes.UpdateFunc, cached runtime.Object,
) error {
	return s.Interface.GuaranteedUpdate(storage.With(ctx, s.world), key, out, ignoreNotFound, preconditions, update, cached)
}

// Kubernetes' own tests of watches, but for those of errors in what is stored.
func TestWatchConformance(t *testing.T) {
	for name, run := range map[string]func(context.Context, *testing.T, kubernetes.Interface){
		"watch":                    storagetesting.RunTestWatch,
		"delete":                   storagetesting.RunTestDeleteTriggerWatch,
		"from a version":           storagetesting.RunTestWatchFromNonZero,
		"delayed":                  storagetesting.RunTestDelayedWatchDelivery,
		"context":                  storagetesting.RunTestWatchContextCancel,
		"version of what is gone":  storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
		"cluster-scoped":           storagetesting.RunTestClusterScopedWatch,
		"namespaced":               storagetesting.RunTestNamespaceScopedWatch,
		"initial events, before":   storagetesting.RunSendInitialEventsBackwardCompatibility,
		"initial events":           storagetesting.RunWatchSemantics,
		"initial events, extended": storagetesting.RunWatchSemanticInitialEventsExtended,
		"from what is forgotten": func(ctx context.Context, t *testing.T, store kubernetes.Interface) {
			forget := func(context.Context, *testing.T, string) { store.(inWorld).world.Compact() }
			storagetesting.RunTestWatchFromZero(ctx, t, store, forget)
		},
		"initial events of one": storagetesting.RunWatchListMatchSingle,
	} {
		t.Run(name, func(t *testing.T) {
			store := pods(t)
			ctx, world := inNew(t.Context())
			world.Remember()
			run(ctx, t, inWorld{store, world})
		})
	}
}
