package simulate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

func TestTimeline(t *testing.T) {
	const (
		hourly = `{name: hourly, watch: pods, actions: [{patch: {merge: {metadata: {labels: {hour: '${window("0 * * * *", "1h")?.start[11:13]}'}}}}}]}`
		idle   = `{name: idle, watch: pods, when: 'inWindow("0 * * * *", "30m") && object.metadata.name == "x"', actions: [{event: {reason: A, message: a}}]}`
		once   = `{name: once, watch: pods, when: 'after("2026-01-01T02:30:00Z")', actions: [{event: {reason: A, message: a}}]}`
		passed = `{name: passed, watch: pods, when: 'after("2025-01-01T00:00:00Z")', actions: [{event: {reason: A, message: a}}]}`
		moves  = `{name: moves, watch: pods, when: 'inWindow("0 0 * * *", "2h", object.metadata.annotations?.zone ?? "UTC")', actions: [{event: {reason: A, message: a}}]}`
		wrong  = `{name: wrong, watch: pods, actions: [{patch: {merge: {metadata: {labels: {a: '${window("0 */2 * * *", "2h")?.start}'}}}}}]}`
	)
	for name, tc := range map[string]struct {
		reason, rules string
		most          simulate.TimelineLimits
		want          []string
		cut           string
	}{
		"all": {
			"each hour, and both ends", hourly, simulate.DefaultTimelineLimits(),
			[]string{"00:00 set/hourly", "01:00 set/hourly", "02:00 set/hourly", "03:00 set/hourly"},
			"",
		},
		"as many as there may be": {
			"what is left out would be at the cut", hourly,
			simulate.TimelineLimits{Moments: 2, Looks: 100},
			[]string{"00:00 set/hourly", "01:00 set/hourly"},
			"02:00",
		},
		"just enough": {
			"nothing is left out", hourly,
			simulate.TimelineLimits{Moments: 4, Looks: 100},
			[]string{"00:00 set/hourly", "01:00 set/hourly", "02:00 set/hourly", "03:00 set/hourly"},
			"",
		},
		"asked in vain": {
			"looks are bounded where nothing changes", idle,
			simulate.TimelineLimits{Moments: 100, Looks: 3},
			nil, "01:30",
		},
		"refused": {
			"that a write is refused again and again is told once for each value", wrong, simulate.DefaultTimelineLimits(),
			[]string{"00:00 set/wrong", "02:00 set/wrong"},
			"",
		},
		"between": {
			"rules that are asked at other times tell nothing then", idle + ", " + once, simulate.DefaultTimelineLimits(),
			[]string{"02:30 set/once"},
			"",
		},
		"from the beginning": {
			"what applies at first is told, and what does not is left out", passed + ", " + once, simulate.DefaultTimelineLimits(),
			[]string{"00:00 set/passed", "02:30 set/once"},
			"",
		},
		"zone of the object": {
			"the window that an annotation places in Berlin is open at first", moves, simulate.DefaultTimelineLimits(),
			[]string{"01:00 set/moves", "02:00 set/moves"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, errs := simulate.ParseObjects(document.File{Name: "pod.yaml", Data: []byte(
				"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, annotations: {zone: Europe/Berlin}, creationTimestamp: '2026-01-01T00:00:00Z'}, " +
					"spec: {containers: [{name: a, image: a}]}}")})
			if err := errs.Err(); err != nil {
				t.Fatal(err)
			}
			set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte("{apiVersion: dyncontroller.dev/v1alpha1, kind: ClusterRuleSet, " +
				"metadata: {name: set}, spec: {resources: {pods: {version: v1, resource: pods}}, rules: [" + tc.rules + "]}}")}},
				rules.Options{Schemas: simulate.Schemas(nil, objects)})
			if err := errs.Of(document.Mistake).Err(); err != nil {
				t.Fatal(err)
			}
			from := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
			got, err := simulate.Evaluation{Rules: set, Object: objects[0], Now: from}.Timeline(t.Context(), from.Add(3*time.Hour), tc.most)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, m := range got.Moments {
				told = append(told, m.At.Format("15:04 ")+m.Rule)
			}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
			}
			cut := ""
			if !got.Cut.IsZero() {
				cut = got.Cut.Format("15:04")
			}
			if cut != tc.cut {
				t.Errorf("%s: cut at %q, want %q", tc.reason, cut, tc.cut)
			}
		})
	}
}
