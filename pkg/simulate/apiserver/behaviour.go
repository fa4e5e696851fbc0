package apiserver

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// frozen is what is wrong with a change of data that was made immutable.
func frozen(object, old runtime.Object, paths ...string) (out field.ErrorList) {
	const why = "field is immutable when `immutable` is set"
	if was := member(old, "Immutable"); was.IsNil() || !was.Elem().Bool() {
		return nil
	}
	if is := member(object, "Immutable"); is.IsNil() || !is.Elem().Bool() {
		out = append(out, field.Forbidden(field.NewPath("immutable"), why))
	}
	for _, path := range paths {
		if !reflect.DeepEqual(member(object, path).Interface(), member(old, path).Interface()) {
			out = append(out, field.Forbidden(location(path), why))
		}
	}
	return out
}

// keys is what is wrong with the keys of data.
func keys[V any](data map[string]V, at *field.Path) field.ErrorList {
	var out field.ErrorList
	for key := range data {
		for _, problem := range validation.IsConfigMapKey(key) {
			out = append(out, field.Invalid(at.Key(key), key, problem))
		}
	}
	return out
}

// sorted puts what is wrong into an order, which that of maps is not.
func sorted(all field.ErrorList) field.ErrorList {
	slices.SortFunc(all, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return all
}

func configMap() custom {
	return custom{
		validate: func(object runtime.Object) field.ErrorList {
			c, _ := object.(*corev1.ConfigMap)
			out := append(keys(c.Data, field.NewPath("data")), keys(c.BinaryData, field.NewPath("binaryData"))...)
			for key := range c.Data {
				if _, twice := c.BinaryData[key]; twice {
					out = append(out, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
				}
			}
			return sorted(out)
		},
		validateUpdate: func(object, old runtime.Object) field.ErrorList { return frozen(object, old, "Data", "BinaryData") },
	}
}

func secret() custom {
	return custom{
		update: func(object, old runtime.Object) {
			if member(object, "Type").Len() == 0 {
				restore(object, old, "Type")
			}
		},
		validate: func(object runtime.Object) field.ErrorList {
			s, _ := object.(*corev1.Secret)
			return sorted(keys(s.Data, field.NewPath("data")))
		},
		validateUpdate: func(object, old runtime.Object) field.ErrorList { return frozen(object, old, "Data") },
	}
}

func serviceAccount() custom {
	clean := func(object runtime.Object) {
		account, _ := object.(*corev1.ServiceAccount)
		for i, reference := range account.Secrets {
			account.Secrets[i] = corev1.ObjectReference{Name: reference.Name}
		}
	}
	return custom{
		create: func(_ context.Context, object runtime.Object) { clean(object) },
		update: func(object, _ runtime.Object) { clean(object) },
	}
}

// pending is how volumes begin, and claims of them.
func pending() custom {
	return custom{create: func(_ context.Context, object runtime.Object) {
		member(object, "Status.Phase").SetString(string(corev1.VolumePending))
	}}
}

func deployment() custom {
	return custom{updateStatus: func(object, old runtime.Object) { restore(object, old, "Labels") }}
}

// daemonSet counts changes of the template in an annotation, which is a field inside of the API server.
func daemonSet() custom {
	count := func(object runtime.Object, to int64) {
		set, _ := object.(*appsv1.DaemonSet)
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.FormatInt(to, 10))
	}
	counted := func(object runtime.Object) int64 {
		set, _ := object.(*appsv1.DaemonSet)
		n, _ := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
		return n
	}
	return custom{
		create: func(_ context.Context, object runtime.Object) { count(object, max(counted(object), 1)) },
		update: func(object, old runtime.Object) {
			to := counted(old)
			if differs(object, old, []string{"Spec.Template"}) {
				to++
			}
			count(object, to)
		},
	}
}

func cronJob() custom {
	return custom{validate: func(object runtime.Object) field.ErrorList {
		const most = validation.DNS1035LabelMaxLength - 11 // Jobs are named after it, with a time.
		if name := metadataOf(object).Name; len(name) > most {
			return field.ErrorList{field.Invalid(field.NewPath("metadata").Child("name"), name, fmt.Sprintf("must be no more than %d characters", most))}
		}
		return nil
	}}
}

// csiDriver counts from the first change on.
func csiDriver() custom {
	return custom{update: func(object, old runtime.Object) {
		if differs(object, old, []string{"Spec"}) {
			metadataOf(object).Generation = metadataOf(old).Generation + 1
		}
	}}
}

func priorityClass() custom {
	return custom{validateUpdate: func(object, old runtime.Object) field.ErrorList {
		if differs(object, old, []string{"Value"}) {
			return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
		}
		return nil
	}}
}

func signingRequest() custom {
	return custom{update: func(object, old runtime.Object) { restore(object, old, "Spec") }}
}

func namespace() custom {
	return custom{
		create: func(_ context.Context, object runtime.Object) {
			n, _ := object.(*corev1.Namespace)
			n.Status.Phase = corev1.NamespaceActive
			if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
				n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
			}
		},
		update: func(object, old runtime.Object) { restore(object, old, "Spec.Finalizers") },
	}
}

