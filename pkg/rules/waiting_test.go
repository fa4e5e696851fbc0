package rules_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// TestForWithABreak holds that `for` begins anew after every break of `when`,
// however long it held before.
func TestForWithABreak(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", `
  rules:
  - {name: patient, watch: tidbclusters, when: object.spec.bad == true, for: 5m, actions: [{patch: {merge: {spec: {fixed: true}}}}]}
`)}, `{kind: TidbCluster, metadata: {name: basic}, spec: {bad: true}}`)
	spec, _ := s.objects[tidbclusters][0]["spec"].(map[string]any)
	steps := []struct {
		at   time.Duration
		bad  bool
		want string
	}{
		{0, true, "patient waiting: when holds since 2026-01-01T12:00:00Z, and must hold for 5m0s\nlook again after 5m0s"},
		{4 * time.Minute, true, "patient waiting: when holds since 2026-01-01T12:00:00Z, and must hold for 5m0s\nlook again after 5m0s"},
		{4*time.Minute + time.Second, false, "patient not matched: object.spec.bad == true is false; object.spec.bad is false"},
		{4*time.Minute + 2*time.Second, true, "patient waiting: when holds since 2026-01-01T12:04:02Z, and must hold for 5m0s\nlook again after 9m2s"},
		{9*time.Minute + time.Second, true, "patient waiting: when holds since 2026-01-01T12:04:02Z, and must hold for 5m0s\nlook again after 9m2s"},
		{9*time.Minute + 2*time.Second, true, "patient matched\n" + `merge tidbclusters db/basic {"spec":{"fixed":true}}`},
		{time.Hour, true, "patient matched\n" + `merge tidbclusters db/basic {"spec":{"fixed":true}}`},
	}
	for _, step := range steps {
		s.now, spec["bad"] = noon.Add(step.at), step.bad
		if diff := cmp.Diff(step.want, told(t, s.evaluate())); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", step.at, diff)
		}
	}
}

// TestForAfterARestart holds that what is not remembered begins now, and that a
// clock that went back does not lengthen the wait.
func TestForAfterARestart(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", `
  rules: [{name: patient, watch: tidbclusters, for: 5m, actions: [{patch: {merge: {spec: {fixed: true}}}}]}]
`)}, basic)
	rule := s.set.Rules()[0].ID
	s.held[rule] = noon.Add(time.Hour)
	if p := s.evaluate(); !s.held[rule].Equal(noon) || p.LookAgainAt != noon.Add(5*time.Minute) {
		t.Errorf("held since %s, look again at %s", s.held[rule], p.LookAgainAt)
	}
}

// TestLookAgain holds that time is part of the answer: of all rules the earliest
// change counts, and then the answer is another.
func TestLookAgain(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", `
  rules:
  - {name: old, watch: tidbclusters, when: "olderThan(object.spec.made, '2h')", actions: [{event: {reason: Old, message: old}}]}
  - {name: night, watch: tidbclusters, when: "inWindow('0 22 * * *', '6h', 'UTC')", actions: [{event: {reason: Night, message: night}}]}
  - {name: lazy, watch: tidbclusters, when: "object.spec.never == true && before(object.spec.made)", actions: [{event: {reason: Lazy, message: lazy}}]}
  - {name: patient, watch: tidbclusters, for: 3h, actions: [{event: {reason: Patient, message: patient}}]}
`)}, `{kind: TidbCluster, metadata: {name: basic}, spec: {made: "2026-01-01T11:00:00Z"}}`)
	for _, step := range []struct {
		at      time.Duration
		matched string
		again   time.Duration
	}{
		{0, "", time.Hour},
		{time.Hour, "old", 3 * time.Hour},
		{3 * time.Hour, "old patient", 10 * time.Hour},
		{10 * time.Hour, "old night patient", 16 * time.Hour},
		{16 * time.Hour, "old patient", 34 * time.Hour},
	} {
		s.now = noon.Add(step.at)
		p := s.evaluate()
		var matched []string
		for _, d := range p.Decisions {
			if d.Outcome == plan.Matched {
				matched = append(matched, d.Rule.Name)
			}
		}
		if got := strings.Join(matched, " "); got != step.matched || !p.LookAgainAt.Equal(noon.Add(step.again)) {
			t.Errorf("after %s: %q matched, look again after %s, want %q and %s",
				step.at, got, p.LookAgainAt.Sub(noon), step.matched, step.again)
		}
	}
}

func TestZone(t *testing.T) {
	p := scene{
		rules: `
  params: {zone: Europe/Berlin}
  rules:
  - {name: none, watch: tidbclusters, when: "inWindow('0 22 * * *', '6h')"}
  - {name: param, watch: tidbclusters, when: "inWindow('0 22 * * *', '6h', params.zone)"}
  - {name: other, watch: tidbclusters, when: "after('2026-01-01T00:00:00Z')"}
  - {name: body, watch: tidbclusters, actions: [{event: {reason: A, message: "${window('0 0 * * *', '24h', 'Asia/Tokyo')?.start ?? ''}"}}]}
  - {name: unasked, watch: tidbclusters, when: "false && inWindow('0 22 * * *', '6h', params.zone)"}
  - {name: secret, watch: tidbclusters, with: {s: {resource: secrets, name: s}}, when: "inWindow('0 22 * * *', '6h', fromBase64(s?.data?.zone ?? ''))"}
`, object: "{kind: TidbCluster, metadata: {name: basic, namespace: db}}", secrets: []string{"{metadata: {name: s, namespace: db}, data: {zone: QXNpYS9Ub2t5bw==}}"},
	}
	p.rules = strings.ReplaceAll(p.rules, `"}`+"\n", `", actions: [{event: {reason: A, message: a}}]}`+"\n")
	got := map[string]string{}
	for _, d := range p.evaluate(t).Decisions {
		if d.Err != nil {
			t.Errorf("%s: %v", d.Rule, d.Err)
		}
		got[d.Rule.Name] = d.Zone
	}
	want := map[string]string{"none": "", "param": "Europe/Berlin", "other": "", "body": "Asia/Tokyo", "unasked": "", "secret": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a rule tells the zone that it has asked in, unless it reads Secrets (-want +have):\n%s", diff)
	}
}

// lagging is a source that has not seen all of some resources.
type lagging struct {
	lookup.Objects
	behind []schema.GroupVersionResource
}

// Read implements [lookup.Source].
func (l lagging) Read(q plan.Read) ([]map[string]any, error) {
	if slices.Contains(l.behind, q.From[0].GVR) {
		return nil, fmt.Errorf("listing: %w", lookup.ErrNotSynced)
	}
	return l.Objects.Read(q)
}

const readers = `
  rules:
  - {name: counts, watch: tidbclusters, with: {every: {resource: pods, all: true}}, when: len(every) == 0, for: 5m, actions: [{delete: {}}]}
  - {name: guarded, watch: tidbclusters, with: {every: {resource: pods, all: true}}, when: "(len(every) ?? 0) == 0", actions: [{delete: {}}]}
  - {name: half, watch: tidbclusters, with: {every: {resource: pods, all: true}}, actions: [{patch: {merge: {spec: {half: true}}}}, {event: {reason: Half, message: half}}, {patch: {target: every, merge: {a: b}}}]}
  - {name: lazy, watch: tidbclusters, with: {every: {resource: pods, all: true}}, when: object.spec.never == true && len(every) == 0, actions: [{delete: {}}]}
  - {name: other, watch: tidbclusters, actions: [{patch: {merge: {spec: {other: true}}}}]}
