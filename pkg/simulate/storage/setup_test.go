package storage_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/apitesting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	kubernetes "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// start is when worlds begin: no machine's clock shows it.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pods returns the store of an example kind of the API server's.
func pods(t testing.TB) kubernetes.Interface {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	for _, add := range []func(*runtime.Scheme) error{example.AddToScheme, examplev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	codec := apitesting.TestCodec(serializer.NewCodecFactory(scheme), examplev1.SchemeGroupVersion)
	config := storagebackend.Config{Codec: codec}
	store, destroy, err := storage.Decorate(
		config.ForResource(schema.GroupResource{Resource: "pods"}), "", nil,
		func() runtime.Object { return &example.Pod{} }, func() runtime.Object { return &example.PodList{} }, nil, nil, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	return store
}

// inNew returns a context of a new world.
func inNew(ctx context.Context) (context.Context, *storage.World) {
	world := storage.NewWorld(clocktesting.NewFakeClock(start))
	return storage.With(ctx, world), world
}
