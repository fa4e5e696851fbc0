package worlds

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var mends = flag.Int("mends", 0, "how many worlds TestMends lives at most, for each mend that it takes back")

// mended are mends of the program: what it would do without them, and how they are taken back. A name is one of a package and what
// it is about.
var mended = []struct{ name, without, file, is, was string }{
	{
		"engine/lags", "A parent has left its selection where a cache has not seen it yet.",
		"pkg/engine/cluster.go", "version == \"\" || older(version, versionOf(object))", "version == \"\"",
	},
	{
		"engine/answers", "An object is made by what a cache showed once.",
		"pkg/engine/verifier.go", "if !o.Irreversible() && v.hasTakenOver(o.Reads) {", "if true {",
	},
	{
		"engine/takeover", "A new leader goes on counting from what its cache has yet to see.",
		"pkg/engine/verifier.go", "v.hasTakenOver(o.Reads)", "true",
	},
	{
		"engine/watched", "Another object is written because of one as a cache showed it once.",
		"pkg/engine/verifier.go", "if !itself && v.asked.watched != nil {", "if !itself && false {",
	},
	{
		"engine/living", "Children of a parent that no cache has are deleted without a look at the API server.",
		"pkg/engine/gone.go", "if len(a.Plan.Operations) > 0 {", "if false {",
	},
	{
		"engine/orphans", "Children of what went while no process ran stay.",
		"pkg/engine/core.go", "c.enqueueEach(c.orphans(family, c.parentsOf))", "_ = family",
	},
	{
		"engine/late", "A child that comes after its parent went stays.",
		"pkg/engine/handler.go", "if !h.awake.Load() { //", "if true { //",
	},
	{
		"engine/expect", "A rule is evaluated before its caches show what it has written.",
		"pkg/engine/await.go", "record.awaits[at] = a //", "_ = at //",
	},
	{
		"naming/again", "What may have been made is made again under another name.",
		"pkg/engine/naming/naming.go", "s.names[of] = append(s.names[of], this)", "_ = append(s.names[of], this)",
	},
	{
		"guard/finalizer", "Children are made before their parent is held.",
		"pkg/engine/guard/attempt.go", "at := slices.IndexFunc(a.Unheld, func(", "at := slices.IndexFunc(a.Unheld[:0], func(",
	},
	{
		"fence/closed", "A leader writes on after its lease has ended.",
		"internal/election/fence.go", "return max(0, f.deadline-elapsed(f.since, f.clock.Now())), f.shut", "return f.deadline, f.shut",
	},
	{
		"election/renewed", "A leader goes on that another one has followed.",
		"internal/election/candidate.go", "case ptr.Deref(found.Spec.HolderIdentity, \"\") != c.identity:", "case false:",
	},
	{
		"inventory/recorded", "A rule writes before the inventory says what it may leave.",
		"pkg/engine/inventory/guard.go", "if !c.guard.recorded.Has(leftover) {", "if false && c.guard.recorded.Has(leftover) {",
	},
	{
		"election/release", "The lease is released while writes are under way.",
		"internal/election/candidate.go", "kept := c.renew(holding)", "_ = holding\n\tkept := c.renew(ctx)\n\tif kept {\n\t\tc.release(ctx)\n\t}",
	},
	{
		"election/holder", "Who goes releases the lease of another one.",
		"internal/election/candidate.go", "holder != c.identity {\n\t\t\tc.saw(holder)", "false {\n\t\t\tc.saw(holder)",
	},
	{
		"inventory/again", "A rule that comes back writes before the inventory says again what it may leave.",
		"pkg/engine/inventory/guard.go", "for _, leftover := range now {", "for _, leftover := range append(book.All(), now...) {",
	},
	{
		"engine/retries", "What has failed is not tried again.",
		"pkg/engine/reconcile.go", "e.AddAfter(key, e.retryAfter(key, outcome))", "_ = e.retryAfter(key, outcome)",
	},
	{
		"rules/afterwards", "A finalizer is taken off before all else is done.",
		"pkg/rules/evaluate.go", "\twish.Action = plan.Afterwards", "\t_ = wish.Action",
	},
	{
		"write/version", "A change does not say which version it was decided by.",
		"pkg/engine/write/client.go", `guards := map[string]any{"uid": string(target.UID), "resourceVersion": target.ResourceVersion}`, `guards := map[string]any{"uid": string(target.UID)}`,
	},
	{
		"election/waits", "A candidate takes the lease of another one.",
		"internal/election/candidate.go", "if c.remaining() > 0 { //", "if false { //",
	},
	{
		"write/deletion", "A deletion does not say which version it was decided by.",
		"pkg/engine/write/client.go", "&metav1.Preconditions{UID: &target.UID, ResourceVersion: &target.ResourceVersion}", "&metav1.Preconditions{UID: &target.UID}",
	},
	{
		"write/new", "What is to make an object changes one that is there.",
		"pkg/engine/write/client.go", `guards = map[string]any{"resourceVersion": neverCurrent}`, `guards = map[string]any{}`,
	},
	{
		"setstatus/conflict", "A status that was refused is sent again by the same version of the set object.",
		"internal/setstatus/writer.go", "if apierrors.IsConflict(err) {", "if false {",
	},
	{
		"limit/stored", "A rule writes for a wave before it is stored for which objects that is.",
		"pkg/engine/limit/rollout.go", "case w.guard.stores && w.saving != saved:", "case false:",
	},
	{
		"limit/soaks", "A wave is over at once when its objects are gone.",
		"pkg/engine/limit/rollout.go", "if w.now.Before(r.soaking.Add(w.Rollout.Soak)) {", "if len(r.chosen) > 0 && w.now.Before(r.soaking.Add(w.Rollout.Soak)) {",
	},
	{
		"limit/tried", "What the process before has written for, or a write that came late, gives its place in a wave to another object.",
		"pkg/engine/limit/rollout.go", "case !c.tried:", "case !c.written && !c.unseen:",
	},
	{
		"limit/sure", "What may have been written for counts in its wave.",
		"pkg/engine/limit/rollout.go", "if sure && !c.written {", "if !c.written {",
	},
	{
		"limit/waits", "While the inventory cannot be stored, that is tried again and again.",
		"pkg/engine/limit/guard.go", "if pending == 0 && s.saving == saved {", "if pending == 0 {",
	},
	{
		"limit/counts", "Each process writes for as many objects as the limit allows.",
		"pkg/engine/limit/store.go", "s.window.restore(s.stored, now)", "",
	},
	{
		"limit/paused", "A process does not know that the rule was paused before.",
		"pkg/engine/limit/store.go", "s.pause, s.last = stored.Pause, stored.Pause.Since.Time", "",
	},
}

