package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// holding keeps the ConfigMap a by a finalizer.
const holding = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shop, namespace: default}
spec:
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: hold
    watch: configmaps
    when: object.metadata.name == "a"
    onDelete: {actions: [{event: {reason: Going, message: going}}]}
`

// idle is the same set without the rule.
var idle = strings.NewReplacer("name: hold", "name: other", `== "a"`, `== "nothing"`,
	"onDelete: {actions: [{event: {reason: Going, message: going}}]}", "actions: [{event: {reason: Seen, message: seen}}]").Replace(holding)

// elsewhere is another set.
var elsewhere = strings.Replace(idle, "name: shop", "name: elsewhere", 1)

// held is the rule of holding, and what it leaves.
var held = plan.Leftover{
	Rule: plan.Rule{Kind: "RuleSet", Namespace: "default", Set: "shop", Name: "hold"},
	GVR:  inventory.GVR(), Namespace: "default", Kind: plan.LeftFinalizer,
}

// settle has a server where the rule holds a, as run has left it.
func settle(t *testing.T, args ...string) *apiServer {
	t.Helper()
	server := newAPIServer(t)
	server.configMap("a", map[string]any{})
	args = append([]string{"run", "--once", "-f", ruleFile(t, holding), "--kubeconfig", server.kubeconfig()}, args...)
	code, stdout, stderr := invoke(t, args...)
	if code != exitClean || !strings.Contains(stdout, "metadata.finalizers: none -> ") {
		t.Fatalf("the rule holds the object, got %d:\n%s%s", code, stdout, stderr)
	}
	server.set(func(a *apiServer) { a.requests = nil })
	return server
}

// finalizers are those of the ConfigMap a.
func (a *apiServer) finalizers() any {
	a.mu.Lock()
	defer a.mu.Unlock()
	metadata, _ := a.objects["default/a"]["metadata"].(map[string]any)
	return metadata["finalizers"]
}

func TestCleanup(t *testing.T) {
	t.Parallel()
	const (
		taken  = "took a finalizer off configmaps default/a (shop/hold)\n"
		none   = "nothing to clean up\n"
		where  = " is missing or empty; see that --instance and --namespace are those of run\n"
		object = "PATCH /api/v1/namespaces/default/configmaps/a"
		book   = "PUT /api/v1/namespaces/default/configmaps/dyncontroller-inventory-"
	)
	cases := map[string]struct {
		reason   string
		instance string // of run
		rules    string // that stay; empty for --all
		args     []string
		change   func(*apiServer)
		code     int
		stdout   string
		stderr   string // a part
		requests []string
		held     bool // afterwards
	}{
		"all":            {reason: "No rule stays.", stdout: taken, requests: []string{object, book + "default"}},
		"a rule is gone": {reason: "Its set is there still.", rules: idle, stdout: taken, requests: []string{object, book + "default"}},
		"a rule is mistyped": {
			reason: "It holds nothing of what is not served, and is no reason to let go of what it held.", code: exitFinding, held: true,
			rules:  strings.Replace(holding, "resource: configmaps", "resource: configmapz", 1),
			stderr: "what rules have left stays until rule shop/hold can work: the API server has no resource configmapz.v1\n",
		},
		"a mistyped rule has a new name": {
			reason: "It may be the same rule.", code: exitFinding, held: true,
			rules:  strings.NewReplacer("resource: configmaps", "resource: configmapz", "name: hold", "name: holds").Replace(holding),
			stderr: "what rules have left stays until rule shop/holds can work: the API server has no resource configmapz.v1\n",
		},
		"the set is gone": {reason: "Whoever asks for a cleanup means sets too.", rules: elsewhere, stdout: taken, requests: []string{object, book + "default"}},
		"the rule stays":  {reason: "What it holds, it goes on holding.", rules: holding, stdout: none, held: true},
		"a dry run": {
			reason: "The API server is asked, and nothing is forgotten.", args: []string{"--dry-run"},
			stdout: "would take a finalizer off configmaps default/a (shop/hold)\n", requests: []string{object}, held: true,
		},
		"an instance":         {reason: "Each has an inventory of its own.", instance: "blue", args: []string{"--instance", "blue"}, stdout: taken, requests: []string{object, book + "blue"}},
		"another instance":    {reason: "It is not this one's to clean up.", instance: "blue", stdout: "nothing to clean up: ConfigMap default/dyncontroller-inventory-default" + where, held: true},
		"another namespace":   {reason: "The inventory is in that of the process.", args: []string{"-n", "shop"}, stdout: "nothing to clean up: ConfigMap shop/dyncontroller-inventory-default" + where, held: true},
		"another namespace 2": {reason: "The context says which, too.", args: []string{"--context", "shop"}, stdout: "nothing to clean up: ConfigMap shop/dyncontroller-inventory-default" + where, held: true},
		"the object is gone": {
			reason: "There is nothing to write, and nothing to remember.", change: func(a *apiServer) { delete(a.objects, "default/a") },
			stdout: none, requests: []string{book + "default"},
		},
		"refused": {
			reason: "It is told why, once, and kept for another time.", change: func(a *apiServer) { a.refuse = "not on a friday" },
			code: exitFinding, stderr: "cleaning up finalizer of rule shop/hold on configmaps.v1 in namespace default: writing configmaps default/a: not on a friday\n",
			requests: []string{object}, held: true,
		},
		"no inventory to be had": {
			reason: "What there may be is not known.",
			change: func(a *apiServer) {
				a.unreadable = map[string]string{"default/dyncontroller-inventory-default": "you may not"}
			},
			code: exitInternal, stderr: "reading the inventory, ConfigMap default/dyncontroller-inventory-default: you may not", held: true,
		},
		"a broken inventory": {
			reason: "Half of it would be forgotten.",
			change: func(a *apiServer) {
				a.objects["default/dyncontroller-inventory-default"]["data"] = map[string]any{"shop-1": "{"}
			},
			code: exitInternal, stderr: `key "shop-1"`, held: true,
		},
		"no API server": {
			reason: "Nothing is done.", change: func(a *apiServer) { a.status = http.StatusServiceUnavailable },
			code: exitInternal, stderr: "cannot reach the API server", held: true,
		},
		"wrong rules": {
			reason: "Who knows which of them stay.", rules: strings.Replace(holding, "watch: configmaps", "watch: configmap", 1),
			code: exitFinding, stderr: `no resource "configmap" is declared`, held: true,
		},
		"no rules": {
			reason: "An empty folder is a mistake more often than a wish.", args: []string{"--rules", t.TempDir()},
			rules: holding, code: exitUsage, stderr: "no", held: true,
		},
		"no such path": {
			reason: "So is one that is not there.", args: []string{"--rules", "no/such/path"},
			rules: holding, code: exitUsage, stderr: "no/such/path", held: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []string
			if tc.instance != "" {
				before = []string{"--instance", tc.instance}
			}
			server := settle(t, before...)
			if tc.change != nil {
				server.set(tc.change)
			}
			args := append([]string{"cleanup", "--kubeconfig", server.kubeconfig()}, tc.args...)
			if tc.rules == "" {
				args = append(args, "--all", "--yes")
			} else {
				args = append(args, "-f", ruleFile(t, tc.rules))
			}
			code, stdout, stderr := invoke(t, args...)
			if code != tc.code || !strings.Contains(stderr, tc.stderr) || tc.stderr == "" && stderr != "" {
				t.Errorf("%s\nwant exit code %d and %q, got %d:\n%s", tc.reason, tc.code, tc.stderr, code, stderr)
			}
			if diff := cmp.Diff(tc.stdout, stdout); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.requests, server.changes()); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if holds := server.finalizers() != nil; holds != tc.held {
				t.Errorf("%s\nwant held %t, got %v", tc.reason, tc.held, server.finalizers())
			}
		})
	}
}

// TestCleanupAsks holds that nothing is cleaned up after all rules unless somebody says so.
func TestCleanupAsks(t *testing.T) {
	t.Parallel()
	server := settle(t)
	code, stdout, stderr := invoke(t, "cleanup", "--all", "--kubeconfig", server.kubeconfig())
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, `--all removes what all rules of the instance "default" have left in `+server.server.URL) || !strings.Contains(stderr, "say --yes") {
		t.Errorf("it ended with %d: %s%s", code, stdout, stderr)
	}
	if server.finalizers() == nil {
		t.Error("it has cleaned up")
	}
}

func TestCleanupIsDoneOnce(t *testing.T) {
	t.Parallel()
	server := settle(t)
	for i, want := range []string{"took a finalizer off configmaps default/a (shop/hold)\n", "nothing to clean up: ConfigMap default/dyncontroller-inventory-default is missing or empty; see that --instance and --namespace are those of run\n"} {
		code, stdout, stderr := invoke(t, "cleanup", "--all", "--yes", "--kubeconfig", server.kubeconfig())
		if code != exitClean || stdout != want {
			t.Errorf("cleanup %d: want %q, got %d: %q\n%s", i, want, code, stdout, stderr)
		}
	}
	if diff := cmp.Diff(any(map[string]any{}), server.data("dyncontroller-inventory-default")); diff != "" {
		t.Errorf("the inventory is empty, and there\n-want +got:\n%s", diff)
	}
}

// TestCleanupOfMore holds that every kind of leftover is told of.
func TestCleanupOfMore(t *testing.T) {
	t.Parallel()
	children, fields := held, held
	children.Kind, children.Prune = plan.LeftChildren, true
	fields.Kind, fields.Release = plan.LeftFields, plan.OrphanFields
	gone := held
	gone.GVR, gone.Kind = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}, plan.LeftFields
	owned := map[string]any{"f:data": map[string]any{"f:color": map[string]any{}}}
	marked := map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:" + plan.LabelSet: map[string]any{}}}}
	labels := map[string]any{plan.LabelSet: held.Rule.SetID(), plan.LabelRule: "hold", plan.LabelOwnerUID: "u"}

	server := newAPIServer(t)
	server.set(func(a *apiServer) {
		a.store(applied("child", marked, labels), "ADDED")
		a.store(applied("foreign", map[string]any{"f:data": map[string]any{}}, map[string]any{plan.LabelSet: "another"}), "ADDED")
	})
	record(t, server, children, gone)
	server.set(func(a *apiServer) { a.requests = nil })
	code, stdout, stderr := invoke(t, "cleanup", "--all", "--yes", "--kubeconfig", server.kubeconfig())
	if code != exitClean || stdout != "deleted configmaps default/child (shop/hold)\n" {
		t.Errorf("the child goes, what is not ours stays, and widgets are not served, got %d: %s%s", code, stdout, stderr)
	}
	server.set(func(a *apiServer) {
		a.objects = map[string]map[string]any{}
		a.store(applied("patched", owned, map[string]any{}), "ADDED")
	})
	record(t, server, fields)
	code, stdout, stderr = invoke(t, "cleanup", "--all", "--dry-run", "--kubeconfig", server.kubeconfig())
	if code != exitClean || stdout != "would give up fields of configmaps default/patched (shop/hold)\n" {
		t.Errorf("fields are given up, got %d: %s%s", code, stdout, stderr)
	}
}

// TestCleanupOfPauses holds that what is stored of rules with limits goes with the rules, so that no entry of the inventory stays.
func TestCleanupOfPauses(t *testing.T) {
	t.Parallel()
	other := held.Rule
	other.Name = "other"
	for name, tc := range map[string]struct {
		reason string
		args   []string
		stdout string
		keys   int
	}{
		"all":             {"No rule stays.", []string{"--all", "--yes"}, "forgot what is stored of the limits of shop/hold\nforgot what is stored of the limits of shop/other\n", 0},
		"the set is gone": {"Its pause holds up nobody, and what rules leave that have never run is not recorded.", []string{"-f", ruleFile(t, strings.Replace(holding, "name: shop", "name: elsewhere", 1))}, "forgot what is stored of the limits of shop/hold\nforgot what is stored of the limits of shop/other\n", 0},
		"a rule is gone":  {"The other one of the set stays paused.", []string{"-f", ruleFile(t, idle)}, "forgot what is stored of the limits of shop/hold\n", 1},
		"a dry run":       {"Nothing is forgotten.", []string{"--all", "--dry-run"}, "would forget what is stored of the limits of shop/hold\nwould forget what is stored of the limits of shop/other\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newAPIServer(t)
			store := inventoryOf(t, server)
			if _, err := inventory.Update(t.Context(), store, func(b inventory.Book) inventory.Book {
				return b.Limiting(map[plan.Rule]limit.Stored{held.Rule: paused("hold"), other: paused("other")})
			}); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := invoke(t, append([]string{"cleanup", "--kubeconfig", server.kubeconfig()}, tc.args...)...)
			if code != exitClean || stdout != tc.stdout {
				t.Errorf("%s\nwant %q, got %d: %q\n%s", tc.reason, tc.stdout, code, stdout, stderr)
			}
			data, _ := server.data("dyncontroller-inventory-default").(map[string]any)
			if len(data) != tc.keys {
				t.Errorf("%s\nthe inventory has %v", tc.reason, data)
			}
		})
	}
}

// paused is what is stored of a rule.
func paused(rule string) limit.Stored {
	return limit.Stored{Pause: &v1alpha1.Pause{Rule: rule, Digest: "d", Limit: "1", Per: "1m"}}
}

// applied is a ConfigMap of which the rule of holding has applied some fields.
func applied(name string, fields, labels map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"namespace": "default", "name": name, "uid": "uid-" + name, "labels": labels,
			"managedFields": []any{map[string]any{
				"manager": held.Rule.FieldManager(), "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields,
			}},
		},
	}
}

// record writes an inventory as the engine would.
func record(t *testing.T, server *apiServer, leftovers ...plan.Leftover) {
	t.Helper()
	if _, err := inventory.Update(t.Context(), inventoryOf(t, server), func(b inventory.Book) inventory.Book { return b.With(leftovers...) }); err != nil {
		t.Fatal(err)
	}
}

// inventoryOf is the one of the default instance.
func inventoryOf(t *testing.T, server *apiServer) *inventory.ConfigMap {
	t.Helper()
	target, err := Process{Version: "v1.2.3"}.connect(config.Cluster{Kubeconfig: server.kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(target.config)
	if err != nil {
		t.Fatal(err)
	}
	store, err := operator.NewInventory(client, target.namespace, config.DefaultInstance)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestRunCleansUp holds that run cleans up after a rule that is gone, and after a set
// forbidden has the API server refuse the inventory.
func forbidden(a *apiServer) {
	a.unreadable = map[string]string{"default/dyncontroller-inventory-default": "you may not"}
}

// only where it is told to.
func TestRunCleansUp(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		rules  string
		args   []string
		held   bool
		says   string
		code   int
		change func(*apiServer)
	}{
		"rule":     {reason: "Its set says that it is gone.", rules: idle, says: `took a finalizer off configmaps default/a (shop/hold)`},
		"set":      {reason: "It may be the rules of another process.", rules: elsewhere, held: true, says: `sets are gone that may have left something: put their files back, or clean up with dyncontroller cleanup, or with --prune; if they run elsewhere, give this process another --instance" sets=[shop] what=`},
		"prune":    {reason: "It is told that it is not.", rules: elsewhere, args: []string{"--prune"}, says: "took a finalizer off"},
		"instance": {reason: "Another instance knows nothing of it.", rules: elsewhere, args: []string{"--prune", "--instance=blue"}, held: true},
		"dry run":  {reason: "Nothing is written at all.", rules: idle, args: []string{"--dry-run=server"}, held: true},
		"forbidden": {
			reason: "It is a failure of the run, since the rules leave something.", rules: holding, held: true, code: exitFinding,
			change: forbidden, says: "you may not",
		},
		"forbidden, leaves nothing": {
			reason: "Rules that leave nothing need no inventory.", rules: idle, held: true,
			change: forbidden, says: "you may not",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := settle(t)
			if tc.change != nil {
				server.set(tc.change)
			}
			args := append([]string{"run", "--once", "-f", ruleFile(t, tc.rules), "--kubeconfig", server.kubeconfig()}, tc.args...)
			code, stdout, stderr := invoke(t, args...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.says) {
				t.Errorf("%s\nwant exit code %d and %q, got %d: %s%s", tc.reason, tc.code, tc.says, code, stdout, stderr)
			}
			if holds := server.finalizers() != nil; holds != tc.held {
				t.Errorf("%s\nwant held %t, got %v", tc.reason, tc.held, server.finalizers())
			}
			if tc.code != exitClean && !strings.Contains(stdout, "failed housekeeping: ") {
				t.Errorf("%s\nthe report says so, got %s", tc.reason, stdout)
			}
		})
	}
}
