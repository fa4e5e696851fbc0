package write

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Class says what an answer means for the plan that the request was part of.
type Class string

// The classes of answers.
const (
	// Written means that the object changed.
	Written Class = "written"
	// Unchanged means that the API server accepted the write and the object
	// stayed as it was, or that the object to delete did not exist any more.
	Unchanged Class = "unchanged"
	// Simulated means that a dry run would have written.
	Simulated Class = "simulated"
	// Repeated means that a dry run has simulated the same write before, for another object
	// maybe. A real run would have found it done.
	Repeated Class = "repeated"
	// Audited means that a rule in mode Audit would have written: nothing was
	// sent.
	Audited Class = "audited"
	// Taken means that an object of that name exists already, where a new one was
	// to be made. An earlier attempt may have made it.
	Taken Class = "already there"
	// Stale means that the snapshot is out of date: evaluate a fresh one.
	Stale Class = "stale"
	// OwnedByAnother means that another field manager owns an applied field.
	OwnedByAnother Class = "owned by another"
	// Terminal means that this request will be refused again as long as
	// neither the object nor the rules nor the cluster's configuration change.
	Terminal Class = "terminal"
	// Ambiguous means that the write may have happened.
	Ambiguous Class = "ambiguous"
	// Overloaded means that the API server asks to come back later.
	Overloaded Class = "overloaded"
	// Unreachable means that the request never arrived.
	Unreachable Class = "unreachable"
)

// Failed reports whether the write did not do what the plan wanted.
func (c Class) Failed() bool {
	return c != Written && c != Unchanged && c != Simulated && c != Repeated && c != Audited
}

// Classify is the only function that interprets an error of the API server or of
// the connection to it. The error must not be nil.
func Classify(err error) Class {
	var answer apierrors.APIStatus
	dial, isDial := errors.AsType[*net.OpError](err)
	_, isRedirect := errors.AsType[*client.RedirectError](err)
	switch {
	case isRedirect:
		return Terminal
	case errors.As(err, &answer):
		return classifyStatus(err, answer.Status())
	case isDial && dial.Op == "dial" || utilnet.IsConnectionRefused(err) || errors.Is(err, errLate):
		return Unreachable
	default:
		return Ambiguous
	}
}

// These begin the answers to an apply of a field that the schema does not have, and of a value that its type cannot hold,
// such as a quantity that is none. They come as a 500 without a reason, before anything is stored.
const (
	untypedApply    = "failed to create typed patch object"
	unreadableApply = "failed to convert new object"
)

// tooLarge are the answers where an object is too large for what stores it: etcd refuses it, or the API server cannot send it there. They
// are a 500 without a reason too, before anything is stored.
var tooLarge = []string{"etcdserver: request is too large", "trying to send message larger than max"}

// removedVersion begins the answer to an apply of a custom resource of which an entry in managedFields names a version that its CRD
// has no more. It is a 500 too.
const removedVersion = "request to convert CR to an invalid group/version: "

// removedVersionOf is the version that such an answer names, empty for any other error.
func removedVersionOf(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Code != http.StatusInternalServerError {
		return ""
	}
	version, _ := strings.CutPrefix(answer.Status().Message, removedVersion)
	if version == answer.Status().Message {
		return ""
	}
	return version
}

func classifyStatus(err error, status metav1.Status) Class {
	details := cmp.Or(status.Details, &metav1.StatusDetails{})
	_, later := apierrors.SuggestsClientDelay(err)
	switch code := status.Code; {
	case code == http.StatusConflict && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		return OwnedByAnother
	case code == http.StatusConflict && !apierrors.IsAlreadyExists(err):
		return Stale
	case code == http.StatusConflict && !later:
		return Taken
	case code == http.StatusConflict || code == http.StatusTooManyRequests:
		return Overloaded // Of a conflict, no generated name was free: the next may be.
	case code == http.StatusNotFound && details.Name != "" && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return Stale // Without a name, the resource is missing. No fresh snapshot brings it back.
	case code == http.StatusUnprocessableEntity && slices.ContainsFunc(details.Causes, refusesGuard):
		return Stale
	case code == http.StatusInternalServerError && (isTooLarge(status.Message) || slices.ContainsFunc(
		[]string{untypedApply, unreadableApply, removedVersion}, func(beginning string) bool { return strings.HasPrefix(status.Message, beginning) })):
		return Terminal
	case code >= http.StatusInternalServerError:
		return Ambiguous
	default:
		return Terminal
	}
}

func isTooLarge(message string) bool {
	return slices.ContainsFunc(tooLarge, func(text string) bool { return strings.Contains(message, text) })
}

