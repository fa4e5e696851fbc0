package builtin

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

func job() custom {
	return custom{create: selectOwnPods, validateUpdate: func(object, old runtime.Object) field.ErrorList {
		was, _ := old.(*batchv1.Job)
		waiting := was.Spec.Suspend != nil && *was.Spec.Suspend && was.Status.StartTime == nil
		if waiting || !differs(object, old, []string{"Spec.Template"}) {
			return nil
		}
		return field.ErrorList{field.Invalid(location("Spec.Template"), member(object, "Spec.Template").Interface(), "field is immutable")}
	}}
}

// selectOwnPods gives a Job the selector by which it knows its Pods, which has its uid: so it is given that here.
func selectOwnPods(ctx context.Context, object runtime.Object) {
	j, _ := object.(*batchv1.Job)
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	if world := storage.From(ctx); world != nil {
		resource := batchv1.SchemeGroupVersion.WithResource("jobs").GroupResource()
		j.UID = world.UID(storage.Change{Resource: resource, Namespace: j.Namespace, Name: j.Name})
	}
	labels := &j.Spec.Template.Labels
	put(labels, "job-name", j.Name)
	put(labels, batchv1.JobNameLabel, j.Name)
	put(labels, "controller-uid", string(j.UID))
	put(labels, batchv1.ControllerUidLabel, string(j.UID))
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	put(&j.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(j.UID))
}

// put adds to a map what is not there.
func put(to *map[string]string, key, value string) {
	if *to == nil {
		*to = map[string]string{}
	}
	if _, there := (*to)[key]; !there {
		(*to)[key] = value
	}
}
