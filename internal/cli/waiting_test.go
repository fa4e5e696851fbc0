package cli

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// readers has a set of the process's own and one of shop/bot, which watch pods and read
// nodes.
func readers(t *testing.T, many int) *rules.Set {
	t.Helper()
	const set = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: %s}
spec:
  %s
  resources:
    pods: {version: v1, resource: pods}
    nodes: {version: v1, resource: nodes}
  rules:
`
	const rule = `
  - name: rule%d
    watch: pods
    with: {nodes: {resource: nodes, all: true}, pods: {resource: pods, all: true, namespace: "*"}}
    when: len(nodes) > len(pods)
    actions: [{event: {reason: Seen, message: seen}}]
`
	text := fmt.Sprintf(set+rule, "own", "description: of the process", 0) + "---" +
		fmt.Sprintf(set, "theirs", "serviceAccountName: bot\n  serviceAccountNamespace: shop")
	for i := range many {
		text += fmt.Sprintf(rule, i)
	}
	out, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{})
	if len(errs.Of(document.Mistake)) > 0 {
		t.Fatal(errs.Render())
	}
	return out
}

// TestWaiting holds whom a cache that is not there keeps waiting.
func TestWaiting(t *testing.T) {
	t.Parallel()
	bot := types.NamespacedName{Namespace: "shop", Name: "bot"}
	cache := func(account types.NamespacedName, resource string, synced bool) operator.Cache {
		key := informer.Key{}
		key.GVR.Version, key.GVR.Resource = "v1", resource
		return operator.Cache{Account: account, Status: informer.Status{Key: key, Synced: synced}}
	}
	on := func(all *rules.Set, cache operator.Cache) []string {
		return waitingFor(all, []operator.Cache{cache})[cacheOf{cache.Account, cache.Key}]
	}
	if got := on(nil, cache(bot, "pods", false)); got != nil {
		t.Errorf("before there are rules: %q", got)
	}
	for _, step := range []struct {
		reason string
		rules  int
		cache  operator.Cache
		want   []string
	}{
		{"What it watches it waits for; that it reads it too is told once.", 2, cache(bot, "pods", false), []string{"theirs/rule0", "theirs/rule1"}},
		{"It does not wait for what is there.", 2, cache(bot, "pods", true), nil},
		{"And so for what it reads.", 2, cache(bot, "nodes", false), []string{"theirs/rule0", "theirs/rule1"}},
		{"The rules of another identity wait for its own.", 2, cache(types.NamespacedName{}, "nodes", false), []string{"own/rule0"}},
		{"Nobody waits for this.", 2, cache(bot, "services", false), nil},
		{"There are others now, and many.", 7, cache(bot, "nodes", false), []string{
			"theirs/rule0", "theirs/rule1", "theirs/rule2", "theirs/rule3", "theirs/rule4", "and 2 more",
		}},
		{"There are few again.", 1, cache(bot, "nodes", false), []string{"theirs/rule0"}},
	} {
		if diff := cmp.Diff(step.want, on(readers(t, step.rules), step.cache)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}