func pod() custom {
	return custom{
		create: func(_ context.Context, object runtime.Object) {
			p, _ := object.(*corev1.Pod)
			p.Status.Phase = corev1.PodPending
			p.Status.QOSClass = quality(p)
		},
		updateStatus: func(object, old runtime.Object) {
			restore(object, old, "OwnerReferences")
			metadataOf(object).DeletionTimestamp = nil
			p, _ := object.(*corev1.Pod)
			if p.Status.QOSClass == "" {
				restore(object, old, "Status.QOSClass")
			}
		},
		validateUpdate: validatePodUpdate,
	}
}

// quality is the class of a new Pod by what its containers ask for.
func quality(p *corev1.Pod) corev1.PodQOSClass {
	guaranteed, asks := true, false
	for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := container.Resources.Requests[name], container.Resources.Limits[name]
			asks = asks || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && (request.IsZero() || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

// validatePodUpdate is what is wrong with a change of the spec of a Pod.
func validatePodUpdate(object, old runtime.Object) field.ErrorList {
	is, _ := object.(*corev1.Pod)
	was, _ := old.(*corev1.Pod)
	if equality.Semantic.DeepEqual(is.Spec, was.Spec) {
		return nil
	}
	for _, path := range []string{"Spec.Containers", "Spec.InitContainers"} {
		if member(object, path).Len() != member(old, path).Len() {
			return field.ErrorList{field.Forbidden(location(path), "pod updates may not add or remove containers")}
		}
	}
	if is.Spec.ActiveDeadlineSeconds == nil && was.Spec.ActiveDeadlineSeconds != nil {
		at := field.NewPath("spec", "activeDeadlineSeconds")
		return field.ErrorList{field.Invalid(at, is.Spec.ActiveDeadlineSeconds, "must not update from a positive integer to nil value")}
	}
	same := is.Spec.DeepCopy()
	for i := range same.Containers {
		same.Containers[i].Image = was.Spec.Containers[i].Image
	}
	for i := range same.InitContainers {
		same.InitContainers[i].Image = was.Spec.InitContainers[i].Image
	}
	same.ActiveDeadlineSeconds, same.Tolerations, same.SchedulingGates = was.Spec.ActiveDeadlineSeconds, was.Spec.Tolerations, was.Spec.SchedulingGates
	if equality.Semantic.DeepEqual(*same, was.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")}
}

func job() custom {
	return custom{create: selectOwnPods, validateUpdate: func(object, old runtime.Object) field.ErrorList {
		was, _ := old.(*batchv1.Job)
		waiting := ptr.Deref(was.Spec.Suspend, false) && was.Status.StartTime == nil
		if waiting || !differs(object, old, []string{"Spec.Template"}) {
			return nil
		}
		return field.ErrorList{field.Invalid(location("Spec.Template"), member(object, "Spec.Template").Interface(), "field is immutable")}
	}}
}

// selectOwnPods gives a Job the selector by which it knows its Pods, which has its uid: so it is given that here.
func selectOwnPods(ctx context.Context, object runtime.Object) {
	j, _ := object.(*batchv1.Job)
	if ptr.Deref(j.Spec.ManualSelector, false) {
		return
	}
	resource := batchv1.SchemeGroupVersion.WithResource("jobs").GroupResource()
	j.UID = storage.From(ctx).UID(storage.Change{Resource: resource, Namespace: j.Namespace, Name: j.Name})
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

// event is strict where the API server is with those who write Events of this version.
func event() custom {
	return custom{
		validate:       func(object runtime.Object) field.ErrorList { e, _ := object.(*eventsv1.Event); return validateEvent(e) },
		validateUpdate: validateEventUpdate,
	}
}

// coreEvents is the typer of Events: errors call them by their older group, in which a
// real API server keeps them.
type coreEvents struct{ runtime.ObjectTyper }

// ObjectKinds implements [runtime.ObjectTyper].
func (coreEvents) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Event")}, false, nil
}

// The longest texts of an Event.
const (
	longestAction = 128
	longestNote   = 1024
)

func validateEvent(e *eventsv1.Event) field.ErrorList {
	var out field.ErrorList
	if e.Regarding.Namespace == "" && e.Namespace != corev1.NamespaceDefault && e.Namespace != "kube-system" {
		out = append(out, field.Invalid(field.NewPath("involvedObject", "namespace"), "", "does not match event.namespace"))
	}
	if e.EventTime.IsZero() { // It is taken for an Event of old.
		out = append(out, field.Required(field.NewPath("eventTime"), ""))
	} else {
		out = append(out, validateReport(e)...)
	}
	if e.Series != nil && e.Series.Count < 2 {
		out = append(out, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		out = append(out, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type)))
	}
	return out
}

// validateReport is what is wrong with who reports what in an Event.
func validateReport(e *eventsv1.Event) field.ErrorList {
	var out field.ErrorList
	for _, text := range []struct {
		name, value string
		most        int
		required    bool
	}{
		{"reportingController", e.ReportingController, 0, true},
		{"reportingInstance", e.ReportingInstance, longestAction, true},
		{"action", e.Action, longestAction, true},
		{"reason", e.Reason, longestAction, true},
		{"message", e.Note, longestNote, false},
	} {
		if text.required && text.value == "" {
			out = append(out, field.Required(field.NewPath(text.name), ""))
		}
		if text.most > 0 && len(text.value) > text.most {
			out = append(out, field.Invalid(field.NewPath(text.name), "", fmt.Sprintf("can have at most %v characters", text.most)))
		}
	}
	for _, problem := range validation.IsQualifiedName(e.ReportingController) {
		out = append(out, field.Invalid(field.NewPath("reportingController"), e.ReportingController, problem))
	}
	return out
}

func validateEventUpdate(object, old runtime.Object) field.ErrorList {
	var out field.ErrorList
	for _, f := range []struct{ path, said string }{
		{"Regarding", "involvedObject"},
		{"Reason", "reason"},
		{"Note", "message"},
		{"Type", "type"},
		{"Action", "action"},
		{"Related", "related"},
		{"ReportingController", "reportingController"},
		{"ReportingInstance", "reportingInstance"},
	} {
		if differs(object, old, []string{f.path}) {
			out = append(out, field.Invalid(field.NewPath(f.said), member(object, f.path).Interface(), "field is immutable"))
		}
	}
	is, _ := object.(*eventsv1.Event)
	was, _ := old.(*eventsv1.Event)
	if !is.EventTime.Truncate(time.Microsecond).Equal(was.EventTime.Truncate(time.Microsecond)) {
		out = append(out, field.Invalid(field.NewPath("eventTime"), is.EventTime, "field is immutable"))
	}
	return out
}
