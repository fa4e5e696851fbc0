//go:debug randseednop=0
package worlds

import (
	"flag"
	"fmt"
	"math/rand" //nolint:depguard // client-go draws from it.
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/test/steps"
)

// By default there are as many worlds as take some seconds, and the same ones each time.
var (
	worlds  = flag.Int("worlds", 30, "how many worlds TestWorlds lives")
	seed    = flag.Uint64("seed", 1, "of the first one; the next ones count on")
	shrinks = flag.Bool("shrinks", true, "look for the smallest plan that goes wrong")
	replays = flag.Int("replays", 4, "how many worlds TestReplay lives again: those of the crash sweep, then drawn ones")
)

// TestMain has client-go not pause between the errors of all informers: a pause since an error of another virtual clock does not end.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // It is a test.
	debug.SetGCPercent(1600)        // Worlds are small, and soon forgotten.
	m.Run()
}

// TestWorlds holds, for worlds that are drawn, all that the oracle does.
func TestWorlds(t *testing.T) {
	server, all := newServer(t), workloads(t)
	began, next, requests, failed := time.Now(), atomic.Int64{}, atomic.Int64{}, atomic.Bool{}
	t.Run("", func(t *testing.T) {
		for range min(runtime.GOMAXPROCS(0), *worlds) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < int64(*worlds) && !failed.Load(); i = next.Add(1) - 1 {
					workload := of(all, *seed+uint64(i))
					p := drawn(*seed+uint64(i), workload)
					wrong, transcript, sent := play(t, server, workload, p)
					if requests.Add(int64(sent)); wrong != "" {
						failed.Store(true)
						report(t, server, workload, p, wrong, transcript, fmt.Sprintf("go test ./test/worlds -run TestWorlds -worlds 1 -seed %d", p.seed))
					}
				}
			})
		}
	})
	t.Logf("%d worlds of %d requests and at least %s each: %.0f a minute", *worlds, requests.Load()/int64(*worlds), settling+quiet, float64(*worlds)/time.Since(began).Minutes())
}

// report fails with what went wrong in a life of a plan, and with the smallest plan that goes wrong, too.
func report(t *testing.T, server *apiserver.Server, of *workload, p plan, wrong, transcript, again string) {
	t.Helper()
	t.Errorf("%s\nagain: %s\nthe plan:\n%s\nthe requests:\n%s", wrong, again, p, transcript)
	smallest, found := p, *shrinks
	for tries := 300; found && tries > 0; {
		found = false
		for less := range smallest.smaller {
			if tries--; tries < 0 {
				break
			}
			if now, requests, _ := play(t, server, of, less); now != "" {
				smallest, wrong, transcript, found = less, now, requests, true
				break
			}
		}
	}
	if !*shrinks {
		return
	}
	t.Errorf("a smaller plan goes wrong: %s\n%s\nthe requests:\n%s", wrong, smallest, transcript)
}

