package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// relatedRules look at Pods in a form of `with` and never act, so that nothing but the changes of the test is seen.
const relatedRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: related, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
    pods: {version: v1, resource: pods, labelSelector: part=db}
  rules:
  - name: look
    watch: tidbclusters
    with:
      FORM
    when: WHEN || object.metadata.labels.poke == "never"
    actions: [{event: {reason: Never, message: never}}]
`

// uids are those of the objects that Pods may belong to: TidbClusters by their name, and ConfigMaps of them.
type uids map[string]types.UID

// form is how Pods can be related to a TidbCluster: how a rule says so, and what metadata such a Pod has.
type form struct {
	with     string
	when     string // default: about a list
	metadata func(of string, owners uids) string
	named    bool // by what cannot be changed
	shared   bool // each Pod concerns every TidbCluster
}

var forms = map[string]form{
	"name": {
		with:     `found: {resource: pods, name: "${object.metadata.name}-0"}`,
		when:     `found?.metadata.labels.color == "never"`,
		metadata: func(string, uids) string { return "annotations: {}" }, named: true,
	},
	"names": {
		with:     `found: {resource: pods, names: ["${object.metadata.name}-0", "${object.metadata.name}-1", "${nil}"]}`,
		metadata: func(string, uids) string { return "annotations: {}" }, named: true,
	},
	"matchLabels": {
		with:     `found: {resource: pods, matchLabels: {app: "${object.metadata.name}"}}`,
		metadata: func(of string, _ uids) string { return fmt.Sprintf("labels: {part: db, app: %s}", of) },
	},
	"selector": {
		with:     `found: {resource: pods, selector: {matchExpressions: [{key: app, operator: In, values: ["${object.metadata.name}"]}]}}`,
		metadata: func(of string, _ uids) string { return fmt.Sprintf("labels: {part: db, app: %s}", of) },
	},
	"matchFields": {
		with:     `found: {resource: pods, matchFields: {metadata.annotations.belongs: "${object.metadata.name}"}}`,
		metadata: func(of string, _ uids) string { return fmt.Sprintf("annotations: {belongs: %s}", of) },
	},
	"ownedBy": {
		with: `found: {resource: pods, ownedBy: object}`,
		metadata: func(of string, owners uids) string {
			return ownerReferences("pingcap.com/v1alpha1", "TidbCluster", of, owners[of])
		},
	},
	"hops": {
		with: "settings: {resource: configmaps, ownedBy: object}\n      found: {resource: pods, ownedBy: settings}",
		metadata: func(of string, owners uids) string {
			return ownerReferences("v1", "ConfigMap", of+"-settings", owners[of+"-settings"])
		},
	},
	"all": {
		with:     `found: {resource: pods, all: true}`,
		metadata: func(string, uids) string { return "annotations: {}" }, shared: true,
	},
}

func ownerReferences(apiVersion, kind, name string, uid types.UID) string {
	return fmt.Sprintf("ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]", apiVersion, kind, name, uid)
}

// TestRelatedReevaluates holds that a change of a Pod evaluates, once, the TidbClusters that it concerns and no others.
func TestRelatedReevaluates(t *testing.T) {
	for name, form := range forms {
		runVirtually(t, name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			allowPods(t, namespace)
			owners := uids{}
			clusters := []string{"a", "b", "c", "barrier"}
			for _, name := range clusters {
				owners[name] = tidbCluster(t, namespace, name, "").GetUID()
				settings := create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-settings, %s}}`,
					name, ownerReferences("pingcap.com/v1alpha1", "TidbCluster", name, owners[name])))
				owners[settings.GetName()] = settings.GetUID()
			}
			text := strings.NewReplacer("NAMESPACE", namespace, "FORM", form.with,
				"WHEN", cmp.Or(form.when, `any(found, .metadata.labels.color == "never")`)).Replace(relatedRules)
			newPod := func(of string) { pod(t, namespace, of+"-0", mergeLabels(form.metadata(of, owners))) }
			newPod("barrier")
			evaluated := observe(t, text)
			for _, name := range clusters {
				eventually(t, name+" is evaluated", func() bool { return evaluated.since(nil)[name] > 0 })
			}
			concerned := func(names ...string) []string {
				if form.shared {
					return clusters
				}
				return names
			}
			// A change of a Pod comes after all changes of Pods before it.
			colors := 0
			barrier := func() []string {
				colors++
				edit(t, pods, namespace, "barrier-0", fmt.Sprintf(`{"metadata":{"labels":{"color":"c%d"}}}`, colors))
				return concerned("barrier")
			}
			// What the start still has in the queue comes before this.
			before := evaluated.since(nil)
			barrier()
			eventually(t, "the barrier is evaluated", func() bool { return evaluated.since(before)["barrier"] > 0 })
			// A cache that has become complete meanwhile has each of them evaluated once more.
			last, quiet := map[string]int{}, 0
			eventually(t, "the queue is empty", func() bool {
				now := evaluated.since(nil)
				if quiet++; !maps.Equal(now, last) {
					last, quiet = now, 0
				}
				return quiet >= 5
			})

			editPod := func(patch string) func() {
				return func() { edit(t, pods, namespace, "a-0", asJSON(t, patch)) }
			}
			owner := "a" // of the Pod, once it has been moved
			changes := []change{
				{what: "one of a, which found none before", concerned: concerned("a"), do: func() { newPod("a") }},
				{what: "one of b", concerned: concerned("b"), do: func() { newPod("b") }},
				{what: "another colour", concerned: concerned("a"), do: editPod(`{metadata: {labels: {color: red}}}`)},
			}
			if !form.shared {
				changes = append(changes, change{
					what: "one that nobody asked for", do: func() { pod(t, namespace, "stranger-0", "labels: {part: db, app: nobody}") },
				})
			}
			if !form.named && !form.shared {
				owner = "c"
				changes = append(changes, change{
					what: "moved from a to c", concerned: concerned("a", "c"),
					do: editPod("{metadata: {" + form.metadata("c", owners) + "}}"),
				})
			}
			changes = append(changes,
				change{what: "no longer selected", concerned: concerned(owner), do: editPod(`{metadata: {labels: {part: null}}}`)},
				change{what: "selected again", concerned: concerned(owner), do: editPod(`{metadata: {labels: {part: db}}}`)})
			// The API server first marks a Pod as being deleted, which is a change of its own.
			changes = append(changes, change{
				what: "deleted", concerned: concerned(owner), most: 2,
				do: func() { deleteObject(t, pods, namespace, "a-0") },
			})
			if !form.shared {
				changes = append(changes, change{what: "created again", concerned: concerned("a"), do: func() { newPod("a") }})
			}
			for _, c := range changes {
				evaluated.expect(t, c, barrier)
			}
		})
	}
}

// mergeLabels adds what the declaration selects by, where the metadata has no labels.
func mergeLabels(metadata string) string {
	if strings.HasPrefix(metadata, "labels:") {
		return metadata
	}
	return "labels: {part: db}, " + metadata
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
