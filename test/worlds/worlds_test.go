package worlds

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// TestMain has client-go not pause between the errors of all informers: a pause since an error of another virtual clock does not end. There are
// as many worlds as -rapid.checks says, by default as many as the race detector takes some seconds for, and the same ones each time. Who looks for
// others gives -rapid.seed.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // It is a test.
	flag.Parse()
	for name, value := range map[string]string{"rapid.checks": "30", "rapid.seed": "1"} {
		if given := flag.Lookup(name); given.Value.String() == given.DefValue {
			_ = given.Value.Set(value) // It is a number.
		}
	}
	m.Run()
}

// ruleFile has a rule of each kind that leaves something: a field, a field for a while, a child, a finalizer.
const ruleFile = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: world, namespace: shop}
spec:
  resources:
    deployments: {group: apps, version: v1, resource: deployments}
    configmaps: {version: v1, resource: configmaps, labelSelector: made=yes}
  rules:
  - name: least
    watch: deployments
    when: object.spec.replicas < 2
    actions: [{patch: {merge: {spec: {replicas: 2}}}}]
  - name: paused
    watch: deployments
    when: object.metadata.labels?.paused == "true"
    actions: [{patch: {merge: {spec: {paused: true}}, restore: true}}]
  - name: config
    watch: deployments
    with: {configs: {resource: configmaps, matchLabels: {of: "${object.metadata.name}"}}}
    actions:
    - apply:
        resource: configmaps
        prune: true
        owned: false
        manifest:
          metadata: {name: "${object.metadata.name}", labels: {made: "yes", of: "${object.metadata.name}"}}
          data: {replicas: "${string(object.spec.replicas)}"}
    onDelete:
      actions:
      - forEach: {config: "${configs}"}
        delete: {target: config}
`

// TestWorlds holds, for worlds that are drawn, all that the oracle does.
func TestWorlds(t *testing.T) {
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(ruleFile)}}, rules.Options{
		DefaultNamespace: "shop", Schemas: schema.NewCatalog(builtin.Source()),
	})
	if set == nil {
		t.Fatal(errs)
	}
	server, err := apiserver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	began, worlds, requests := time.Now(), 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawn(rt)
		var found, transcript string
		synctest.Test(t, func(t *testing.T) { found, transcript = play(t, server, set, p) })
		worlds++
		requests += strings.Count(transcript, "\n")
		if found != "" {
			rt.Fatalf("%s\nthe plan:\n%s\nthe requests:\n%s", found, p, transcript)
		}
	})
	t.Logf("%d worlds, %s and %d requests each", worlds, time.Since(began)/time.Duration(worlds), requests/worlds)
}

// quiet is how long a world is left alone in the end, twice: for what was disturbed to be put right, and for nothing to be done any more.
const quiet = time.Hour

// play lives a world, and says what is wrong with it in the end.
func play(t *testing.T, server *apiserver.Server, set *rules.Set, p plan) (wrong, transcript string) {
	t.Helper()
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := newWorld(server, p.faults)
	do(err)
	do(w.start(t.Context(), set))
	for _, s := range p.steps {
		switch s.deed {
		case crash:
			w.crash()
			do(w.start(t.Context(), set))
		case restart:
			w.stop()
			do(w.start(t.Context(), set))
		case compact:
			w.stored.Compact()
		default:
			do(w.do(t.Context(), s))
		}
		w.pass(s.then)
	}
	w.pass(quiet)
	before := len(w.history.since(0))
	w.pass(quiet)
	lived, err := w.state(t.Context())
	do(err)
	restless := w.restless(before)
	last := w.replica
	w.stop()
	defer func() { transcript += last.log.String() }()
	for _, r := range w.history.since(0) {
		transcript += r.String() + "\n"
	}

	calm, err := newWorld(server, nil)
	do(err)
	for _, s := range p.steps {
		do(calm.do(t.Context(), s))
	}
	do(calm.start(t.Context(), set))
	calm.pass(quiet)
	want, err := calm.state(t.Context())
	do(err)
	calm.stop()
	return judge(lived, want, restless), transcript + fmt.Sprintln()
}
