package storage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestStampManagers(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	machine := metav1.NewTime(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	world, early := metav1.NewTime(begin), metav1.NewTime(begin.Add(-time.Hour))
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, at *metav1.Time) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", Time: at}
	}
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	tests := map[string]struct {
		reason              string
		before, after, want []metav1.ManagedFieldsEntry
	}{
		"New": {
			"The time of the machine is replaced.",
			nil,
			[]metav1.ManagedFieldsEntry{entry("a", update, &machine)},
			[]metav1.ManagedFieldsEntry{entry("a", update, &world)},
		},
		"Kept": {
			"What is as it was keeps its time.",
			[]metav1.ManagedFieldsEntry{entry("a", update, &early)},
			[]metav1.ManagedFieldsEntry{entry("a", update, &early)},
			[]metav1.ManagedFieldsEntry{entry("a", update, &early)},
		},
		"Order": {
			"The field manager has sorted by the time of the machine; by that of the world the name decides.",
			[]metav1.ManagedFieldsEntry{entry("z", update, &world)},
			[]metav1.ManagedFieldsEntry{entry("z", update, &world), entry("a", update, &machine)},
			[]metav1.ManagedFieldsEntry{entry("a", update, &world), entry("z", update, &world)},
		},
		"OrderOfTimes": {
			"An earlier time goes first.",
			[]metav1.ManagedFieldsEntry{entry("z", update, &early)},
			[]metav1.ManagedFieldsEntry{entry("z", update, &early), entry("a", update, &machine)},
			[]metav1.ManagedFieldsEntry{entry("z", update, &early), entry("a", update, &world)},
		},
		"OrderOfOperations": {
			"What is applied goes before the rest, whatever the time.",
			[]metav1.ManagedFieldsEntry{entry("a", update, &early)},
			[]metav1.ManagedFieldsEntry{entry("z", apply, &machine), entry("a", update, &early)},
			[]metav1.ManagedFieldsEntry{entry("z", apply, &world), entry("a", update, &early)},
		},
		"NoTime": {
			"An entry need not have one.",
			nil,
			[]metav1.ManagedFieldsEntry{entry("a", update, nil)},
			[]metav1.ManagedFieldsEntry{entry("a", update, nil)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: tc.after}}
			NewWorld(clocktesting.NewFakeClock(begin)).stampManagers(tc.before, object)
			if diff := cmp.Diff(tc.want, object.ManagedFields); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
