package write

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ReportingController is the reportingController of the Events.
const ReportingController = "dyncontroller.dev/dyncontroller"

// noteLimit is the length in bytes that the API server allows.
const noteLimit = 1024

// Recorder writes Events to the API server. It is safe for concurrent use.
type Recorder struct {
	rest     rest.Interface
	clock    clock.PassiveClock
	instance string
}

// NewRecorder returns a recorder; instance names this process.
func NewRecorder(config *rest.Config, instance string, clock clock.PassiveClock) (*Recorder, error) {
	events, err := client.For(config, eventsv1.SchemeGroupVersion, &eventsv1.Event{})
	if err != nil {
		return nil, fmt.Errorf("making a client for events: %w", err)
	}
	return &Recorder{rest: events, clock: clock, instance: instance}, nil
}

// Record makes sure that the Event exists. Its name is the same for the same
// episode text, so that a restart does not repeat it. An Event that exists
// is left alone, unless again says that a later episode began, which raises
// the count of its series.
func (r *Recorder) Record(ctx context.Context, event plan.Event, again bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	now := metav1.MicroTime{Time: r.clock.Now().Truncate(time.Microsecond)}
	regarding, name := event.Regarding, EventName(event)
	wanted := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		EventTime:           now,
		ReportingController: ReportingController, ReportingInstance: r.instance,
		Type: event.Type, Reason: event.Reason, Action: event.Action, Note: cut(event.Message, noteLimit),
		Regarding: corev1.ObjectReference{
			APIVersion: regarding.GVR.GroupVersion().String(), Kind: regarding.Kind,
			Namespace: regarding.Namespace, Name: regarding.Name, UID: regarding.UID, ResourceVersion: regarding.ResourceVersion,
		},
	}
	// The engine's queue does the waiting, so client-go must not repeat a request.
	to := func(verb string) *rest.Request {
		return r.rest.Verb(verb).UseProtobufAsDefault().Namespace(wanted.Namespace).Resource("events").MaxRetries(0)
	}
	var found eventsv1.Event
	err := to("GET").Name(wanted.Name).Do(ctx).Into(&found)
	switch {
	case apierrors.IsNotFound(err):
		err = to("POST").Param("fieldManager", plan.FieldManager).Body(wanted).Do(ctx).Error()
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
	case err == nil && again:
		if found.Series == nil {
			found.Series = &eventsv1.EventSeries{Count: 1}
		}
		found.Series.Count++
		found.Series.LastObservedTime = now
		err = to("PUT").Name(wanted.Name).Param("fieldManager", plan.FieldManager).Body(&found).Do(ctx).Error()
	}
	if err != nil {
		return fmt.Errorf("recording event %s on %s: %w", event.Reason, event.Regarding, err)
	}
	return nil
}

// EventName is the same for the same rule, object and text. Object names that
// an Event may not have, as some of RBAC, are left out.
func EventName(event plan.Event) types.NamespacedName {
	regarding := event.Regarding
	sum := sha256.Sum256([]byte(strings.Join([]string{
		event.Rule.ID(), regarding.GVR.String(), string(regarding.UID), event.Type, event.Reason, event.Action, event.Message,
	}, "\x00")))
	suffix := "." + hex.EncodeToString(sum[:8])
	name := cut(regarding.Name, validation.DNS1123SubdomainMaxLength-len(suffix))
	if len(validation.IsDNS1123Subdomain(name+suffix)) > 0 {
		name = plan.FieldManager
	}
	return types.NamespacedName{Namespace: cmp.Or(regarding.Namespace, metav1.NamespaceDefault), Name: name + suffix}
}

// cut shortens text to at most limit bytes without breaking a character.
func cut(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}