// TestMends holds that the worlds find each mend that is taken back. It compiles the program for each, so it runs where it is asked for.
func TestMends(t *testing.T) {
	if *mends == 0 {
		t.Skip("no -mends")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mended {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(root, m.file)
			source := readMended(t, path, m.is)
			dir := t.TempDir()
			write := func(name string, data []byte) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			changed := write("changed.go", []byte(strings.Replace(string(source), m.is, m.was, 1)))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
			if err != nil {
				t.Fatal(err)
			}
			binary := filepath.Join(dir, "worlds.test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", write("overlay.json", overlay), "-o", binary, ".")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.CommandContext(t.Context(), binary, "-test.run", "^TestWorlds$", "-worlds", fmt.Sprint(*mends), "-seed", fmt.Sprint(*seed), "-shrinks=false").CombinedOutput()
			found := regexp.MustCompile(`-seed (\d+)\n`).FindSubmatch(out)
			switch {
			case err == nil:
				t.Errorf("%s\nnot found by %d worlds", m.without, *mends)
			case strings.Contains(string(out), "requests go on and on"):
				t.Logf("%s\nfound, as requests go on and on", m.without)
			case found == nil:
				t.Errorf("%s\n%v\n%.4000s", m.without, err, out)
			case goesWrong(t, string(found[1])):
				t.Errorf("the world of seed %s goes wrong in any case", found[1])
			default:
				t.Logf("%s\nfound by seed %s:\n%.1500s", m.without, found[1], out[strings.Index(string(out), "worlds_test.go"):])
			}
		})
	}
}

// TestMended holds that each mend is in the program, so that it can be taken back.
func TestMended(t *testing.T) {
	for _, m := range mended {
		readMended(t, filepath.Join("../..", m.file), m.is)
	}
}

// readMended reads a file that has a text once.
func readMended(t *testing.T, path, is string) []byte {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), is) != 1 {
		t.Fatalf("%s has not once: %s", path, is)
	}
	return source
}

// goesWrong reports whether a world goes wrong with the program as it is.
func goesWrong(t *testing.T, seed string) bool {
	t.Helper()
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	workload := of(workloads(t), number)
	wrong, _, _ := play(t, newServer(t), workload, drawn(number, workload))
	return wrong != ""
}
