package naming_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestRandom(t *testing.T) {
	for _, prefix := range []string{"a-", "", strings.Repeat("x", 58), strings.Repeat("x", 253)} {
		name := naming.Random(prefix)
		if len(name) > validation.DNS1123LabelMaxLength || !strings.HasPrefix(name, prefix[:min(len(prefix), 58)]) {
			t.Errorf("%q becomes %q", prefix, name)
		}
		if name == naming.Random(prefix) {
			t.Errorf("%q becomes %q twice", prefix, name)
		}
	}
}

// creating is an operation that creates an object of a rule with this metadata.
func creating(rule, namespace string, metadata map[string]any) plan.Operation {
	return plan.Operation{
		Type: plan.Create, Rules: []plan.Rule{{Set: "s", Name: rule}},
		Target: plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: namespace},
		Body:   map[string]any{"metadata": metadata, "data": map[string]any{}},
	}
}

// TestWith holds that only an object without a name gets one, and that the plan keeps the operation as it was.
func TestWith(t *testing.T) {
	operation := creating("r", "ns", map[string]any{"generateName": "x-"})
	named := naming.With(operation, "x-1")
	if naming.Prefix(operation) != "x-" || naming.Prefix(named) != "" || naming.Prefix(plan.Operation{Type: plan.Delete}) != "" {
		t.Errorf("the prefixes are %q, %q", naming.Prefix(operation), naming.Prefix(named))
	}
	want := map[string]any{"metadata": map[string]any{"generateName": "x-", "name": "x-1"}, "data": map[string]any{}}
	if diff := cmp.Diff(want, named.Body); diff != "" || named.Target.Name != "x-1" {
		t.Errorf("it is called %q (-want +got):\n%s", named.Target.Name, diff)
	}
}

// TestSent holds that a name is there as long as one of its requests may arrive, the oldest first, and for the like only.
func TestSent(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	names := naming.NewSent(clock)
	origin := func(asker types.UID, rule, namespace, prefix string) naming.Origin {
		return naming.OriginOf(asker, creating(rule, namespace, map[string]any{"generateName": prefix}))
	}
	of := origin("a", "r", "ns", "x-")
	has := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, names.Names(of)); diff != "" {
			t.Errorf("the names differ (-want +got):\n%s", diff)
		}
	}
	pass := func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }
	names.Sending(of, "x-1")
	pass(time.Minute)
	answered := names.Sending(of, "x-2")
	has("x-1", "x-2")
	for _, other := range []naming.Origin{origin("b", "r", "ns", "x-"), origin("a", "another", "ns", "x-"), origin("a", "r", "elsewhere", "x-"), origin("a", "r", "ns", "y-")} {
		if found := names.Names(other); found != nil {
			t.Errorf("%v has %q", other, found)
		}
	}
	names.Sending(of, "x-1")() // That tells nothing of the first request.
	has("x-1", "x-2")
	pass(9 * time.Minute)
	has("x-2")
	answered()
	answered()
	has()
	names.Sending(of, "x-3")
	names.Sending(of, "x-3")
	has("x-3")
	names.Drop(of, "x-3")
	has()
}
