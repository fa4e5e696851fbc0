package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// What rules that do not come to rest may take of the API server.
const (
	roundsUntilNamed = 10
	writesPerMinute  = 6
)

// fight is rules and a rival, which go on until they are slowed down.
type fight struct {
	t         *testing.T
	namespace string
	proxy     *proxy.Proxy
	process   *process
}

// begin runs rules about the ConfigMap contested, in which NAMESPACE stands for that of the test.
func begin(t *testing.T, namespace, rules string) *fight {
	t.Helper()
	p, through := proxied(t, nil)
	return &fight{t: t, namespace: namespace, proxy: p, process: start(t, append(through, "--rules", rulesFile(t, namespace, rules))...)}
}

// writes counts what the rules have sent so far.
func (f *fight) writes() int {
	n := 0
	for _, request := range f.proxy.Requests() {
		if storing(request) && request.Namespace == f.namespace {
			n++
		}
	}
	return n
}

// expectNamed waits until an Event says who undoes what, of which the text has all of these words, and holds that it came
// soon enough. The rules write as often as there are sides among them that do.
func (f *fight) expectNamed(sides int, words ...string) {
	f.t.Helper()
	var notes []string
	eventually(f.t, "an Event names both sides", func() bool {
		notes = nil
		for _, event := range listEvents(f.t, f.namespace) {
			if event.Reason == "Contested" {
				notes = append(notes, event.Note)
			}
		}
		return len(notes) > 0
	})
	if n := f.writes(); n > sides*roundsUntilNamed {
		f.t.Errorf("named after %d writes, want at most %d rounds", n, roundsUntilNamed)
	}
	for _, word := range words {
		if !strings.Contains(strings.Join(notes, "\n"), word) {
			f.t.Errorf("want %q in:\n%s", word, strings.Join(notes, "\n"))
		}
	}
}

// expectSlow holds that the rules write seldom for a minute, and go on writing.
func (f *fight) expectSlow() {
	f.t.Helper()
	before := f.writes()
	minute := time.NewTimer(time.Minute)
	defer minute.Stop()
	<-minute.C
	if n := f.writes() - before; n == 0 || n > writesPerMinute {
		f.t.Errorf("%d writes in a minute, want some, and at most %d", n, writesPerMinute)
	}
	told := 0
	for _, event := range listEvents(f.t, f.namespace) {
		if event.Reason == "Contested" {
			told++
		}
	}
	if told > 2 {
		f.t.Errorf("told by %d Events, want one for each side", told)
	}
}

// contested makes the object that is fought over.
func contested(t *testing.T, namespace string) {
	t.Helper()
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: contested, labels: {fight: "on"}}, data: {size: "0"}}`)
}

func (f *fight) value(key string) string {
	f.t.Helper()
	text, _ := field(get(f.t, configmaps, f.namespace, "contested"), "data", key).(string)
	return text
}

const fightHead = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: fight, namespace: NAMESPACE}
spec:
  resources:
    maps: {version: v1, resource: configmaps, labelSelector: fight=on}
    sources: {version: v1, resource: configmaps, labelSelector: fight=source}
  rules:
`

// keepsOne is a rule that a rival can undo.
const keepsOne = fightHead + `
  - name: keeps-one
    watch: maps
    when: object.data?.size != "1"
    actions: [{patch: {merge: {data: {size: "1"}}}}]
`

func TestFightOfTwoRules(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		contested(t, namespace)
		f := begin(t, namespace, fightHead+`
  - name: up
    watch: maps
    when: object.data?.size != "1"
    actions: [{patch: {merge: {data: {size: "1"}}}}]
  - name: down
    watch: maps
    when: object.data?.size == "1"
    actions: [{patch: {merge: {data: {size: "2"}}}}]
`)
		f.expectNamed(2, "fight/up", "fight/down", "data.size", "contested")
		f.expectSlow()
	})
}

