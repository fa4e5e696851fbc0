package engine

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

// TestPasses says which failures are not for the object, so that an outage puts none in
// quarantine.
func TestPasses(t *testing.T) {
	t.Parallel()
	answered := func(code int32) error {
		return fmt.Errorf("writing: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Code: code}})
	}
	tests := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"bad gateway":         {"What is before the API server says so.", answered(http.StatusBadGateway), true},
		"service unavailable": {"It says so itself.", answered(http.StatusServiceUnavailable), true},
		"gateway timeout":     {"And so is no answer in time.", answered(http.StatusGatewayTimeout), true},
		"too many requests":   {"It is busy.", answered(http.StatusTooManyRequests), true},
		"connection broken":   {"Nobody answers.", fmt.Errorf("writing: %w", &url.Error{Op: "Patch", URL: "https://host", Err: io.ErrUnexpectedEOF}), true},
		"webhook fails":       {"It may fail for this object alone.", answered(http.StatusInternalServerError), false},
		"invalid":             {"The object is refused.", answered(http.StatusUnprocessableEntity), false},
		"panic":               {"It is for the object until the contrary is known.", errors.New("panic: poisoned"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := causeOf(write.Classify(tc.err), tc.err) == guard.Passing; got != tc.want {
				t.Errorf("%s class %s: passes %v, want %v", tc.reason, write.Classify(tc.err), got, tc.want)
			}
		})
	}
}
