package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// settled holds that a process that knows nothing of earlier ones finds nothing
// left to write.
func settled(t *testing.T, args ...string) {
	t.Helper()
	before := requests(t)
	if output, code := once(t, args...); code != 0 {
		t.Fatalf("the second run ended with %d:\n%s", code, output)
	}
	if writes := ours(requests(t).Since(before)); len(writes) > 0 {
		t.Errorf("a second run sent writes:\n%s", writes)
	}
}

const components = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: components, namespace: NAMESPACE}
spec:
  params: {least: 3, zones: [a, b], pause: false}
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: at-least
    watch: tidbclusters
    actions:
    - forEach: {component: '${filter(["pd", "tikv", "tidb", "tiflash"], object.spec[#] != nil)}'}
      when: object.spec[component].replicas < params.least
      patch: {merge: {spec: {"${component}": {replicas: "${params.least}"}}}}
    - forEach: {zone: "${params.zones}"}
      patch: {merge: {metadata: {annotations: {"zone-${index}": "${zone}"}}}}
    - when: params.pause
      patch: {merge: {spec: {paused: true}}}
`

// TestForEach holds that an action repeated for several fields of an object is one
// request, and that a constant of the command line goes before the set's.
func TestForEach(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		rules := rulesFile(t, namespace, components)
		shape := func() []any {
			object := get(t, tidbclusters, namespace, "basic")
			annotations := object.GetAnnotations()
			return []any{
				field(object, "spec", "pd", "replicas"), field(object, "spec", "tikv", "replicas"), field(object, "spec", "tidb", "replicas"),
				field(object, "spec", "tiflash"), field(object, "spec", "paused"), annotations["zone-0"] + annotations["zone-1"],
			}
		}
		patch := controlplane.Request{Verb: "PATCH", Group: "pingcap.com", Resource: "tidbclusters", Code: "200"}
		for _, run := range []struct {
			args []string
			want []any
		}{
			{nil, []any{int64(3), int64(3), int64(3), nil, nil, "ab"}},
			{
				[]string{"--param", "components.least=5", "--param", "components.zones=[c]", "--param=components.pause=true"},
				[]any{int64(5), int64(5), int64(5), nil, true, "cb"},
			},
		} {
			args := append([]string{"--rules", rules}, run.args...)
			before := requests(t)
			if output, code := once(t, args...); code != 0 {
				t.Fatalf("%q ended with %d:\n%s", args, code, output)
			}
			if diff := cmp.Diff(run.want, shape()); diff != "" {
				t.Errorf("%q (-want +got):\n%s", args, diff)
			}
			if writes := requests(t).Since(before).Writes(); writes.Count(patch) != 1 {
				t.Errorf("%q: want one patch, have:\n%s", args, writes)
			}
			settled(t, args...)
		}
	})
}

const quotaChildren = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: quota-children, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    ranges: {version: v1, resource: limitranges, labelSelector: of}
  rules:
  - name: children
    watch: tidbclusters
    with: {children: {resource: ranges, matchLabels: {of: "${object.metadata.name}"}}}
    actions:
    - patch: {merge: {metadata: {annotations: {children: "${len(children)}, ${failure?.reason ?? 'fine'}", why: "${failure?.message}"}}}}
    - forEach: {number: "${1..(3 - len(children))}"}
      create: {in: children, manifest: {metadata: {generateName: child-, labels: {of: "${object.metadata.name}"}}, spec: {limits: []}}}
`

