package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// troupe is a set with every action, whose wishes all hold at some time.
const troupe = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: troupe}
spec:
  params: {most: 5}
  let: {prod: object.metadata.labels.env == "prod"}
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    pods: {version: v1, resource: pods}
    maps: {version: v1, resource: configmaps}
  rules:
  - name: odd
    watch: tidbclusters
    let: {pd: "object.spec.pd ?? 0"}
    when: prod && pd % 2 == 0 && pd < params.most
    actions: [{patch: {merge: {spec: {pd: "${pd + 1}"}}}}, {event: {reason: Odd, message: "had ${pd}"}}]
  - name: stamped
    watch: tidbclusters
    actions: [{patch: {subresource: status, merge: {status: {pd: "${object.spec.pd ?? 0}", since: "${stamp()}"}}}}]
  - name: condition
    watch: tidbclusters
    actions:
    - patch:
        subresource: status
        merge:
          status:
            conditions: "${setCondition(object.status.conditions, {type: 'Odd', status: (object.spec.pd ?? 0) % 2 == 1 ? 'True' : 'False', reason: 'Counted'})}"
  - name: listed
    watch: tidbclusters
    actions: [{patch: {json: [{op: add, path: /spec/sorted, value: "${sort(map(object.spec.roles ?? [], #))}"}]}}]
  - name: roles
    watch: tidbclusters
    actions:
    - forEach: {role: "${uniq(object.spec.roles ?? [])}"}
      when: role != ""
      patch: {merge: {metadata: {annotations: {"role/${role}": "yes"}}}}
  - name: config
    watch: tidbclusters
    when: prod
    actions:
    - apply: {resource: maps, prune: true, manifest: {metadata: {name: "${object.metadata.name}-config"}, data: {wanted: "${toJSON(object.spec.wanted)}"}}}
  - name: members
    watch: tidbclusters
    with: {members: {resource: pods, ownedBy: object}}
    when: len(members) < (object.spec.members ?? 0)
    actions: [{create: {in: members, manifest: {metadata: {generateName: "${object.metadata.name}-"}, spec: {image: tidb}}}}]
  - name: failed
    watch: tidbclusters
    with: {mine: {resource: pods, matchLabels: {app: "${object.metadata.name}"}}}
    let: {bad: 'filter(mine, .status.phase == "Failed")'}
    actions:
    - delete: {target: bad}
    - patch: {target: mine, merge: {metadata: {labels: {seen: "yes"}}}}
  - name: guard
    watch: tidbclusters
    when: prod
    onDelete: {actions: [{event: {reason: Bye, message: bye}}]}
`

// TestSettles holds that a rule is silent once all of what it wants is so.
func TestSettles(t *testing.T) {
	s := newStage(t, []string{troupe},
		`{kind: TidbCluster, metadata: {name: basic, labels: {env: prod}}, spec: {pd: 2, members: 2, roles: [b, a, b], wanted: {x: 1}}}`,
		`{kind: Pod, metadata: {name: p-0, labels: {app: basic}}, status: {phase: Failed}}`,
		`{kind: Pod, metadata: {name: p-1, labels: {app: basic}}}`,
	)
	last, err := s.settle()
	if err != nil {
		t.Fatalf("%v:\n%s", err, told(t, s.evaluate()))
	}
	if len(last.Suppressed) > 0 {
		t.Errorf("it settles only since something is suppressed: %v", last.Suppressed)
	}
	if diff := cmp.Diff(1+2, len(s.uids(pods))); diff != "" {
		t.Errorf("one pod is deleted, and two are made (-want +got):\n%s\n%v", diff, s.uids(pods))
	}
	basic := s.objects[tidbclusters][0]
	status := fmt.Sprint(basic["status"])
	if !strings.Contains(status, "since:2026-01-01T12:00:00Z") || !strings.Contains(status, "pd:3") || strings.Count(status, "type:Odd") != 1 {
		t.Errorf("status is %s", status)
	}
	s.now = s.now.Add(24 * time.Hour)
	if p := s.evaluate(); len(p.Operations) > 0 {
		t.Errorf("time alone makes it write again:\n%s", told(t, p))
	}
	// Then a change makes it write the time anew, once.
	basic["spec"].(map[string]any)["pd"] = int64(7)
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	status = fmt.Sprint(s.objects[tidbclusters][0]["status"])
	if !strings.Contains(status, "since:2026-01-02T12:00:00Z") || !strings.Contains(status, "lastTransitionTime:2026-01-01T12:00:00Z") {
		t.Errorf("the stamp is new and the condition has not flipped: %s", status)
	}
}

// TestSettlesWhateverTheObject is TestSettles for objects of all kinds: the rules
// either refuse them or come to an end.
func TestSettlesWhateverTheObject(t *testing.T) {
	text := rapid.SampledFrom([]string{"a", "b", "c", "prod", ""})
	rapid.Check(t, func(t *rapid.T) {
		object := fmt.Sprintf(`{kind: TidbCluster, metadata: {name: basic, labels: {env: %q}, annotations: {x: %q}}, spec: {pd: %d, members: %d, roles: %s, wanted: {%s: %d}, other: %s}}`,
			text.Draw(t, "env"), text.Draw(t, "annotation"), rapid.IntRange(-3, 9).Draw(t, "pd"), rapid.IntRange(0, 3).Draw(t, "members"),
			quotedList(rapid.SliceOfN(rapid.SampledFrom([]string{"pd", "tikv", "tidb", ""}), 0, 4).Draw(t, "roles")),
			"k"+text.Draw(t, "key"), rapid.Int64().Draw(t, "value"), rapid.SampledFrom([]string{"null", "{}", "[]", "[{a: null}]", "1.5"}).Draw(t, "other"))
		objects := []string{object}
		for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
			objects = append(objects, fmt.Sprintf(`{kind: Pod, metadata: {name: p-%d, labels: {app: %s}}, status: {phase: %s}}`, i,
				rapid.SampledFrom([]string{"basic", "other"}).Draw(t, "app"), rapid.SampledFrom([]string{"Failed", "Running"}).Draw(t, "phase")))
		}
		s := newStage(t, []string{troupe}, objects...)
		last, err := s.settle()
		if err != nil {
			t.Fatalf("%v:\n%s", err, object)
		}
		for _, d := range last.Decisions {
			if d.Err != nil {
				t.Fatalf("%s: %v\n%s", d.Rule, d.Err, object)
			}
		}
	})
}

func quotedList(texts []string) string {
	return "[\"" + strings.Join(texts, "\", \"") + "\"]"
}
