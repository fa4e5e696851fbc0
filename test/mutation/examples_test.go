package mutation_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/mutation"
)

// least is the share of mutants that the cases of an example must catch, in percent.
const least = 90

// long is for make test-long. The short form tries at most so many mutants of an example, from all of its rules.
var long = flag.Bool("long", false, "try every mutant")

const most = 60

const root = "../../examples/rules"

// examples are the folders of example rules.
func examples(t *testing.T) map[string]*mutation.Example {
	t.Helper()
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*mutation.Example{}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		example, err := mutation.Read(os.DirFS(filepath.Join(root, folder.Name())))
		if err != nil {
			t.Fatal(err)
		}
		out[folder.Name()] = example
	}
	if len(out) < 3 {
		t.Fatalf("found %d examples", len(out))
	}
	return out
}

// TestExamples changes one thing at a time in the rules of each example, and wants a case to fail.
func TestExamples(t *testing.T) {
	for name, example := range examples(t) {
		t.Run(name, func(t *testing.T) {
			report, err := example.Run(t.Context(), "", nil)
			if err != nil || report.Count(simulate.Pass) != len(report.Results) {
				t.Fatalf("its cases do not pass: %v\n%s", err, report.Summary())
			}
			var all []trial
			for _, path := range example.Rules {
				mutants, err := mutation.Mutants(example.File(path))
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range mutants {
					all = append(all, trial{path: path, Mutant: m})
				}
			}
			known := equivalent()[name]
			for mutant := range known {
				if !slices.ContainsFunc(all, func(one trial) bool { return one.name() == mutant }) {
					t.Errorf("there is no mutant %q", mutant)
				}
			}
			if step := (len(all) + most - 1) / most; !*long && step > 1 {
				sample := all[:0]
				for i := 0; i < len(all); i += step {
					sample = append(sample, all[i])
				}
				all = sample
			}
			try(t, example, all)
			judge(t, known, all)
		})
	}
}

type trial struct {
	path string
	mutation.Mutant
	verdict mutation.Verdict
}

// name tells mutants of several files apart.
func (t *trial) name() string { return t.path + ": " + t.String() }

// try runs the cases on each mutant, as many at a time as there are processors.
func try(t *testing.T, example *mutation.Example, all []trial) {
	t.Helper()
	next := make(chan *trial)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for one := range next {
				var err error
				if one.verdict, err = example.Try(t.Context(), one.path, one.Mutant); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range all {
		next <- &all[i]
	}
	close(next)
	workers.Wait()
}

// judge tells the share of mutants that are caught, and lists the others.
func judge(t *testing.T, known map[string]string, all []trial) {
	t.Helper()
	caught, same := 0, 0
	var survivors, refused []string
	for _, one := range all {
		reason, is := known[one.name()]
		switch {
		case one.verdict == mutation.Refused:
			refused = append(refused, one.String())
		case one.verdict == mutation.Caught && is:
			t.Errorf("%s is said to change nothing (%s), and is caught", one.Mutant, reason)
		case one.verdict == mutation.Caught:
			caught++
		case is:
			same++
		default:
			survivors = append(survivors, fmt.Sprintf("%s:%d: %s", one.path, one.Line, one.Mutant))
		}
	}
	valid := len(all) - len(refused)
	t.Logf("%d of %d mutants are caught, %d%%; %d of the others mean the same", caught, valid, 100*caught/valid, same)
	list(t, "survive", survivors)
	list(t, "do not compile", refused)
	if 100*caught < least*valid {
		t.Errorf("want %d%% to be caught", least)
	}
}

func list(t *testing.T, which string, mutants []string) {
	t.Helper()
	if len(mutants) > 0 {
		t.Logf("%d %s:\n%s", len(mutants), which, strings.Join(mutants, "\n"))
	}
}

// equivalent are mutants of an example that behave as its rules do, and why.
func equivalent() map[string]map[string]string {
	return map[string]map[string]string{
		"connection-config": {
			"connection-config.yaml: spec.resources.users.labelSelector: dropped": "the rule asks for the same label, so this decides what is cached, not what is found",
		},
		"job": {
			`job.yaml: spec.rules[0].let.over: "" becomes "x"`:   "no condition has either name",
			"job.yaml: spec.rules[0].let.backedOff: 6 becomes 7": "both are more than ten minutes",
		},
		"tidbcluster": {
			`tidb-guardrails.yaml: spec.let.tagged: "" becomes "x"`:       "neither is an image with a tag",
			"tidb-guardrails.yaml: spec.rules[0].let.pd: 0 becomes 1":     "one member is odd, and without PD there are none to be made more",
			"tidb-guardrails.yaml: spec.rules[0].when: 0 becomes 1":       "one member is odd",
			"tidb-guardrails.yaml: spec.rules[2].let.stores: 0 becomes 1": "without TiKV the rule does not act, and TiKV says how many stores it has",
		},
	}
}
