package simulate_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// counting counts how often each file is read.
type counting struct {
	*memory
	mu    sync.Mutex
	reads map[string]int
}

func (c *counting) ReadFile(path string) ([]byte, error) {
	c.mu.Lock()
	c.reads[path]++
	c.mu.Unlock()
	return c.memory.ReadFile(path)
}

// TestOnlyWhatFailsIsPlayedAgain holds that explanations cost nothing where nobody needs
// them: a case reads its objects each time that it is played.
func TestOnlyWhatFailsIsPlayedAgain(t *testing.T) {
	const fixture = "fixtures/even.yaml"
	before := string(passing(t).MapFS["golden/an-even-pd-becomes-odd.yaml"].Data)
	for name, test := range map[string]struct {
		reason, golden string
		update         bool
		want           int
	}{
		"passes":      {reason: "there is nothing to explain", golden: before, want: 1},
		"reformatted": {reason: "nor where the golden has other words for it", golden: "# read by me\n" + before, want: 1},
		"updated":     {reason: "nor where what differs is accepted", golden: strings.Replace(before, "matched", "waiting", 1), update: true, want: 1},
		"fails":       {reason: "this is to be explained", golden: strings.Replace(before, "matched", "waiting", 1), want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			files := &counting{memory: passing(t), reads: map[string]int{}}
			files.MapFS["golden/an-even-pd-becomes-odd.yaml"].Data = []byte(test.golden)
			report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files, Update: test.update})
			if err != nil {
				t.Fatal(err)
			}
			// Each file is read once for guesses too, when the test is loaded.
			if got := files.reads[fixture] - 1; got != test.want {
				t.Errorf("%s: the case was played %d times, want %d: %s", test.reason, got, test.want, report.Summary())
			}
			for _, result := range report.Results {
				if (result.Status == simulate.Fail) != (len(result.Explanations) > 0) {
					t.Errorf("%s is %s and has %d explanations", result.Name, result.Status, len(result.Explanations))
				}
			}
		})
	}
}

// failed is the one result of a test of rules, which fails.
func failed(t *testing.T, files map[string]string) (simulate.Report, simulate.Result) {
	t.Helper()
	report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: newMemory(files)})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 1 || report.Results[0].Status != simulate.Fail {
		t.Fatalf("have %+v", report.Results)
	}
	return report, report.Results[0]
}

// canary is longer than what is shown of a value, so that it is cut, and canaryInLabel as
// long as a label can be.
var (
	canaryInLabel = "tweety-7f3a9c"
	canary        = "swordfish-" + strings.Repeat("4f2b-", 40) + "end"
)

// TestExplanationsTellNoSecret holds that what goldens mask is masked in trees too: what a
// rule that never sees a Secret reads from a copy, also before it became secret, and cut.
func TestExplanationsTellNoSecret(t *testing.T) {
	report, result := failed(t, map[string]string{
		"test.yaml": `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: secrets}
spec:
  rules: [rules.yaml]
  cases:
  - name: leaks
    objects: [objects.yaml]
    steps:
    - apply: login.yaml
    - patch: {resource: configmaps, name: copy, merge: {data: {seen: again}}}
`,
		"rules.yaml": `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
    labelled: {version: v1, resource: configmaps, labelSelector: "key=none"}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: reads
    watch: configmaps
    with:
      found: {resource: configmaps, matchLabels: {key: "${object.metadata.labels.key ?? 'none'}"}}
    let: {copied: "object.data?.copied ?? ''", quoted: "'<' + copied + '>'"}
    when: copied != "" && quoted != "" && found != nil && object.metadata.labels.key != "` + canaryInLabel + `-x"
    actions:
    - forEach: {word: "${[copied, quoted]}"}
      when: word != ""
      event: {reason: Seen, message: "${word}"}
    - patch: {merge: {metadata: {annotations: {copied: "${copied}"}}}}
  - name: unasked
    watch: labelled
    actions: [{event: {reason: Never, message: never}}]
`,
		"objects.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: copy, namespace: default, labels: {key: ` + canaryInLabel + `}}
data: {copied: ` + canary + `}
`,
		"login.yaml": `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: default}
stringData: {password: ` + canary + `, key: ` + canaryInLabel + `}
`,
		"golden/leaks.yaml": `
decisions:
- {object: configmaps default/copy, rule: set/reads, outcome: not matched}
- {object: configmaps default/copy, rule: set/unasked, outcome: matched}
writes: []
events: []
`,
	})
	text := report.Text(true) + report.Text(false)
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Explanations) != 2 || !strings.Contains(text, `copied is "(masked)"`) || !strings.Contains(text, "(not-selected)") {
		t.Errorf("it does not show what it is to hide: %s", text)
	}
	for _, secret := range []string{"swordfish", "4f2b-", "tweety", "7f3a9c"} {
		for form, shown := range map[string]string{"text": text, "junit": result.Explanation(), "json": string(data)} {
			if at := strings.Index(shown, secret); at >= 0 {
				t.Errorf("the %s tells %q: ...%s...", form, secret, shown[max(0, at-200):min(len(shown), at+200)])
			}
		}
	}
}

// TestExplanationsInJSON holds that they are what explain writes, with what they are of.
func TestExplanationsInJSON(t *testing.T) {
	files := passing(t)
	const golden = "golden/an-even-pd-becomes-odd.yaml"
	files.MapFS[golden].Data = []byte(strings.Replace(string(files.MapFS[golden].Data), "outcome: matched", "outcome: waiting", 1))
	report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []struct {
			Explanations []struct {
				Of    string
				Trace struct {
					Rule     struct{ Set, Name string }
					Decision struct{ Outcome plan.Outcome }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	told := got.Results[0].Explanations
	if len(told) == 0 {
		t.Fatalf("have %s", data)
	}
	want := told[0]
	want.Of, want.Trace.Decision.Outcome = "decisions[0]", plan.Matched
	want.Trace.Rule.Set, want.Trace.Rule.Name = "tidb-guardrails", "pd-quorum"
	if diff := cmp.Diff(want, told[0]); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

// TestARuleIsSuspectedOfTheWorstItDid holds that a rule which did something else is suspected
// of that, though it had another reason before, and that a rule which set another field of
// the same request is not.
func TestARuleIsSuspectedOfTheWorstItDid(t *testing.T) {
	files := passing(t)
	const golden = "golden/an-even-pd-becomes-odd.yaml"
	files.MapFS[golden].Data = []byte(strings.NewReplacer(
		"outcome: matched}", "outcome: matched, reason: another}", "{replicas: 5.0}", "{replicas: 7}",
	).Replace(string(files.MapFS[golden].Data)))
	report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, told := range report.Results[0].Explanations {
		got[told.Trace.Rule.Name] = told.Of
	}
	if diff := cmp.Diff(map[string]string{"pd-quorum": "writes[0]"}, got); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}
