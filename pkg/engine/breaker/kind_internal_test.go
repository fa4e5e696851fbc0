package breaker

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestKindOf holds that an Event tells what kind of a refusal it was, and none of its words.
func TestKindOf(t *testing.T) {
	t.Parallel()
	secret := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "theirs", errors.New("not in namespace other"))
	if got := kindOf(fmt.Errorf("writing: %w", secret)); got != " (Forbidden)" {
		t.Errorf("an answer of the API server is told as %q", got)
	}
	if got := kindOf(errors.New("not in namespace other")); got != "" {
		t.Errorf("an error of no kind is told as %q", got)
	}
}
