package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// needsWorld declares resources in all scopes.
const needsWorld = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    pods: {version: v1, resource: pods}
    here: {version: v1, resource: pods, namespaces: [b, a, b]}
    nodes: {version: v1, resource: nodes}
    configmaps: {version: v1, resource: configmaps, namespaces: [a]}
    one: {version: v1, resource: configmaps, namespaces: [a], fieldSelector: metadata.name=settings}
    ready: {version: v1, resource: configmaps, namespaces: [a], fieldSelector: "metadata.name=settings,metadata.namespace=a"}
    service: {version: v1, resource: services, namespaces: [a], fieldSelector: metadata.name=web}
    labelled: {version: v1, resource: persistentvolumeclaims, labelSelector: app=x}
    events: {group: events.k8s.io, version: v1, resource: events, namespaces: [a]}
  rules:
`

// needed writes what rules need as a line for each resource and scope, with the verbs
// in front: "get,list,watch pods cluster-wide".
func needed(set *rules.Set) string {
	var lines []string
	verbs := map[string][]string{}
	for _, need := range set.Needs() {
		_, what, _ := strings.Cut(need.String(), " ")
		if verbs[what] == nil {
			lines = append(lines, what)
		}
		verbs[what] = append(verbs[what], need.Verb)
	}
	for i, what := range lines {
		lines[i] = strings.Join(verbs[what], ",") + " " + what
	}
	return strings.Join(lines, "\n")
}

// TestNeeds holds which rights rules need, and where.
func TestNeeds(t *testing.T) {
	const event, merge = "{event: {reason: A, message: b}}", "{patch: {merge: {metadata: {labels: {a: b}}}}}"
	tests := map[string]struct {
		reason string
		rule   string
		want   []string
	}{
		"watch": {
			"What is watched is read live, too.", `watch: here, actions: [` + merge + `]`,
			[]string{"get,list,patch,watch pods in namespace a", "get,list,patch,watch pods in namespace b"},
		},
		"of the cluster": {
			"What has no namespaces is in none.", `watch: nodes, actions: [` + merge + `]`,
			[]string{"get,list,patch,watch nodes cluster-wide"},
		},
		"unused with": {
			"A cache is kept of all that is declared by with.", `watch: nodes, with: {more: {resource: pods, all: true, namespace: "*"}}, actions: [` + merge + `]`,
			[]string{"get,list,patch,watch nodes cluster-wide", "list,watch pods cluster-wide"},
		},
		"named": {
			"What a cache does not have is asked for once more by its name before anything is deleted", `watch: nodes, with: {a: {resource: configmaps, name: a, namespace: a}, b: {resource: here, all: true, namespace: a}}, when: a == nil && len(b) == 0, actions: [{delete: {}}]`,
			[]string{
				"get,list,watch configmaps in namespace a", "delete,get,list,watch nodes cluster-wide",
				"list,watch pods in namespace a", "list,watch pods in namespace b",
			},
		},
		"named, and patched": {
			"or lets go of, and by a new leader before any write.", `watch: nodes, with: {a: {resource: configmaps, name: a, namespace: a}}, when: a == nil, actions: [` + merge + `, ` + event + `]`,
			[]string{
				"get,list,watch configmaps in namespace a", "get,list,patch,watch nodes cluster-wide", "create,get,update events.events.k8s.io in namespace default",
			},
		},
		"named, and told": {
			"Nothing is written.", `watch: nodes, with: {a: {resource: configmaps, name: a, namespace: a}}, when: a == nil, actions: [` + event + `]`,
			[]string{
				"list,watch configmaps in namespace a", "get,list,watch nodes cluster-wide", "create,get,update events.events.k8s.io in namespace default",
			},
		},
		"own target": {
			"The watched object is where the watched ones are, not wherever one may look.",
			`watch: here, with: {more: {resource: pods, all: true, namespace: "*"}}, when: len(more) > 1, actions: [{delete: {}}]`,
			[]string{"list,watch pods cluster-wide", "delete,get,list,watch pods in namespace a", "delete,get,list,watch pods in namespace b"},
		},
		"other target": {
			"Another can be whatever is read.",
			`watch: here, with: {more: {resource: pods, all: true, namespace: "*"}}, actions: [{delete: {target: more}}]`,
			[]string{"delete,get,list,watch pods cluster-wide", "delete,get,list,watch pods in namespace a", "delete,get,list,watch pods in namespace b"},
		},
		"name": {
			"A list of one name can be allowed by name.", `watch: one, actions: [` + merge + `]`,
			[]string{`get,list,patch,watch configmaps "settings" in namespace a`},
		},
		"name and more": {
			"Only where it is nothing but that.", `watch: ready, actions: [` + merge + `]`,
			[]string{"get,list,patch,watch configmaps in namespace a"},
		},
		"subresource": {
			"A subresource has rights of its own.", `watch: service, actions: [{patch: {merge: {metadata: {labels: {a: b}}}, subresource: status}}]`,
			[]string{`get,list,watch services "web" in namespace a`, `patch services/status "web" in namespace a`},
		},
		"apply patch": {
			"To give up fields and leave them takes the object itself, and the list finds them later.",
			`watch: service, actions: [{patch: {apply: {metadata: {labels: {a: b}}}, subresource: status}}]`,
			[]string{
				"get,list services in namespace a", `get,list,patch,watch services "web" in namespace a`, `patch services/status "web" in namespace a`,
			},
		},
		"removed": {
			"To give up fields with their values does not.",
			`watch: here, actions: [{patch: {apply: {metadata: {labels: {a: b}}}, subresource: status, release: Remove}}]`,
			[]string{
				"get,list pods cluster-wide", "get,list,watch pods in namespace a", "get,list,watch pods in namespace b",
				"patch pods/status in namespace a", "patch pods/status in namespace b",
			},
		},
		"event": {
			"An Event is beside its object,", `watch: here, actions: [` + event + `]`,
			[]string{
				"get,list,watch pods in namespace a", "get,list,watch pods in namespace b",
				"create,get,update events.events.k8s.io in namespace a", "create,get,update events.events.k8s.io in namespace b",
			},
		},
		"event of the cluster": {
			"or in the default namespace.", `watch: nodes, actions: [` + event + `]`,
			[]string{"get,list,watch nodes cluster-wide", "create,get,update events.events.k8s.io in namespace default"},
		},
		"event of one": {
			"Its name is another than that of its object.", `watch: one, actions: [` + event + `]`,
			[]string{`get,list,watch configmaps "settings" in namespace a`, "create,get,update events.events.k8s.io in namespace a"},
		},
		"events": {
			"Events can be watched like anything.", `watch: events, actions: [{delete: {}}]`,
			[]string{"delete,get,list,watch events.events.k8s.io in namespace a"},
		},
		"apply": {
			"What is made is found again, and what is not ours is told of at the watched object.",
			`watch: nodes, actions: [{apply: {resource: configmaps, manifest: {metadata: {name: x, namespace: a}}}}]`,
			[]string{
				"create,get,list,patch,watch configmaps in namespace a", "get,list,watch nodes cluster-wide", "update nodes/finalizers cluster-wide",
				"create,get,update events.events.k8s.io in namespace default",
			},
		},
		"keep": {
			"Whatever is there is left alone, silently.",
			`watch: nodes, actions: [{apply: {resource: configmaps, existing: Keep, owned: false, manifest: {metadata: {name: x, namespace: a}}}}]`,
			[]string{"create,get,list,patch,watch configmaps in namespace a", "get,list,watch nodes cluster-wide"},
		},
		"prune": {
			"To prune takes to be certain that the parent is gone.",
			`watch: here, actions: [{apply: {resource: configmaps, existing: Keep, owned: false, prune: true, manifest: {metadata: {name: x, namespace: a}}}}]`,
			[]string{
				"create,delete,get,list,patch,watch configmaps in namespace a", "list pods cluster-wide",
				"get,list,watch pods in namespace a", "get,list,watch pods in namespace b",
			},
		},
		"create": {
			"What is created stays. It is sent without its name, so it cannot be allowed for one.",
			`watch: nodes, with: {made: {resource: one, all: true, namespace: a}}, actions: [{create: {in: made, owned: false, manifest: {metadata: {name: settings, namespace: a}}}}]`,
			[]string{
				"create configmaps in namespace a", `get,list,watch configmaps "settings" in namespace a`, "get,list,watch nodes cluster-wide",
			},
		},
		"apply one": {
			"What is applied is sent with its name; labels find it later.",
			`watch: nodes, actions: [{apply: {resource: one, existing: Keep, owned: false, manifest: {metadata: {name: settings, namespace: a}}}}]`,
			[]string{
				"get,list configmaps in namespace a", `create,get,list,patch,watch configmaps "settings" in namespace a`, "get,list,watch nodes cluster-wide",
			},
		},
		"hold": {
			"What left the selection with a finalizer on is looked for.", `watch: here, onDelete: {actions: [{delete: {}}]}`,
			[]string{"get,list pods cluster-wide", "delete,get,list,patch,watch pods in namespace a", "delete,get,list,patch,watch pods in namespace b"},
		},
		"hold with labels": {
			"Labels are nothing to RBAC.", `watch: labelled, onDelete: {actions: [{delete: {}}]}`,
			[]string{"delete,get,list,patch,watch persistentvolumeclaims cluster-wide"},
		},
		"hold by name": {
			"What it is held for is read once more before it is let go.",
			`watch: nodes, with: {user: {resource: configmaps, name: user, namespace: a}}, onDelete: {actions: [` + event + `], done: user == nil}`,
			[]string{
				"get,list,watch configmaps in namespace a", "get,list,patch,watch nodes cluster-wide", "create,get,update events.events.k8s.io in namespace default",
			},
		},
		"audited": {
			"Who writes nothing needs no right to.", `mode: Audit, watch: one, actions: [` + merge + `,` + event + `, {patch: {apply: {metadata: {labels: {a: b}}}}}]`,
			[]string{`get,list,watch configmaps "settings" in namespace a`},
		},
		"suspended": {
			"But finalizers from before are taken off.", `suspend: true, watch: labelled, onDelete: {actions: [{delete: {}}]}`,
			[]string{"get,list,patch,watch persistentvolumeclaims cluster-wide"},
		},
		"loop": {
			"A loop over what was read.",
			`watch: nodes, with: {more: {resource: configmaps, all: true, namespace: a}}, actions: [{forEach: {each: "${more}"}, delete: {target: each}}]`,
			[]string{"delete,get,list,watch configmaps in namespace a", "get,list,watch nodes cluster-wide"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := loadFiles(t, rules.Options{Schemas: schemas.Catalog(t)}, needsWorld+"  - {name: r, "+tc.rule+"}\n")
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), needed(set)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNeedsOfRuleSet holds that a RuleSet needs nothing outside of its namespace, and
// that of what nothing is known the scope is taken as declared.
func TestNeedsOfRuleSet(t *testing.T) {
	text := wholeSet("RuleSet", "name: a, namespace: shop", `
  rules:
  - {name: r, watch: tidbclusters, onDelete: {actions: [{event: {reason: A, message: b}}]}, actions: [{apply: {resource: pods, prune: true, manifest: {metadata: {name: p}}}}]}
