package write

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Class says what an answer means for the plan that the request was part of.
type Class string

// The classes of answers.
const (
	// Written means that the object changed.
	Written Class = "written"
	// Unchanged means that the API server accepted the write and the object
	// stayed as it was, or that what was to be deleted was gone already.
	Unchanged Class = "unchanged"
	// Simulated means that a dry run would have written.
	Simulated Class = "simulated"
	// Repeated means that a dry run has simulated the same write before, for another object
	// maybe. A real run would have found it done.
	Repeated Class = "repeated"
	// Audited means that a rule in mode Audit would have written: nothing was
	// sent.
	Audited Class = "audited"
	// Taken means that an object of that name is there already, where a new one was
	// to be made. It may be one that an earlier attempt has made.
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

// Classify is the only place that interprets an error of the API server or of
// the way to it. The error must not be nil.
func Classify(err error) Class {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return classifyStatus(err, status.Status())
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" || utilnet.IsConnectionRefused(err) || errors.Is(err, errLate) {
		return Unreachable
	}
	return Ambiguous
}

// classify is [Classify] where the same answer means another thing for each kind of
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
	case creates(r.Type, r.Target):
		return Terminal // It is the namespace that is missing.
	case class == Stale && r.Type == plan.Delete:
		return Unchanged
	default:
		return class
	}
}

// untypedApply begins the answer to an apply of a field that the schema does
// not have, which comes as a 500 without a reason.
const untypedApply = "failed to create typed patch object"

func classifyStatus(err error, status metav1.Status) Class {
	switch code := status.Code; {
	case code == http.StatusConflict:
		return classifyConflict(err)
	case code == http.StatusNotFound:
		return classifyNotFound(status)
	case code == http.StatusUnprocessableEntity:
		return classifyInvalid(status)
	case code == http.StatusTooManyRequests:
		return Overloaded
	case code == http.StatusInternalServerError && strings.HasPrefix(status.Message, untypedApply):
		return Terminal
	case code >= http.StatusInternalServerError:
		return Ambiguous
	default:
		return Terminal
	}
}

func classifyConflict(err error) Class {
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		return OwnedByAnother
	case !apierrors.IsAlreadyExists(err):
		return Stale
	}
	if _, later := apierrors.SuggestsClientDelay(err); later {
		return Overloaded // No generated name was free: the next may be.
	}
	return Taken
}

// classifyNotFound tells a missing object from a missing resource, which no
// fresh snapshot brings back.
func classifyNotFound(status metav1.Status) Class {
	if status.Details != nil && status.Details.Name != "" && !hasCause(status, metav1.CauseTypeUnexpectedServerResponse) {
		return Stale
	}
	return Terminal
}

// classifyInvalid recognises the guards: the API server reports a wrong uid as
// an attempt to change an immutable field.
func classifyInvalid(status metav1.Status) Class {
	if status.Details == nil {
		return Terminal
	}
	for _, cause := range status.Details.Causes {
		if cause.Field == "metadata.uid" || strings.HasPrefix(cause.Field, "metadata.resourceVersion") {
			return Stale
		}
	}
	return Terminal
}

func hasCause(status metav1.Status, kind metav1.CauseType) bool {
	return slices.ContainsFunc(status.Details.Causes, func(cause metav1.StatusCause) bool { return cause.Type == kind })
}