func TestFightAcrossObjects(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		contested(t, namespace)
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: source, labels: {fight: source}}, data: {size: "2"}}`)
		f := begin(t, namespace, fightHead+`
  - name: here
    watch: maps
    when: object.data?.size != "1"
    actions: [{patch: {merge: {data: {size: "1"}}}}]
  - name: there
    watch: sources
    with:
      other: {resource: maps, name: contested}
    when: other != nil && other.data?.size != object.data?.size
    actions: [{patch: {target: other, merge: {data: {size: "${object.data?.size ?? '0'}"}}}}]
`)
		f.expectNamed(2, "fight/here", "fight/there", "data.size", "contested")
		f.expectSlow()
	})
}

func TestFightWithItself(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		contested(t, namespace)
		f := begin(t, namespace, fightHead+`
  - name: counts
    watch: maps
    actions: [{patch: {merge: {data: {size: "${string(int(object.data?.size ?? '0') + 1)}"}}}}]
`)
		f.expectNamed(1, "fight/counts", "itself", "data.size", "contested")
		f.expectSlow()
	})
}

func TestFightWithScript(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		contested(t, namespace)
		ctx, stop := context.WithCancel(t.Context())
		var script sync.WaitGroup
		script.Go(func() { undo(ctx, t, namespace) })
		f := begin(t, namespace, keepsOne)
		f.expectNamed(1, "fight/keeps-one", `"script"`, "data.size", "contested")
		f.expectSlow()
		stop()
		script.Wait()
		edit(t, configmaps, namespace, "contested", `{"data": {"size": "0"}}`) // What the script did last, and then no more.
		eventually(t, "the object settles once the script is gone", func() bool { return f.value("size") == "1" })
	})
}

// undo does what a script does that knows better: whenever the object changes, it changes it back.
func undo(ctx context.Context, t *testing.T, namespace string) {
	maps := client(t).Resource(configmaps).Namespace(namespace)
	changes, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=contested"})
	if err != nil {
		t.Error(err)
		return
	}
	defer changes.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case change, open := <-changes.ResultChan():
			object, ok := change.Object.(*unstructured.Unstructured)
			if !open || !ok {
				return
			}
			if field(object, "data", "size") != "1" {
				continue
			}
			patch := []byte(`{"data": {"size": "0"}}`)
			if _, err := maps.Patch(ctx, "contested", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "script"}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}
}

func TestFightWithWebhook(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	contested(t, namespace)
	remove := mutate(t, namespace, func(object map[string]any) {
		data, _ := object["data"].(map[string]any)
		if data["size"] == "1" {
			data["size"] = "0"
			data["touched"] = time.Now().Format(time.RFC3339Nano) // Else nothing would change, and the write would not be repeated.
		}
	})
	f := begin(t, namespace, keepsOne)
	f.expectNamed(1, "fight/keeps-one", "admission", "data.size", "contested")
	f.expectSlow()
	remove()
	eventually(t, "the object settles once the webhook is gone", func() bool { return f.value("size") == "1" })
}

// TestRecursion holds that a rule which makes objects of what it has made, and one that records Events about its own Events, are named and
// make few.
func TestRecursion(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: seed, labels: {fight: source}}}`)
	f := begin(t, namespace, fightHead+`
  - name: copies
    watch: sources
    actions:
    - apply:
        resource: sources
        manifest: {metadata: {name: "${sha256(object.metadata.name)[:20]}", labels: {fight: source}}}
`)
	f.expectNamed(2, "fight/copies", "because of objects that it has made", "configmaps")
	echoing := begin(t, namespace, `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: echoes, namespace: NAMESPACE}
spec:
  resources:
    events: {version: v1, resource: events}
  rules:
  - name: echo
    watch: events
    actions: [{event: {reason: Echo, message: "saw ${object.metadata.name}"}}]
`)
	eventually(t, "the log names the rule", func() bool {
		return strings.Contains(echoing.process.output.String(), "rule=echoes/echo")
	})
	echoes := 0
	for _, event := range listEvents(t, namespace) {
		if event.Reason == "Echo" {
			echoes++
		}
	}
	if echoes > 5*roundsUntilNamed {
		t.Errorf("%d Events about Events", echoes)
	}
}