`)
	for _, need := range loadFiles(t, rules.Options{}, text).Needs() {
		if need.Namespace != "shop" {
			t.Errorf("it needs to %s", need)
		}
	}
}

// TestNeedsNameTheirRules holds that each right is there once, in order, with the rules
// that need it.
func TestNeedsNameTheirRules(t *testing.T) {
	set := loadFiles(t, rules.Options{}, needsWorld+`
  - {name: first, watch: pods, actions: [{delete: {}}]}
  - {name: second, watch: nodes, actions: [{delete: {}}]}
  - {name: third, watch: "pods,nodes", actions: [{event: {reason: A, message: b}}]}
`)
	var got []string
	for _, need := range set.Needs() {
		line := need.String() + ":"
		for _, rule := range need.Rules {
			line += " " + rule.Name
		}
		got = append(got, line)
	}
	want := []string{
		"delete nodes cluster-wide: second", "get nodes cluster-wide: second third", "list nodes cluster-wide: second third", "watch nodes cluster-wide: second third",
		"delete pods cluster-wide: first", "get pods cluster-wide: first third", "list pods cluster-wide: first third", "watch pods cluster-wide: first third",
		"create events.events.k8s.io cluster-wide: third", "get events.events.k8s.io cluster-wide: third", "update events.events.k8s.io cluster-wide: third",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNeedsCoverPlans holds that whatever a plan sends of the rules that use all of the
// language is among the rights that they need, and in the footprint.
func TestNeedsCoverPlans(t *testing.T) {
	set := mustLoad(t, world+rich)
	rapid.Check(t, func(t *rapid.T) {
		s := &stage{t: t, set: set, now: noon, held: map[plan.Rule]time.Time{}}
		s.objects = drawWorld(t)
		p := s.evaluate()
		for _, operation := range p.Operations {
			verb := map[plan.Type]string{plan.Create: "create", plan.Delete: "delete"}[operation.Type]
			if verb == "" {
				verb = "patch"
			}
			permission := plan.Permission{Verb: verb, Resource: operation.Target.GVR.GroupResource(), Subresource: operation.Subresource}
			covers(t, set, permission, operation.Rules...)
		}
		for _, event := range p.Events {
			covers(t, set, plan.Permission{Verb: "create", Resource: eventsResource}, event.Rule)
		}
		for _, read := range p.Reads {
			covers(t, set, plan.Permission{Verb: "list", Resource: read.From[0].GVR.GroupResource()})
		}
	})
}

// eventsResource is where Events are.
var eventsResource = apischema.GroupResource{Group: "events.k8s.io", Resource: "events"}

// drawWorld is a cluster of objects that the rules may read and write.
func drawWorld(t *rapid.T) lookup.Objects {
	return lookup.Objects{
		tidbclusters: {drawObject(t, "TidbCluster", "basic")},
		pods:         drawObjects(t, "Pod", "p-0", "p-1", "p-2"),
		configMaps:   drawObjects(t, "ConfigMap", "basic-config", "basic-child", "other"),
	}
}

func covers(t *rapid.T, set *rules.Set, permission plan.Permission, of ...plan.Rule) {
	for _, need := range set.Needs() {
		if need.Permission != permission {
			continue
		}
		for _, rule := range of {
			if !slices.Contains(need.Rules, rule) {
				t.Fatalf("%s is sent for %v, and needed by %v", permission, rule, need.Rules)
			}
		}
		return
	}
	t.Fatalf("%s is sent, and not among\n%s", permission, fmt.Sprint(set.Needs()))
}
