package breaker

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestTell holds that an Event tells what kind of a refusal it was, and none of its words.
func TestTell(t *testing.T) {
	t.Parallel()
	secret := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "theirs", errors.New("not in namespace other"))
	a := &attempt{breaker: newWorld().Breaker, Attempt: &guard.Attempt{CarriedOut: true}}
	a.tell(one, fmt.Errorf("writing: %w", secret))
	a.tell(one, errors.New("not in namespace other"))
	var told []string
	for _, warning := range a.Warnings {
		told = append(told, warning.Message)
	}
	want := []string{
		"rule set/one keeps failing (Forbidden) and is tried again slowly; the log says why",
		"rule set/one keeps failing and is tried again slowly; the log says why",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
