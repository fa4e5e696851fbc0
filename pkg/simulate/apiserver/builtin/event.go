package builtin

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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

// typer tells the kind of objects.
func (k *Kinds) typer(row *kind) runtime.ObjectTyper {
	if row.Kind == "Event" {
		return coreEvents{k.scheme}
	}
	return k.scheme
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
	if !e.EventTime.IsZero() { // Those without are taken for Events of old.
		out = append(out, validateReport(e)...)
	}
	if e.EventTime.IsZero() {
		out = append(out, field.Required(field.NewPath("eventTime"), ""))
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
