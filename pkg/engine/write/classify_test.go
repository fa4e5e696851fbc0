package write_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

func TestClassify(t *testing.T) {
	resource := schema.GroupResource{Group: "example.com", Resource: "widgets"}
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	invalid := func(path ...string) error {
		return apierrors.NewInvalid(kind, "a", field.ErrorList{field.Invalid(field.NewPath(path[0], path[1:]...), "x", "wrong")})
	}
	generic := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "PATCH", resource, "a", "", 0, true)
	}
	onTheWay := func(op string, err error) error {
		return &url.Error{Op: "Patch", URL: "https://localhost", Err: &net.OpError{Op: op, Err: os.NewSyscallError(op, err)}}
	}
	tests := map[string]struct {
		reason string
		err    error
		want   write.Class
	}{
		"StaleVersion":     {"The object has changed since.", apierrors.NewConflict(resource, "a", errors.New("modified")), write.Stale},
		"Gone":             {"The object is not there any more.", apierrors.NewNotFound(resource, "a"), write.Stale},
		"WrongUID":         {"Another object has the name now.", invalid("metadata", "uid"), write.Stale},
		"WrongVersion":     {"A version that was never given out.", invalid("metadata", "resourceVersion"), write.Stale},
		"NoSuchResource":   {"The path is unknown: no fresh snapshot brings the resource back.", generic(http.StatusNotFound), write.Terminal},
		"InvalidValue":     {"The schema refuses the value.", invalid("spec", "size"), write.Terminal},
		"InvalidNoDetails": {"A failed test of a JSON patch has no details.", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422}}, write.Terminal},
		"Forbidden":        {"Not allowed, until somebody allows it.", apierrors.NewForbidden(resource, "a", errors.New("no")), write.Terminal},
		"BadRequest":       {"Strict validation names an unknown field.", apierrors.NewBadRequest("unknown field"), write.Terminal},
		"TooLarge":         {"The object would be too large.", apierrors.NewRequestEntityTooLargeError("limit"), write.Terminal},
		"Unauthorized":     {"Credentials are read anew by later attempts.", apierrors.NewUnauthorized("no"), write.Terminal},
		"AppliedByAnother": {
			"Another manager owns the field.",
			apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}, "conflict"), write.OwnedByAnother,
		},
		"Taken": {"A name can be had once.", apierrors.NewAlreadyExists(resource, "a"), write.Taken},
		"NoNameFree": {
			"The API server chose names that were taken, and asks to try again.",
			apierrors.NewGenerateNameConflict(resource, "a-x", 1), write.Overloaded,
		},
		"NamespaceGoing": {
			"It says so for as long as that takes.",
			namespaceGoing(resource), write.Terminal,
		},
		"TooManyRequests": {"Come back later.", apierrors.NewTooManyRequests("slow down", 1), write.Overloaded},
		"InternalError":   {"It may have been stored before it failed.", apierrors.NewInternalError(errors.New("boom")), write.Ambiguous},
		"UntypedApply": {
			"An apply of a field that the schema does not have.",
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "failed to create typed patch object (ns/a; v1, Kind=Widget): .x: field not declared in schema"}},
			write.Terminal,
		},
		"UnreadableApply": {
			"An apply of a value that its type cannot hold.",
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "failed to convert new object (ns/a; /v1, Kind=ResourceQuota) to proper version: " +
				"unable to convert unstructured object to /v1, Kind=ResourceQuota: quantities must match the regular expression"}},
			write.Terminal,
		},
		"TooLargeForEtcd": {
			"etcd refuses what is larger than its limit, and always will.",
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "etcdserver: request is too large"}}, write.Terminal,
		},
		"TooLargeToSend": {
			"What is larger still does not even get there.",
			&apierrors.StatusError{ErrStatus: metav1.Status{
				Code: 500, Message: "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2500000 vs. 2097152)",
			}}, write.Terminal,
		},
		"NoSpace": {
			"etcd has no room now, whatever the object.",
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "etcdserver: mvcc: database space exceeded"}}, write.Ambiguous,
		},
		"RemovedVersion": {
			"An apply to an object of which somebody has applied something in a version that its CRD has no more.",
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "request to convert CR to an invalid group/version: example.com/v1beta1"}},
			write.Terminal,
		},
		"ServerTimeout":  {"It may have been stored.", apierrors.NewServerTimeout(resource, "patch", 1), write.Ambiguous},
		"GatewayTimeout": {"It may have been stored.", generic(http.StatusGatewayTimeout), write.Ambiguous},
		"Refused":        {"Nothing listens: the request never left.", onTheWay("dial", syscall.ECONNREFUSED), write.Unreachable},
		"DialTimeout":    {"No connection: the request never left.", onTheWay("dial", syscall.ETIMEDOUT), write.Unreachable},
		"Reset":          {"The connection broke in mid-request.", onTheWay("read", syscall.ECONNRESET), write.Ambiguous},
		"EOF":            {"The answer never came.", &url.Error{Op: "Patch", Err: io.ErrUnexpectedEOF}, write.Ambiguous},
		"Deadline":       {"The answer did not come in time.", context.DeadlineExceeded, write.Ambiguous},
		"Unknown":        {"What is not understood may have happened.", errors.New("?"), write.Ambiguous},
		"Wrapped":        {"Context does not hide the cause.", fmt.Errorf("writing: %w", apierrors.NewConflict(resource, "a", nil)), write.Stale},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := write.Classify(tc.err); got != tc.want {
				t.Errorf("%s got %q, want %q for %v", tc.reason, got, tc.want, tc.err)
			}
		})
	}
}

func namespaceGoing(resource schema.GroupResource) error {
	err := apierrors.NewForbidden(resource, "a", errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestFailed(t *testing.T) {
	for class, want := range map[write.Class]bool{
		write.Written: false, write.Unchanged: false, write.Simulated: false, write.Audited: false,
		write.Taken: true, write.Stale: true, write.OwnedByAnother: true, write.Terminal: true,
		write.Ambiguous: true, write.Overloaded: true, write.Unreachable: true,
	} {
		if got := class.Failed(); got != want {
			t.Errorf("%s: Failed is %v", class, got)
		}
	}
}
