package storage_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	kubernetes "k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// unstamped is a store whose new objects are left as the conformance tests make them,
// without uids and times of ours.
type unstamped struct{ kubernetes.Interface }

func (s unstamped) Create(ctx context.Context, key string, object, out runtime.Object, ttl uint64) error {
	given := object.(*example.Pod)
	uid := given.UID
	if err := s.Interface.Create(ctx, key, object, nil, ttl); err != nil {
		return err
	}
	if out == nil {
		out = &example.Pod{}
	}
	return s.GuaranteedUpdate(ctx, key, out, false, nil, kubernetes.SimpleUpdate(func(stored runtime.Object) (runtime.Object, error) {
		pod := stored.(*example.Pod)
		pod.UID, pod.CreationTimestamp = uid, metav1.Time{}
		return pod, nil
	}), nil)
}

// Kubernetes' own tests of what it stores in, those that need neither watches, pages,
// the past, nor bytes that are transformed on their way.
func TestConformance(t *testing.T) {
	ignore := func(context.Context, *testing.T, string) {}
	for name, run := range map[string]func(context.Context, *testing.T, kubernetes.Interface){
		"create": func(c context.Context, t *testing.T, s kubernetes.Interface) {
			storagetesting.RunTestCreate(c, t, s, ignore)
		},
		"create what exists":                 storagetesting.RunTestCreateWithKeyExist,
		"get":                                storagetesting.RunTestGet,
		"unconditional delete":               storagetesting.RunTestUnconditionalDelete,
		"conditional delete":                 storagetesting.RunTestConditionalDelete,
		"delete with suggestion":             storagetesting.RunTestDeleteWithSuggestion,
		"delete, suggestion, conflict":       storagetesting.RunTestDeleteWithSuggestionAndConflict,
		"delete with conflict":               storagetesting.RunTestDeleteWithConflict,
		"delete, suggestion of what is gone": storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
		"validate deletion, suggestion":      storagetesting.RunTestValidateDeletionWithSuggestion,
		"validate deletion, only suggestion": storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
		"precondition, suggestion":           storagetesting.RunTestPreconditionalDeleteWithSuggestion,
		"precondition, only suggestion":      storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
		"recursive prefix":                   storagetesting.RunTestGetListRecursivePrefix,
		"lists in a namespace":               storagetesting.RunTestNamespaceScopedList,
		"update with conflict":               storagetesting.RunTestGuaranteedUpdateWithConflict,
		"update, suggestion, conflict":       storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict,
	} {
		t.Run(name, func(t *testing.T) {
			store := pods(t)
			ctx, _ := inNew(t.Context())
			run(ctx, t, unstamped{store})
		})
	}
}
