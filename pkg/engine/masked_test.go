package engine_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// canary is a value of the Secret login, and pigeon one that rules write.
const (
	canary = "canary-in-a-mine"
	pigeon = "pigeon-of-the-post"
)

const login = `
apiVersion: v1
kind: Secret
metadata: {namespace: ns, name: login}
data: {password: Y2FuYXJ5LWluLWEtbWluZQ==}
`

// secretKinds knows what a Secret is besides.
type secretKinds struct{ kinds }

// Resource implements [types.Source].
func (s secretKinds) Resource(gvr schema.GroupVersionResource) *types.Resource {
	if gvr != (schema.GroupVersionResource{Version: "v1", Resource: "secrets"}) {
		return s.kinds.Resource(gvr)
	}
	anything := &types.Type{Kinds: value.Map, Map: &types.Map{Open: true}, Object: true}
	return &types.Resource{GroupVersionResource: gvr, Kind: "Secret", Namespaced: true, Type: anything}
}

// withSecrets compiles rules that may know Secrets.
func withSecrets(t *testing.T, text string) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{Schemas: types.NewCatalog(secretKinds{}), Sensitive: func(string) bool { return true }},
		head+"    secrets: {version: v1, resource: secrets}\n    items: {group: example.com, version: v1, resource: items}\n  rules:\n"+text)
}

// witness is told all that an engine tells.
type witness struct {
	engine.NopObserver
	mu   sync.Mutex
	told map[string]*strings.Builder
	// panics has it panic with what it is told.
	panics bool
}

func (w *witness) tell(channel, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told == nil {
		w.told = map[string]*strings.Builder{}
	}
	if w.told[channel] == nil {
		w.told[channel] = &strings.Builder{}
	}
	fmt.Fprintf(w.told[channel], format+"\n", args...)
}

// Evaluated implements [engine.Observer].
func (w *witness) Evaluated(_ engine.Key, d plan.Decision) {
	w.tell("decisions", "%s %s %s %v", d.Rule, d.Outcome, d.Reason, d.Err)
	if w.panics {
		panic("poisoned by " + canary)
	}
}

// Wrote implements [engine.Observer].
func (w *witness) Wrote(_ engine.Key, operation plan.Operation, class write.Class) {
	w.tell("writes", "%s %+v", class, operation)
}

// Recorded implements [engine.Observer].
func (w *witness) Recorded(event plan.Event, err error) { w.tell("recorded", "%+v %v", event, err) }

// Write implements [slog.NewTextHandler]'s writer.
func (w *witness) Write(data []byte) (int, error) {
	w.tell("log", "%s", data)
	return len(data), nil
}

// settledBy settles an engine on the cluster that the witness watches.
func settledBy(t *testing.T, c *cluster, w *witness, text string, unmasked bool) {
	t.Helper()
	set := withSecrets(t, text)
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{
			Caches:   func(handler informer.Handler) engine.Caches { c.handler = handler; return cachesOf{c} },
			Live:     c,
			Writer:   c,
			Recorder: c,
			Observer: w,
			Log:      slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Detail:   engine.Detail{Explain: true, Unmasked: unmasked},
		})
		report, err := e.Settle(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range report.Failures {
			w.tell("report", "%v %v", failure.Rules, failure.Err)
		}
		w.tell("events", "%s", strings.Join(c.events, "\n"))
	})
}

const copies = `
  - name: copies
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions:
    - patch: {merge: {spec: {copy: "it is ${password}", "${password}": [1, "${password}"]}}}
    - event: {reason: Copied, message: "it is ${password}, or ${login?.data?.password}"}
`

const watches = `
  - name: watches
    watch: secrets
    when: object.metadata.annotations?.seen == nil
    actions:
    - patch: {merge: {metadata: {annotations: {seen: "${fromBase64(object.data.password)}"}}}}
    - event: {reason: Seen, message: "it is ${fromBase64(object.data.password)}"}
`

const stores = `
  - name: stores
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    actions:
    - patch: {target: login, merge: {stringData: {note: "${object.spec.note}"}}}
    - event: {reason: Stored, message: "it is ${object.spec.note}"}
`

const quotes = `
  - name: knows
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    actions: [{event: {reason: Knows, message: "${login?.data?.password}"}}]
  - name: quotes
    watch: widgets
    when: object.spec.told == "x"
    actions: [{event: {reason: Never, message: never}}]
`

// secretly is a rule that names a password, and has actions.
func secretly(name, actions string) string {
	return `
  - name: ` + name + `
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions:` + actions
}