// TestFailureIsTold holds that a rule says by its own patch that a quota keeps it from making what it wants, that this stays as it is
// over a restart, and that it goes once there is room.
func TestFailureIsTold(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	quota := func(hard string) { // Nobody else counts: there is no controller of quotas.
		status := fmt.Sprintf(`{"status": {"hard": {"count/limitranges": %q}, "used": {"count/limitranges": "0"}}}`, hard)
		if _, err := client(t).Resource(quotas).Namespace(namespace).
			Patch(t.Context(), "most", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	create(t, quotas, namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: most}, spec: {hard: {count/limitranges: "9"}}}`)
	quota("2")
	tidbCluster(t, namespace, "db", "")
	told := func() string { return get(t, tidbclusters, namespace, "db").GetAnnotations()["children"] }
	args := append(apart(namespace), "--rules", rulesFile(t, namespace, quotaChildren))
	process := start(t, args...)
	eventually(t, "the refusal is told", func() bool { return told() == "2, Forbidden" })
	why := get(t, tidbclusters, namespace, "db").GetAnnotations()["why"]
	if !strings.Contains(why, "exceeded quota") {
		t.Errorf("told why: %s", why)
	}
	version := get(t, tidbclusters, namespace, "db").GetResourceVersion()
	process.wait(t)
	if output, code := once(t, args...); code != 1 {
		t.Errorf("another process ended with %d:\n%s", code, output)
	}
	if now := get(t, tidbclusters, namespace, "db"); now.GetResourceVersion() != version {
		t.Errorf("another process has changed what is told: %v", now.GetAnnotations())
	}
	quota("9")
	start(t, args...)
	eventually(t, "all is told to be fine", func() bool { return told() == "3, fine" })
}

const elements = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: elements, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps, labelSelector: of}
  rules:
  - name: each
    watch: tidbclusters
    with: {found: {resource: configmaps, matchLabels: {of: "${object.metadata.name}"}}}
    actions:
    - forEach: {each: "${found}"}
      patch: {target: each, merge: {data: {a: "1"}}}
    - patch: {merge: {metadata: {annotations: {all: done}}}}
`

// TestElementsAreIndependent holds that an element which the API server refuses keeps a rule from its later actions, but not from
// the other elements.
func TestElementsAreIndependent(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		tidbCluster(t, namespace, "db", "")
		for name, more := range map[string]string{"first": ", immutable: true, data: {a: \"0\"}", "second": "", "third": ""} {
			create(t, configmaps, namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {of: db}}%s}", name, more))
		}
		output, code := once(t, append(apart(namespace), "--rules", rulesFile(t, namespace, elements))...)
		if code != 1 || !strings.Contains(output, "immutable") {
			t.Errorf("the run ended with %d:\n%s", code, output)
		}
		var got []any
		for _, name := range []string{"first", "second", "third"} {
			got = append(got, field(get(t, configmaps, namespace, name), "data", "a"))
		}
		got = append(got, get(t, tidbclusters, namespace, "db").GetAnnotations()["all"])
		if diff := cmp.Diff([]any{"0", "1", "1", ""}, got); diff != "" {
			t.Errorf("data, and the later action (-want +got):\n%s", diff)
		}
	})
}

// TestNothingIsWritten holds that rules that are suspended or audited leave the
// cluster alone, and that an audited one says what it would do.
func TestNothingIsWritten(t *testing.T) {
	for name, tc := range map[string]struct{ field, says string }{
		"Suspended": {"    suspend: true\n    watch:", "0 writes, 0 failures"},
		"Audited":   {"    mode: Audit\n    watch:", "0 writes, 1 in mode Audit not made, 0 failures"},
	} {
		runVirtually(t, name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			created := create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
			rules := rulesFile(t, namespace, strings.ReplaceAll(guardrails, "    watch:", tc.field))
			before := requests(t)
			output, code := once(t, "--rules", rules)
			if code != 0 || !strings.Contains(output, tc.says) {
				t.Errorf("ended with %d, want %q in:\n%s", code, tc.says, output)
			}
			if writes := ours(requests(t).Since(before)); len(writes) > 0 {
				t.Errorf("it sent writes:\n%s", writes)
			}
			after := get(t, tidbclusters, namespace, "basic")
			if after.GetResourceVersion() != created.GetResourceVersion() || len(listEvents(t, namespace)) > 0 {
				t.Errorf("the object changed or an event was recorded:\n%s", output)
			}
			if told := strings.Contains(output, "would patch tidbclusters "+namespace+"/basic"); told != (name == "Audited") {
				t.Errorf("what would be written is told: %t:\n%s", told, output)
			}
		})
	}
}

