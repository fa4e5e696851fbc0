package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	quotas   = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
	policies = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}
)

// namespaceDefaults copies the example, with a namespace of the test in the place of platform.
func namespaceDefaults(t *testing.T, platform string) (path string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "rules", "namespace-defaults", "namespace-defaults.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return rulesFile(t, platform, strings.ReplaceAll(string(data), "platform", "NAMESPACE"))
}

// TestExamplesNamespaceDefaults holds that what the rules make in a namespace settles beside the defaults of the API server,
// follows its sources, and goes with the label, also if that was removed while no process ran.
func TestExamplesNamespaceDefaults(t *testing.T) {
	virtually(t, func(t *testing.T) {
		platform, shop := cluster(t).Namespace(t), cluster(t).Namespace(t)
		rules := append(apart(platform), "--rules", namespaceDefaults(t, platform))
		create(t, configmaps, platform, `{apiVersion: v1, kind: ConfigMap, metadata: {name: ca, labels: {example.com/copy: source}},
		data: {ca.crt: old, extra: x}}`)
		create(t, configmaps, shop, `{apiVersion: v1, kind: ConfigMap, metadata: {name: own}, data: {key: value}}`)
		size := func(value string) {
			edit(t, namespacesGVR, "", shop, `{"metadata":{"labels":{"example.com/defaults":`+value+`}}}`)
		}
		size(`"large"`)

		p := start(t, rules...)
		made := func() bool {
			return exists(t, quotas, shop, "default") && exists(t, limitRanges, shop, "default") &&
				exists(t, policies, shop, "same-namespace") && exists(t, configmaps, shop, "ca")
		}
		eventually(t, "the namespace has everything", made)
		edit(t, configmaps, platform, "ca", `{"data":{"ca.crt":"new","extra":null}}`)
		eventually(t, "the copy follows", func() bool {
			return cmp.Equal(field(get(t, configmaps, shop, "ca"), "data"), map[string]any{"ca.crt": "new"})
		})
		edit(t, quotas, shop, "default", `{"spec":{"hard":{"pods":"5k","services":"3"}}}`)
		want := map[string]any{"pods": "200", "requests.cpu": "32", "requests.memory": "64Gi", "services": "3"}
		eventually(t, "the quota is as the rule says, and keeps what was added", func() bool {
			return cmp.Equal(field(get(t, quotas, shop, "default"), "spec", "hard"), want)
		})
		deleteObject(t, policies, shop, "same-namespace")
		eventually(t, "the deleted policy comes back", made)
		if code := p.wait(t); code != 0 {
			t.Fatalf("ended with %d", code)
		}
		if output, code := once(t, rules...); code != 0 || !strings.Contains(output, "0 writes, 0 failures") {
			t.Errorf("a second process does not find all settled, and ends with %d:\n%s", code, output)
		}

		size("null")
		if output, code := once(t, rules...); code != 0 {
			t.Errorf("ended with %d:\n%s", code, output)
		}
		eventually(t, "everything is gone with the label", func() bool {
			return !exists(t, quotas, shop, "default") && !exists(t, limitRanges, shop, "default") &&
				!exists(t, policies, shop, "same-namespace") && !exists(t, configmaps, shop, "ca")
		})
		if !exists(t, configmaps, shop, "own") {
			t.Error("a ConfigMap of somebody else is gone too")
		}
	})
}

// TestExamplesNamespaceDefaultsTaken holds that an object of somebody else is left as it is, told, and holds up no other rule.
func TestExamplesNamespaceDefaultsTaken(t *testing.T) {
	virtually(t, func(t *testing.T) {
		platform, shop := cluster(t).Namespace(t), cluster(t).Namespace(t)
		create(t, quotas, shop, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: default}, spec: {hard: {pods: "1"}}}`)
		edit(t, namespacesGVR, "", shop, `{"metadata":{"labels":{"example.com/defaults":"large"}}}`)
		start(t, append(apart(platform), "--rules", namespaceDefaults(t, platform))...)
		eventually(t, "the others are there", func() bool {
			return exists(t, limitRanges, shop, "default") && exists(t, policies, shop, "same-namespace")
		})
		eventually(t, "an Event tells that the quota is not ours", func() bool {
			for _, event := range listEvents(t, "default") {
				if event.Reason == "NotOurs" && event.Regarding.Name == shop && strings.Contains(event.Note, "default") {
					return true
				}
			}
			return false
		})
		if got := field(get(t, quotas, shop, "default"), "spec", "hard", "pods"); got != "1" {
			t.Errorf("the quota of somebody else now allows %v Pods", got)
		}
	})
}

// TestExamplesNamespaceDefaultsRemoved holds that what a rule made goes with the rule, unless its prune was removed before.
func TestExamplesNamespaceDefaultsRemoved(t *testing.T) {
	virtually(t, func(t *testing.T) {
		platform, shop := cluster(t).Namespace(t), cluster(t).Namespace(t)
		path := namespaceDefaults(t, platform)
		edit(t, namespacesGVR, "", shop, `{"metadata":{"labels":{"example.com/defaults":"large"}}}`)
		start(t, append(apart(platform), "--rules", path)...)
		eventually(t, "the namespace has everything", func() bool {
			return exists(t, quotas, shop, "default") && exists(t, limitRanges, shop, "default") && exists(t, policies, shop, "same-namespace")
		})
		rules := func(change func(name, rule string) string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(string(data), "\n  - name: ")
			kept := parts[:1]
			for _, rule := range parts[1:] {
				name, _, _ := strings.Cut(rule, "\n")
				if rule = change(name, rule); rule != "" {
					kept = append(kept, rule)
				}
			}
			writeFile(t, path, strings.Join(kept, "\n  - name: "))
		}
		rules(func(name, rule string) string {
			switch name {
			case "quota":
				return ""
			case "limits":
				return strings.Replace(rule, "        prune: true\n", "", 1)
			default:
				return rule
			}
		})
		eventually(t, "the quota goes with its rule", func() bool { return !exists(t, quotas, shop, "default") })
		rules(func(name, rule string) string {
			if name == "limits" || name == "deny-ingress" {
				return ""
			}
			return rule
		})
		eventually(t, "the policy goes with its rule", func() bool { return !exists(t, policies, shop, "same-namespace") })
		if !exists(t, limitRanges, shop, "default") {
			t.Error("the limits are gone, whose rule did not say prune any more")
		}
	})
}