func newServer(t *testing.T, definitions ...*apiextensionsv1.CustomResourceDefinition) *apiserver.Server {
	t.Helper()
	server, err := apiserver.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// ruleSets are the CRDs of set objects.
func ruleSets(t *testing.T) (out []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, name := range []string{"rulesets", "clusterrulesets"} {
		text, err := os.ReadFile("../../deploy/crds/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		out = append(out, &definition)
	}
	return out
}

// played are the workloads of all examples.
func played(t *testing.T) (out []*workload) {
	t.Helper()
	files, err := filepath.Glob("../../examples/rules/*/*_test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	names := map[string]bool{}
	for _, file := range files {
		tests, errs := simulate.Load(file, steps.Disk{})
		if err := errs.Err(); err != nil {
			t.Fatal(err)
		}
		for _, test := range tests {
			of, err := examples(test)
			if err != nil {
				t.Fatal(err)
			}
			out, names[test.Name] = append(out, of...), len(of) > 0
		}
	}
	for name := range byTheWay {
		if !names[name] {
			t.Fatalf("no example is %s, of which byTheWay says something", name)
		}
	}
	return out
}

// workloads are all that there are: of each row, one has its turn.
func workloads(t *testing.T) [][]*workload {
	t.Helper()
	example := func(name string) string {
		text, err := os.ReadFile("../../examples/rules/" + name + "/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return [][]*workload{
		{children(load(t)), tenants(load(t))}, {replicaSets(load(t), example("replicaset"))}, {jobsOf(load(t), example("job"))}, {rollouts(load(t))}, {limits(load(t))}, played(t),
	}
}

func byName(t *testing.T) map[string]*workload {
	t.Helper()
	out := map[string]*workload{}
	for _, row := range workloads(t) {
		for _, one := range row {
			out[one.name] = one
		}
	}
	return out
}

// of is the workload of a seed.
func of(all [][]*workload, seed uint64) *workload {
	row := all[seed%uint64(len(all))]
	return row[seed/uint64(len(all))%uint64(len(row))]
}

// load is what makes a workload of the text of rules.
func load(t *testing.T) func(text string) *workload {
	t.Helper()
	return func(text string) *workload {
		set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{
			DefaultNamespace: "shop", Schemas: schema.NewCatalog(builtin.Source()),
		})
		if set == nil {
			t.Fatal(errs)
		}
		return &workload{sets: []*rules.Set{set}, texts: []string{text}}
	}
}

// play lives a world in a bubble, and says what is wrong with it in the end.
func play(t *testing.T, server *apiserver.Server, of *workload, p plan) (wrong, transcript string, requests int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		definitions := of.definitions
		if p.inCluster {
			definitions = append(ruleSets(t), definitions...)
		}
		if len(definitions) > 0 { // Servers of custom resources are for one bubble.
			server = newServer(t, definitions...)
		}
		w := live(t, server, of, p, nil)
		var rest *World
		if !of.byTheWay {
			rest = calm(t, server, of, p)
		}
		wrong = judge(w, rest)
		transcript, requests = w.history.String(), len(w.history.all)
		for _, r := range w.replicas {
			transcript += r.log.String()
		}
	})
	return wrong, transcript, requests
}

// live lives a world, in the way that a record has if there is one.
func live(t *testing.T, server *apiserver.Server, of *workload, p plan, record []*request) *World {
	t.Helper()
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := newWorld(server, of, p.choose(), p.disturbances)
	do(err)
	if w.inCluster = p.inCluster; w.inCluster {
		do(w.publish(t.Context(), 0))
	}
	if w.record = record; p.order != nil {
		w.choose, w.ordered = p.order.choose, true
	}
	do(w.run(t.Context(), p.replicas))
	for _, s := range p.steps {
		switch s.deed {
		case crash:
			w.at(s.value).crash([]time.Duration{0, 10 * time.Second, time.Minute, 3 * time.Minute}[s.value/3])
		case restart:
			w.at(s.value).current().stop()
		case freeze:
			w.at(s.value).current().line.freeze([]time.Duration{5 * time.Second, 20 * time.Second, time.Minute, 3 * time.Minute}[s.value/3])
		case trouble:
			w.at(s.value).current().line.disturb(s.troubles)
		case seize:
			do(w.seize(t.Context()))
		case revoke:
			w.revoke(s.value)
		case compact:
			w.stored.Compact()
		case replace:
			do(w.replace(t.Context(), s.value))
		case move:
			do(w.move(t.Context(), s.value))
		default:
			do(w.do(t.Context(), s))
		}
		if s.requests > 0 {
			w.passRequests(s.requests)
		} else {
			w.pass(s.then)
		}
	}
	do(w.settle(t.Context(), settling))
	w.rested = len(w.history.all)
	w.pass(quiet)
	w.state, err = w.look(t.Context())
	do(err)
	w.end()
	return w
}

// calm is a world in which only the users did what they did, and a new program put all right afterwards.
func calm(t *testing.T, server *apiserver.Server, of *workload, p plan) *World {
	t.Helper()
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := newWorld(server, of, p.choose(), nil)
	do(err)
	if w.inCluster = p.inCluster; w.inCluster {
		do(w.publish(t.Context(), 0))
	}
	for _, s := range p.steps {
		switch s.deed {
		case crash, restart, freeze, trouble, seize, compact, revoke: // Nothing of that.
		case replace:
			do(w.replace(t.Context(), s.value))
		case move:
			do(w.move(t.Context(), s.value))
		default:
			do(w.do(t.Context(), s))
		}
	}
	do(w.run(t.Context(), 1))
	do(w.settle(t.Context(), calming))
	w.state, err = w.look(t.Context())
	do(err)
	w.end()
	return w
}

// lots has client-go draw the same lots each time: how long a watch is to last, and how long to wait.
func lots(seed uint64) {
	rand.Seed(int64(seed)) //nolint:staticcheck,gosec // The lots are those of a library.
	utilrand.Seed(int64(seed))
}

// TestReplay counts how many worlds go the way of their record, and fails if none does: the Go runtime draws by lot which of two timers of one moment
// is first, and in which order a map is visited, so the seed alone does not say in which order requests come.
func TestReplay(t *testing.T) {
	server, named := newServer(t), byName(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, worlds := 0, 0
	for n := range uint64(*replays) {
		workload := named["children"]
		p := drawn(*seed+n, workload)
		p.inCluster = false // Servers of custom resources are for one bubble.
		if n < uint64(len(swept)) {
			p, workload = swept[n].plan, named[swept[n].workload]
			p.seed = n
		}
		var record *history
		lots(n)
		synctest.Test(t, func(t *testing.T) { record = live(t, server, workload, p, nil).history })
		for range 10 {
			var w *World
			lots(n)
			synctest.Test(t, func(t *testing.T) { w = live(t, server, workload, p, record.all) })
			worlds++
			if diff := cmp.Diff(strings.Split(record.String(), "\n"), strings.Split(w.history.String(), "\n")); diff == "" {
				again++
			} else {
				t.Logf("world %d left its record (-record +now):\n%.1000s", n+1, diff)
			}
		}
	}
	if t.Logf("%d of %d worlds went the way of their record", again, worlds); again == 0 {
		t.Error("no world did")
	}
}