// TestAuditTakesEffect holds that a rule that is enforced by a reload does what it
// said before, and that the log said it once.
func TestAuditTakesEffect(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		configMap(t, namespace, "cm")
		text := strings.ReplaceAll(strings.ReplaceAll(labelRule, "NAMESPACE", namespace), "COLOR", "red")
		path := rulesFile(t, namespace, strings.Replace(text, "spec:\n", "spec:\n  mode: Audit\n", 1))
		p := start(t, "--rules", path)
		told := func() int { return strings.Count(p.output.String(), `msg="would write"`) }
		eventually(t, "the audit is logged", func() bool { return told() > 0 })
		edit(t, configmaps, namespace, "cm", `{"data":{"unrelated":"1"}}`)
		writeFile(t, path, text)
		eventually(t, "red", func() bool { return color(t, namespace, "cm") == "red" })
		if n := told(); n != 1 {
			t.Errorf("the log says %d times what would be written, want once", n)
		}
	})
}

const status = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: status, namespace: NAMESPACE}
spec:
  resources:
    dashboards: {group: pingcap.com, version: v1alpha1, resource: tidbdashboards}
  rules:
  - name: condition
    watch: dashboards
    let:
      ready: object.metadata.labels.ready == "true"
    actions:
    - patch:
        subresource: status
        merge:
          status:
            phase: '${ready ? "Normal" : "Pending"}'
            statefulSet:
              replicas: 1
              conditions: '${setCondition(object.status.statefulSet?.conditions, {type: "Ready", status: ready ? "True" : "False", reason: "Label"})}'
  - name: first-seen
    watch: dashboards
    actions:
    - patch: {merge: {metadata: {annotations: {first-seen: '${object.metadata.annotations["first-seen"] ?? stamp()}'}}}}
`

// TestConditionOfAStatus holds that a condition with its time is written once to
// the status of a real CRD, and that its time moves only with the condition.
func TestConditionOfAStatus(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbdashboards, namespace,
			`{apiVersion: pingcap.com/v1alpha1, kind: TidbDashboard, metadata: {name: d}, spec: {clusters: [{name: basic}]}}`)
		rules := rulesFile(t, namespace, status)
		read := func() (condition map[string]any, since time.Time, firstSeen string) {
			t.Helper()
			object := get(t, tidbdashboards, namespace, "d")
			all, _ := field(object, "status", "statefulSet", "conditions").([]any)
			if len(all) != 1 {
				t.Fatalf("the conditions are %v, want one", all)
			}
			condition, _ = all[0].(map[string]any)
			since, err := time.Parse(time.RFC3339, fmt.Sprint(condition["lastTransitionTime"]))
			if err != nil {
				t.Fatal(err)
			}
			return condition, since, object.GetAnnotations()["first-seen"]
		}
		begin := time.Now().Truncate(time.Second)
		if output, code := once(t, "--rules", rules); code != 0 {
			t.Fatalf("the first run ended with %d:\n%s", code, output)
		}
		condition, first, seen := read()
		if first.Before(begin) || time.Since(first) > time.Minute || condition["status"] != "False" || seen == "" {
			t.Errorf("the condition is %v, first seen at %q; the test began at %s", condition, seen, begin)
		}
		settled(t, "--rules", rules)

		eventually(t, "the clock goes on", func() bool { return time.Now().Unix() > first.Unix() })
		edit(t, tidbdashboards, namespace, "d", `{"metadata":{"labels":{"other":"1"}}}`)
		settled(t, "--rules", rules)
		edit(t, tidbdashboards, namespace, "d", `{"metadata":{"labels":{"ready":"true"}}}`)
		if output, code := once(t, "--rules", rules); code != 0 {
			t.Fatalf("the last run ended with %d:\n%s", code, output)
		}
		condition, last, still := read()
		if !last.After(first) || condition["status"] != "True" || still != seen {
			t.Errorf("the condition is %v, after %s; first seen at %q, before %q", condition, first, still, seen)
		}
		settled(t, "--rules", rules)
	})
}