`

// TestUnsyncedIsNotEmpty holds that a rule that would have read a cache that is
// not complete does nothing at all, forgets nothing, and holds no other rule up.
func TestUnsyncedIsNotEmpty(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", readers)}, basic)
	since := noon.Add(-4 * time.Minute)
	for _, rule := range s.set.Rules() {
		if rule.ID.Name == "counts" {
			s.held[rule.ID] = since
		}
	}
	s.related = lagging{s.objects, []schema.GroupVersionResource{pods}}
	p := s.evaluate()
	const incomplete = "skipped: a cache that it reads is not complete"
	want := "counts " + incomplete + "\nguarded " + incomplete + "\nhalf " + incomplete + `
lazy not matched: object.spec.never == true is false; object.spec.never is absent
other matched
merge tidbclusters db/basic {"spec":{"other":true}}
read pods by all `
	if diff := cmp.Diff(want, told(t, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, d := range p.Decisions {
		if d.Rule.Name == "counts" && !d.HeldSince.Equal(since) {
			t.Errorf("it forgot since when it holds: %s", d.HeldSince)
		}
	}
	s.now, s.related = noon.Add(time.Minute), nil
	if p := s.evaluate(); p.Decisions[0].Outcome != plan.Matched {
		t.Errorf("five minutes have passed, but %s: %s", p.Decisions[0].Outcome, p.Decisions[0].Reason)
	}
}

// TestFailingSource holds that any other error of a source fails its rule, and
// only that.
func TestFailingSource(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", readers)}, basic)
	s.related = failing{}
	p := s.evaluate()
	outcomes := map[string]plan.Outcome{}
	for _, d := range p.Decisions {
		outcomes[d.Rule.Name] = d.Outcome
		if d.Outcome == plan.Failed && !strings.Contains(d.Reason, errForbidden.Error()) {
			t.Errorf("%s: the reason is lost: %s", d.Rule.Name, d.Reason)
		}
	}
	want := map[string]plan.Outcome{
		"counts": plan.Failed, "guarded": plan.Failed, "half": plan.Failed, "lazy": plan.Unmatched, "other": plan.Matched,
	}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(p.Operations) != 1 || len(p.Events) != 0 {
		t.Errorf("what failed wants something:\n%s", told(t, p))
	}
}

var errForbidden = errors.New("pods is forbidden")

type failing struct{}

// Read implements [lookup.Source].
func (failing) Read(plan.Read) ([]map[string]any, error) { return nil, errForbidden }
