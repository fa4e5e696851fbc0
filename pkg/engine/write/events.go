package write

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	typedeventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ReportingController is who the Events say they come from.
const ReportingController = "dyncontroller.dev/dyncontroller"

// noteLimit is the length in bytes that the API server allows.
const noteLimit = 1024

// Recorder writes Events to the API server. It is safe for concurrent use.
type Recorder struct {
	client   typedeventsv1.EventsV1Interface
	clock    clock.PassiveClock
	instance string
}

// NewRecorder returns a recorder; instance names this process.
func NewRecorder(config *rest.Config, instance string, clock clock.PassiveClock) (*Recorder, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hideRetryAfter{next} })
	client, err := typedeventsv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for events: %w", err)
	}
	return &Recorder{client: client, clock: clock, instance: instance}, nil
}

// Record makes sure that the Event is there. Its name is the same for the same
// episode text, so that a restart does not repeat it: an Event that is there
// is left alone, unless again says that a later episode began, which raises
// the count of its series.
func (r *Recorder) Record(ctx context.Context, event plan.Event, again bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	wanted := r.object(event)
	events := r.client.Events(wanted.Namespace)
	found, err := events.Get(ctx, wanted.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = events.Create(ctx, wanted, metav1.CreateOptions{FieldManager: plan.FieldManager})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
	case err == nil && again:
		found.Series = r.nextInSeries(found.Series)
		_, err = events.Update(ctx, found, metav1.UpdateOptions{FieldManager: plan.FieldManager})
	}
	if err != nil {
		return fmt.Errorf("recording event %s on %s: %w", event.Reason, event.Regarding, err)
	}
	return nil
}

func (r *Recorder) nextInSeries(series *eventsv1.EventSeries) *eventsv1.EventSeries {
	next := &eventsv1.EventSeries{Count: 2, LastObservedTime: r.now()}
	if series != nil {
		next.Count = series.Count + 1
	}
	return next
}

func (r *Recorder) now() metav1.MicroTime {
	return metav1.MicroTime{Time: r.clock.Now().Truncate(time.Microsecond)}
}

func (r *Recorder) object(event plan.Event) *eventsv1.Event {
	regarding := event.Regarding
	namespace := regarding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: eventName(event)},
		EventTime:           r.now(),
		ReportingController: ReportingController,
		ReportingInstance:   r.instance,
		Action:              event.Action,
		Reason:              event.Reason,
		Type:                event.Type,
		Note:                cut(event.Message, noteLimit),
		Regarding: corev1.ObjectReference{
			APIVersion:      regarding.GVR.GroupVersion().String(),
			Kind:            regarding.Kind,
			Namespace:       regarding.Namespace,
			Name:            regarding.Name,
			UID:             regarding.UID,
			ResourceVersion: regarding.ResourceVersion,
		},
	}
}

// eventName is the same for the same rule, object and text. Object names that
// an Event may not have, as some of RBAC, are left out.
func eventName(event plan.Event) string {
	regarding := event.Regarding
	sum := sha256.Sum256([]byte(strings.Join([]string{
		event.Rule.ID(), regarding.GVR.String(), string(regarding.UID), event.Type, event.Reason, event.Action, event.Message,
	}, "\x00")))
	suffix := "." + hex.EncodeToString(sum[:8])
	name := cut(regarding.Name, validation.DNS1123SubdomainMaxLength-len(suffix))
	if len(validation.IsDNS1123Subdomain(name+suffix)) > 0 {
		name = plan.FieldManager
	}
	return name + suffix
}

// cut shortens text to at most limit bytes without breaking a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