var (
	tells = secretly("tells", `
    - event: {reason: Told, message: "it is ${password}, or ${upper(password)}"}
`)
	names = tells + secretly("names", `
    - apply: {resource: items, manifest: {metadata: {name: "made-${password}", labels: {"${password}": "${password}"}, annotations: {"${password}": x}}, spec: {list: ["${password}"]}}}
`)
	generates = tells + strings.Replace(secretly("generates", `
    - when: len(made) < 2
      create: {in: made, manifest: {metadata: {generateName: "${password}-"}}}
`), "with: {", "with: {made: {resource: items, all: true}, ", 1)
	elsewhere = tells + secretly("elsewhere", `
    - apply: {resource: items, owned: false, manifest: {metadata: {namespace: "${password}", name: "${upper(password)}"}}}
`)
	points = secretly("points", `
    - patch: {json: [{op: add, path: "/spec/${password}", value: 1}]}
`)
	repeats = secretly("repeats", `
    - forEach: {element: "${[password, upper(password)]}"}
      apply: {resource: items, manifest: {metadata: {name: "${element}-${index}"}}}
`)
	// finds is about an item that the password names.
	finds = `
  - name: finds
    watch: widgets
    with: {login: {resource: secrets, name: login}, found: {resource: items, name: "${fromBase64(login?.data?.password ?? '')}"}}
    actions:
    - event: {target: found, reason: Found, message: found}
`
	fights = strings.Replace(finds, "event: {target: found, reason: Found, message: found}",
		`patch: {target: found, merge: {spec: {size: "${(found?.spec?.size ?? 0) + 1}"}}}`, 1)
)

// TestNothingTellsASecret follows values of Secrets out of an evaluation, by every way
// there is. What an engine tells unmasked shows that a case has the value go that way.
func TestNothingTellsASecret(t *testing.T) {
	refused := func(value string) func(plan.Operation) *write.Result {
		return func(plan.Operation) *write.Result {
			return &write.Result{Class: write.Terminal, Err: fmt.Errorf("webhook: it must not be %q: %w", value, errRefused)}
		}
	}
	poisoned := func(plan.Operation) *write.Result { panic("poisoned by " + canary) }
	quoting := func() error { return fmt.Errorf("webhook: it must not be %q: %w", canary, errRefused) }
	audited := func(text string) string {
		return strings.Replace(text, "    watch:", "    mode: Audit\n    watch:", 1)
	}
	cases := map[string]struct {
		reason, rules string
		answer        func(plan.Operation) *write.Result
		panics        bool
		ways          string // that values go
		event         func() error
	}{
		"copied":             {"A field, its name and an Event.", copies, nil, false, "events log recorded writes", nil},
		"audited":            {"What would be written.", audited(copies), nil, false, "log writes", nil},
		"refused":            {"An answer that quotes.", copies, refused(canary), false, "log report writes", nil},
		"panic":              {"A panic tells what it met.", copies, poisoned, false, "log report writes", nil},
		"early panic":        {"Also where nothing was decided yet.", copies, nil, true, "log report", nil},
		"watched":            {"A Secret that is looked at.", watches, nil, false, "events recorded writes", nil},
		"stored":             {"What is written to one.", stores, nil, false, "events recorded", nil},
		"would store":        {"Or would be.", audited(stores), nil, false, "", nil},
		"stored not":         {"Or was refused.", stores, refused(pigeon), false, "log report", nil},
		"another rule":       {"A rule that has not read it has its copy.", quotes, nil, false, "decisions events recorded", nil},
		"missing right":      {"Nothing is masked where nothing was read.", atLeastThree, nil, false, "", nil},
		"named":              {"The name of what is made, and its labels.", names, nil, false, "events log recorded writes", nil},
		"named not":          {"Or would be.", names, refused(canary), false, "events log recorded report writes", nil},
		"generated":          {"The beginning of a name.", generates, nil, false, "events log recorded writes", nil},
		"elsewhere":          {"Where it is made.", elsewhere, nil, false, "events log recorded writes", nil},
		"pointed at":         {"A field of a JSON patch.", points, nil, false, "log writes", nil},
		"repeated":           {"Elements.", repeats, nil, false, "log writes", nil},
		"found":              {"An Event on what it names.", finds, nil, false, "recorded", nil},
		"not recorded":       {"An answer to an Event.", tells, nil, false, "log recorded report", quoting},
		"not recorded there": {"The name of what it is about.", finds, nil, false, "log recorded report", quoting},
		"late panic":         {"Whatever it happens in.", tells, nil, false, "log report", func() error { panic("poisoned by " + canary) }},
		"restless":           {"What it gives up on.", fights, nil, false, "log report writes", nil},
	}
	for name, tc := range cases {
		for _, unmasked := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/unmasked=%v", name, unmasked), func(t *testing.T) {
				c, w := newCluster(), &witness{panics: tc.panics}
				c.put(t, login)
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5, note: `+pigeon+`, told: `+canary+`}}`)
				c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: `+canary+`}, spec: {size: 1}}`)
				c.answer, c.eventOK = tc.answer, tc.event
				settledBy(t, c, w, tc.rules, unmasked)
				var have []string
				for _, channel := range []string{"decisions", "events", "log", "recorded", "report", "writes"} {
					if told := w.told[channel]; told != nil && leaks(told.String()) {
						have = append(have, channel)
					}
				}
				want := tc.ways
				if !unmasked {
					want = ""
				}
				if diff := cmp.Diff(want, strings.Join(have, " ")); diff != "" {
					t.Errorf("%s\nways of values (-want +got):\n%s\n%v", tc.reason, diff, w.told)
				}
			})
		}
	}
}