// NamespaceGoing reports whether the API server refuses to make an object as its namespace is being deleted.
func NamespaceGoing(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// refusesGuard recognises the guards: the API server reports a wrong uid as an attempt to change an immutable field.
func refusesGuard(cause metav1.StatusCause) bool {
	return cause.Field == "metadata.uid" || strings.HasPrefix(cause.Field, "metadata.resourceVersion")
}

// checkAnswer refuses an answer that is not the object that was written. A deletion may be answered without an object.
func (r Request) checkAnswer(answer *unstructured.Unstructured) error {
	want := r.Target
	switch {
	case r.Type == plan.Delete && len(answer.Object) == 0:
		return nil
	case r.Type == plan.Create:
		body, _ := r.Body.(map[string]any)
		want.Name = plan.Text(body, "metadata", "name")
	case r.Subresource == "scale":
		want.GVR.Group, want.GVR.Version, want.Kind = "autoscaling", "v1", "Scale"
	}
	return live.CheckObject(want, answer) //nolint:wrapcheck // It is wrapped with the request.
}

// classify is [Classify] where the same answer has another meaning for each kind of
// request.
func (r Request) classify(err error) Class {
	class := Classify(err)
	switch {
	case !apierrors.IsNotFound(err):
		return class
	case r.Subresource != "":
		// A custom resource without the subresource answers as if the object were
		// missing. The client reads the object to find out which of them is.
		return Terminal
	case r.creates():
		return Terminal // The namespace is missing.
	case class == Stale && r.Type == plan.Delete:
		return Unchanged
	default:
		return class
	}
}

// Error is a write that was refused or did not arrive.
type Error struct {
	Request Request
	cause   error
}

// Unwrap returns the error of the client.
func (e *Error) Unwrap() error { return e.cause }

// Error says which request was refused and why, without the values that the API server
// repeats in its answer: it may repeat the whole object, and that may be a
// Secret. Of a Secret not even the details are safe, but for fixed texts.
func (e *Error) Error() string {
	var answer apierrors.APIStatus
	var status metav1.Status
	if errors.As(e.cause, &answer) {
		status = answer.Status()
	}
	reason := e.cause.Error()
	switch {
	case answer != nil && e.Request.Target.IsSecret():
		reason = fmt.Sprintf("refused as %s (%d)", cmp.Or(status.Reason, "unknown"), status.Code)
		if status.Reason == metav1.StatusReasonInvalid && status.Details != nil && len(status.Details.Causes) > 0 {
			var causes []string
			for _, cause := range status.Details.Causes {
				causes = append(causes, ofSecret(cause))
			}
			reason += ": " + strings.Join(causes, "; ")
		}
	case status.Reason == metav1.StatusReasonInvalid && status.Details != nil && len(status.Details.Causes) > 0:
		var causes []string
		for _, cause := range status.Details.Causes {
			text := withoutValue(cause.Message)
			if cause.Field != "" && cause.Field != "patch" {
				text = cause.Field + ": " + text
			}
			causes = append(causes, text)
		}
		reason = "refused: " + strings.Join(causes, "; ")
	}
	if e.Request.Subresource != "" && apierrors.IsNotFound(e.cause) {
		reason += fmt.Sprintf(" (or it has no subresource %q)", e.Request.Subresource)
	}
	return e.Request.action() + ": " + reason
}

// fixedDetails are details of a field.Error without a value, of those that the API server gives for a Secret.
var fixedDetails = []string{"field is immutable", "field is immutable when `immutable` is set"}

// ofSecret tells a cause by its field, its type and a fixed text.
func ofSecret(cause metav1.StatusCause) string {
	out := strings.ToLower(field.ErrorType(cause.Type).String())
	if strings.HasPrefix(out, "<unknown ") || out == "" {
		out = "refused"
	}
	if cause.Field != "" && cause.Field != "patch" {
		out = cause.Field + ": " + out
	}
	for _, detail := range fixedDetails {
		if strings.HasSuffix(cause.Message, ": "+detail) {
			out += ": " + detail
		}
	}
	return out
}

// withoutValue cuts the value out of "Invalid value: VALUE: detail" and the other messages of a field.Error that repeat
// one.
func withoutValue(message string) string {
	for _, label := range []string{"Invalid value: ", "Unsupported value: ", "Duplicate value: ", "Not found: "} {
		rest, found := strings.CutPrefix(message, label)
		if !found {
			continue
		}
		short := strings.ToLower(strings.TrimSuffix(label, ": "))
		decoder := json.NewDecoder(strings.NewReader(rest))
		if decoder.Decode(new(any)) == nil {
			return short + rest[decoder.InputOffset():]
		}
		return short
	}
	return message
}
