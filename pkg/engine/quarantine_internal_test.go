package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
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

// TestRetriesAreSpread says that a thousand objects that begin to fail together are not
// tried again together, neither the first time nor later.
func TestRetriesAreSpread(t *testing.T) {
	t.Parallel()
	const objects, parts = 1000, 10
	q, rule := newQuarantine(), plan.Rule{Set: "set", Name: "rule"}
	refused := setback{trouble: trouble{rules: []plan.Rule{rule}, err: errors.New("refused")}, hopeless: true}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for round, most := range []time.Duration{respite, 2 * respite, 4 * respite} {
		var counts [parts]int
		for i := range objects {
			key := Key{Namespace: "default", Name: fmt.Sprint("object-", i)}
			q.fail(key, rule, refused, grounds{}, now)
			wait := q.next(key, now).Sub(now)
			if wait < most/2 || wait > most {
				t.Fatalf("round %d: %s waits %s, want from %s to %s", round, key.Name, wait, most/2, most)
			}
			counts[min(int((wait-most/2)*parts/(most/2)), parts-1)]++
		}
		for part, n := range counts {
			if n > 2*objects/parts {
				t.Errorf("round %d: %d of %d objects are tried in part %d of %d", round, n, objects, part, parts)
			}
		}
	}
}