func leaks(text string) bool {
	for _, value := range []string{canary, pigeon, "Y2FuYXJ5LWluLWEtbWluZQ"} {
		if strings.Contains(text, value) || strings.Contains(strings.ToLower(text), value) {
			return true
		}
	}
	return false
}

// TestWhatIsSentIsNotMasked says that only what people are told is, and the rest of that is
// readable.
func TestWhatIsSentIsNotMasked(t *testing.T) {
	c, w := newCluster(), &witness{}
	c.put(t, login)
	c.put(t, small)
	settledBy(t, c, w, copies, false)
	want := map[string]any{"size": int64(1), "copy": "it is " + canary, canary: []any{int64(1), canary}}
	if diff := cmp.Diff(want, spec(c, "a")); diff != "" {
		t.Errorf("what is stored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Copied it is (masked), or (masked)"}, c.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, way := range []string{`spec["(masked)"]`, "namespace=ns name=a"} {
		if log := strings.ReplaceAll(w.told["log"].String(), `\"`, `"`); !strings.Contains(log, way) {
			t.Errorf("the log does not have %q:\n%s", way, log)
		}
	}
}

// TestMaskedErrorsAreTyped says that who looks for a cause finds it.
func TestMaskedErrorsAreTyped(t *testing.T) {
	c := newCluster()
	c.put(t, login)
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Terminal, Err: fmt.Errorf("not %s: %w", canary, errRefused)}
	}
	set := withSecrets(t, copies)
	synctest.Test(t, func(t *testing.T) {
		report, err := c.engine().Settle(t.Context(), set)
		if err != nil || len(report.Failures) != 1 {
			t.Fatalf("have %+v, %v", report, err)
		}
		if failed := report.Failures[0].Err; !errors.Is(failed, errRefused) || failed.Error() != "not (masked): refused" {
			t.Errorf("have %q", failed)
		}
	})
}

// TestNamesStayReadable says that a value that is also the name of what is looked at is
// shown: it is in every line anyway.
func TestNamesStayReadable(t *testing.T) {
	c, w := newCluster(), &witness{}
	c.put(t, `{apiVersion: v1, kind: Secret, metadata: {namespace: ns, name: login}, data: {password: bmdpbng=}}`)
	c.put(t, `{metadata: {namespace: ns, name: nginx}, spec: {}}`)
	c.answer = func(operation plan.Operation) *write.Result {
		return &write.Result{Class: write.Terminal, Err: fmt.Errorf("patching %s: nginx", operation.Target)}
	}
	settledBy(t, c, w, copies, false)
	if report := w.told["report"].String(); !strings.Contains(report, "patching widgets ns/nginx: nginx") {
		t.Errorf("have %s", report)
	}
}

// BenchmarkEvaluation is one object after the other, with and without a Secret to read.
func BenchmarkEvaluation(b *testing.B) {
	for name, text := range map[string]string{"nothing secret": atLeastThree, "a Secret": copies} {
		b.Run(name, func(b *testing.B) {
			t := &testing.T{}
			c := newCluster()
			c.put(t, login)
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5}}`)
			e := c.engine()
			e.SetRules(withSecrets(t, text))
			key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
			for b.Loop() {
				e.Look(b.Context(), key)
			}
		})
	}
}
