package main

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// long is for make test-long.
var long = flag.Bool("long", false, "play all scenarios, not some")

// TestParity plays scenarios with kube-controller-manager and with the rules: all but what is explained must be the same.
func TestParity(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			o := options{root: "../..", every: 6, scenarios: 4, parallel: 4, quiet: 5 * time.Second}
			if *long {
				o.every, o.scenarios, o.parallel, o.quiet = 1, 60, 16, time.Minute
			}
			r, err := prove(t.Context(), e, o)
			if err != nil {
				var lines strings.Builder
				r.tell(&lines)
				r.print(&lines, o)
				t.Errorf("%v\n%s", err, lines.String())
			}
		})
	}
}

// TestScenarios holds that all scenarios can be read, and are the same each time.
func TestScenarios(t *testing.T) {
	for _, e := range examples() {
		b, err := readBook(e.name)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for number := range 100 {
			steps, err := b.scenario(number)
			if err != nil {
				t.Fatal(err)
			}
			again, err := b.scenario(number)
			if err != nil || words(steps) != words(again) {
				t.Errorf("%s %d is once %q and once %q", e.name, number, words(steps), words(again))
			}
			for _, s := range steps {
				used[s.say] = true
			}
		}
		for name := range b.Steps {
			if !used[name] {
				t.Errorf("%s: the step %q is in none of 100 scenarios", e.name, name)
			}
		}
	}
}

// TestDifferences holds that the comparison finds what differs, and nothing else.
func TestDifferences(t *testing.T) {
	tests := map[string]struct {
		reason       string
		theirs, ours any
		want         []string
	}{
		"same":       {"There is nothing to tell.", object{"a": list{"b"}}, object{"a": list{"b"}}, nil},
		"leaf":       {"The path leads to it.", object{"a": object{"b": 1}}, object{"a": object{"b": 2}}, []string{"a.b: 1 != 2"}},
		"absent":     {"It is null.", object{"a": 1}, object{}, []string{"a: 1 != null"}},
		"element":    {"Others are left out.", list{"x", "y", "z"}, list{"z", "x"}, []string{`[]: "y" != null`}},
		"one twice":  {"Each counts.", list{"x", "x"}, list{"x"}, []string{`[]: "x" != null`}},
		"order":      {"It may matter.", list{"x", "y"}, list{"y", "x"}, []string{": another order"}},
		"other type": {"Both are told whole.", object{"a": list{}}, object{"a": object{}}, []string{"a: [] != {}"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, differences("", tc.theirs, tc.ours)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNormal holds that what two runs cannot have in common is left out.
func TestNormal(t *testing.T) {
	const uid = "01234567-89ab-cdef-0123-456789abcdef"
	w := &world{names: map[string]string{uid: "Pod web-x7k2z"}}
	have := w.normal("rules-7", "", object{
		"metadata": object{
			"name": "web-x7k2z", "namespace": "rules-7", "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z",
			"labels": object{"app": "web", "dyncontroller.dev/set": "a"}, "annotations": object{"dyncontroller.dev/a": "b"},
		},
		"status": object{"conditions": list{object{"type": "B", "at": "2026-01-01T00:00:00Z"}, object{"type": "A", "message": "of " + uid}}},
	})
	want := object{
		"metadata": object{"name": "web-*", "namespace": "NAMESPACE", "labels": object{"app": "web"}, "annotations": nil},
		"status":   object{"conditions": list{object{"type": "B", "at": "TIME"}, object{"type": "A", "message": "of uid of Pod web-*"}}},
	}
	if diff := cmp.Diff(any(want), have); diff != "" {
		t.Error(diff)
	}
}
