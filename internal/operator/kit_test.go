package operator

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// kit is an operator in a world, with what it logs.
type kit struct {
	t testing.TB
	*world
	*Operator
	log *record
}

// record is safe for concurrent use.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(data)
}

func (r *record) says(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.text.String(), text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// newKit makes an operator of files and objects, unless change says something else.
func newKit(t testing.TB, change func(*Options)) *kit {
	t.Helper()
	k := &kit{t: t, world: newWorld(), log: &record{}}
	cluster := &rest.Config{Host: "http://world", Transport: k.world, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	discovery, err := discovery.NewClient(cluster)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Cluster: Cluster{Config: cluster, Namespace: "system", Discovery: discovery},
		Settings: config.Config{
			Rules: []string{"rules.yaml"}, FromCluster: true, Instance: "default", Workers: 2, DryRun: config.DryRunNone,
		},
		Rules:    rules.Options{Sensitive: func(string) bool { return false }},
		Instance: "test", Log: slog.New(slog.NewTextHandler(k.log, nil)), Clock: clock.RealClock{},
	}
	if change != nil {
		change(&options)
	}
	if k.Operator, err = New(options); err != nil {
		t.Fatal(err)
	}
	return k
}

// start runs the operator, and leads. The function that it returns ends both.
func (k *kit) start() (stop func()) {
	ctx, cancel := context.WithCancel(k.t.Context())
	standing, end := context.WithCancel(k.t.Context())
	var run, lead sync.WaitGroup
	run.Go(func() { k.Run(standing) })
	lead.Go(func() { k.Lead(ctx) })
	k.pass(moment)
	return func() {
		cancel()
		lead.Wait()
		end()
		run.Wait()
	}
}

// stand runs the operator, which does not lead.
func (k *kit) stand() (stop func()) {
	ctx, cancel := context.WithCancel(k.t.Context())
	var run sync.WaitGroup
	run.Go(func() { k.Run(ctx) })
	k.pass(moment)
	return func() {
		cancel()
		run.Wait()
	}
}

// pass lets time go by on the clock of the operator, which is that of a bubble and so no
// real one, and returns once everybody waits for something.
func (k *kit) pass(d time.Duration) {
	<-k.options.Clock.After(d)
	synctest.Wait()
}

// files puts the rules of texts into effect.
func (k *kit) files(texts ...string) {
	k.t.Helper()
	set := load(k.t, texts...)
	if err := k.SetFiles(set); err != nil {
		k.t.Fatal(err)
	}
}

func load(t testing.TB, texts ...string) *rules.Set {
	t.Helper()
	var files []document.File
	for _, text := range texts {
		files = append(files, document.File{Name: "rules.yaml", Data: []byte(text)})
	}
	set, errs := rules.Load(files, rules.Options{DefaultNamespace: "shop"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return set
}

// said is what is known of schemas.
type said struct {
	known *schema.Catalog
	news  bool
}

func (s said) Ask(context.Context, []apischema.GroupVersionResource) (*schema.Catalog, bool) {
	return s.known, s.news
}

func (s said) Changed() <-chan struct{} { return nil }

// setObjects makes these the set objects.
func (k *kit) setObjects(all ...source.Object) { k.SetObjects(k.t.Context(), all, said{}) }

// object is what has become of a set object.
func (k *kit) object(set source.Object) *object {
	k.mu2().Lock()
	defer k.mu2().Unlock()
	return k.Operator.objects[set.Key]
}

// mu2 is the lock of the operator, not that of the world.
func (k *kit) mu2() *sync.Mutex { return &k.Operator.mu }

// tenant returns the one of an account, nil where there is none.
func (k *kit) tenant(account types.NamespacedName) *tenant {
	k.mu2().Lock()
	defer k.mu2().Unlock()
	return k.tenants[account]
}

// names lists whose tenants there are.
func (k *kit) names() []string {
	tenants, _ := k.present()
	var out []string
	for _, t := range tenants {
		out = append(out, t.account.String())
	}
	return out
}

// paints is a RuleSet in the namespace shop that has all ConfigMaps say a color.
func paints(name, account, color string) string {
	who := ""
	if account != "" {
		who = "\n  serviceAccountName: " + account
	}
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ` + name + `, namespace: shop}
spec:` + who + `
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: paint
    watch: configmaps
    when: object.data?.` + name + ` != "` + color + `"
    actions: [{patch: {merge: {data: {` + name + `: ` + color + `}}}}]
`
}

// keeps is one that leaves fields behind.
func keeps(name, account, rule string) string {
	who := ""
	if account != "" {
		who = "\n  serviceAccountName: " + account
	}
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ` + name + `, namespace: shop}
spec:` + who + `
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: ` + rule + `
    watch: configmaps
    when: object.metadata.name == "none"
    actions: [{patch: {apply: {data: {a: b}}}}]
`
}

// asObject is what a text is as a set object.
func asObject(t testing.TB, text string) source.Object {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	metadata := fields["metadata"].(map[string]any)
	key := source.Key{Kind: fields["kind"].(string), Name: metadata["name"].(string)}
	key.Namespace, _ = metadata["namespace"].(string)
	out := source.Object{
		Key: key, UID: types.UID("uid-" + key.Name), ResourceVersion: "1", Generation: 1, Document: source.DocumentOf(key, fields),
	}
	sets, _ := spec.Parse([]document.File{out.Document}, key.Namespace)
	for _, set := range sets {
		out.Account = set.Identity
		for _, resource := range set.Resources {
			out.Resources = append(out.Resources, resource.GVR)
		}
	}
	return out
}

// edited is the next generation of an object.
func edited(t testing.TB, before source.Object, text string) source.Object {
	t.Helper()
	after := asObject(t, text)
	after.Generation, after.UID, after.Created, after.Status = before.Generation+1, before.UID, before.Created, before.Status
	return after
}

// leaving is an object that is being deleted, with something left by accounts.
func leaving(set source.Object, accounts ...string) source.Object {
	set.Deleting, set.Finalizer = true, true
	set.Status.Inventory = nil
	for _, account := range accounts {
		set.Status.Inventory = append(set.Status.Inventory, v1alpha1.Leftover{
			Rule: "keep-" + account, Kind: "fields", Version: "v1", Resource: "configmaps", Namespace: "shop", Release: "Orphan",
			ServiceAccount: account, ServiceAccountNamespace: "shop",
		})
	}
	return set
}

// store puts a set object into the world as well, as it is.
func (k *kit) store(set source.Object, finalizers ...any) {
	metadata := map[string]any{"name": set.Name, "namespace": set.Namespace, "uid": string(set.UID), "generation": set.Generation, "finalizers": finalizers}
	if set.Deleting {
		metadata["deletionTimestamp"] = "2000-01-01T00:00:00Z"
	}
	var inventory []any
	for _, left := range set.Status.Inventory {
		inventory = append(inventory, map[string]any{
			"rule": left.Rule, "kind": left.Kind, "version": left.Version, "resource": left.Resource, "namespace": left.Namespace, "release": left.Release,
			"serviceAccount": left.ServiceAccount, "serviceAccountNamespace": left.ServiceAccountNamespace,
		})
	}
	k.put("rulesets", map[string]any{
		"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "RuleSet", "metadata": metadata,
		"status": map[string]any{"inventory": inventory},
	})
}

func shop(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// status is what the conditions of a set object are to say.
func (k *kit) status(set source.Object) string {
	k.t.Helper()
	for _, update := range k.updates() {
		if update.UID != set.UID {
			continue
		}
		var out []string
		for _, condition := range update.Compose(update.Status).Conditions {
			out = append(out, condition.Type+"="+string(condition.Status)+" "+condition.Reason)
		}
		return strings.Join(out, ", ")
	}
	return ""
}
