package tenants

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestTenantsStayApart holds that no author of a RuleSet reaches out of the namespace of
// the set: not where its account has all rights that there are, so that the language
// holds it back, and not where it has the least. A ClusterRuleSet has its way in both
// namespaces at once, and lends nobody its rights.
func TestTenantsStayApart(t *testing.T) {
	t.Parallel()
	apart := func(t *testing.T, all bool) {
		t.Helper()
		h := newHouse(t, all)
		defer h.leave(t)
		h.try(t)
		h.prune(t)
		h.wardened(t)
		h.unchanged(t)
		h.empty(t)
		h.audit(t)
	}
	t.Run("all rights", func(t *testing.T) {
		virtually(t, func(t *testing.T) { apart(t, true) })
	})
	t.Run("least rights", func(t *testing.T) {
		alongside(t)
		apart(t, false)
	})
}

// try has both tenants try everything at once, and waits for what becomes of it.
func (h *house) try(t *testing.T) {
	t.Helper()
	all := attempts()
	for _, of := range h.pairs() {
		var taken []string
		for name, one := range all {
			text := of.in(one.document(name))
			if one.outcome != forbidden {
				taken = append(taken, text)
				continue
			}
			if message := rejected(t, text); !strings.Contains(message, of.in(one.says)) {
				t.Errorf("%s: %s the API server says %q", name, one.reason, message)
			}
		}
		apply(t, cluster(t), of.mine, strings.Join(taken, "---\n"))
		eventually(t, "the mayfly is held", func() bool {
			return len(get(t, cluster(t), configmaps, of.mine, "mayfly").GetFinalizers()) > 0
		})
		remove(t, cluster(t), configmaps, of.mine, "mayfly")
	}
	for _, of := range h.pairs() {
		for name, one := range all {
			if one.outcome == forbidden {
				continue
			}
			want, said := of.in(one.says), ""
			within(t, 2*time.Minute, name+" has ended somehow", func() bool {
				said = ending(t, of.mine, name, one.outcome)
				return said != ""
			})
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, one.reason, diff)
			}
		}
	}
	t.Logf("%d attempts by each of two tenants", len(all))
}

// rejected applies a set that the API server does not take, and returns why.
func rejected(t *testing.T, text string) string {
	t.Helper()
	var set unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &set.Object); err != nil {
		t.Fatal(err)
	}
	_, err := client(t, cluster(t)).Resource(ruleSets).Namespace(set.GetNamespace()).Create(t.Context(), &set, metav1.CreateOptions{})
	if err == nil {
		t.Errorf("the API server has taken:\n%s", text)
	}
	return fmt.Sprint(err)
}

// ending is what has become of an attempt, empty if that is not known yet.
func ending(t *testing.T, namespace, name string, is outcome) string {
	t.Helper()
	_, reason, message := condition(t, cluster(t), ruleSets, namespace, name, "Ready")
	switch {
	case reason != "" && reason == map[outcome]string{misfit: "Refused", homeless: "NoServiceAccount"}[is]:
		return message
	case reason == "Refused", is == misfit && reason == "Running":
		return "not so, but " + reason + ": " + message
	case is == stayed:
		return told(t, namespace, name)
	case is == fails:
		all, _ := field(get(t, cluster(t), ruleSets, namespace, name), "status", "rules").([]any)
		if len(all) == 1 {
			said, _ := all[0].(map[string]any)["lastError"].(string)
			return said
		}
	}
	return ""
}

// told is what a set has said in an Event, empty if nothing.
func told(t *testing.T, namespace, set string) string {
	t.Helper()
	for _, note := range notes(t, cluster(t), namespace) {
		if rest, of := strings.CutPrefix(note, set+": "); of {
			return rest
		}
	}
	return ""
}

// wardened holds that the ClusterRuleSet works in both namespaces, by what tenants do not
// see.
func (h *house) wardened(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{h.a, h.b} {
		eventually(t, "the ClusterRuleSet works in "+namespace, func() bool {
			sealed := fmt.Sprintf("%x", sha256.Sum256([]byte(namespace)))
			return get(t, cluster(t), configmaps, namespace, "seed").GetAnnotations()["sealed"] == sealed
		})
	}
}

// unchanged holds that there is nothing that the other put there, or changed or took.
func (h *house) unchanged(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{h.a, h.b} {
		treasure := get(t, cluster(t), configmaps, namespace, "treasure")
		if treasure == nil || string(treasure.GetUID()) != h.uids[namespace] || treasure.GetResourceVersion() != h.treasures[namespace] {
			t.Errorf("the treasure of %s was touched: %v", namespace, treasure)
		}
		for _, name := range []string{"planted", "mine"} {
			if get(t, cluster(t), configmaps, namespace, name) != nil {
				t.Errorf("there is %s in %s", name, namespace)
			}
		}
		for _, one := range h.pairs() {
			notes := strings.Join(notes(t, cluster(t), one.mine), "\n")
			for _, part := range []string{one.other, "gotcha"} {
				if strings.Contains(notes, part) {
					t.Errorf("Events in %s tell of %s:\n%s", one.mine, part, notes)
				}
			}
		}
	}
}

// empty deletes all sets, so that what they do as they go is seen too.
func (h *house) empty(t *testing.T) {
	t.Helper()
	all := items(t, cluster(t), ruleSets, "")
	for _, set := range all {
		if slices.Contains([]string{h.a, h.b}, set.GetNamespace()) {
			remove(t, cluster(t), ruleSets, set.GetNamespace(), set.GetName())
		}
	}
	within(t, 2*time.Minute, "the sets are gone", func() bool {
		return len(items(t, cluster(t), ruleSets, h.a))+len(items(t, cluster(t), ruleSets, h.b)) == 0
	})
}

// audit holds that the API server was asked for nothing that is elsewhere: whatever it
// would have answered.
func (h *house) audit(t *testing.T) {
	t.Helper()
	asked := map[string]int{}
	for _, r := range requests(t, h.since) {
		who := strings.Split(r.as(), ":")
		tenant := len(who) == 4 && slices.Contains([]string{h.a, h.b}, who[2])
		switch {
		case r.ObjectRef.Resource == "selfsubjectaccessreviews", r.ObjectRef.Resource == "selfsubjectrulesreviews":
			// A question, which is of no namespace.
		case tenant:
			if asked[r.as()]++; r.ObjectRef.Namespace != who[2] || who[3] != "bot" {
				t.Errorf("%s left its namespace: %s %s", r.as(), r.Verb, r.RequestURI)
			}
		case r.ImpersonatedUser.Username == "" && strings.HasPrefix(r.UserAgent, "dyncontroller") && r.writes():
			if asked["itself"]++; r.ObjectRef.APIGroup != "dyncontroller.dev" && r.ObjectRef.Resource != "leases" {
				t.Errorf("it wrote as itself: %s %s", r.Verb, r.RequestURI)
			}
		}
	}
	for _, who := range []string{"system:serviceaccount:" + h.a + ":bot", "system:serviceaccount:" + h.b + ":bot", "itself"} {
		if asked[who] == 0 {
			t.Errorf("nothing was asked for by %s, so nothing is shown", who)
		}
	}
	t.Logf("requests: %v", asked)
}
