package tenants

import (
	"strings"
	"testing"
)

// TestOnceWithSets holds what --once says and ends with where the rules are objects.
func TestOnceWithSets(t *testing.T) {
	virtuallyAlone(t, func(t *testing.T) {
		on := cluster(t)
		namespace := on.Namespace(t)
		account(t, on, namespace, "bot", editor)
		once := func(code int, says ...string) {
			t.Helper()
			p := launch(t, on, "run", "--kubeconfig", on.Kubeconfig(), "--rules-from-cluster", "--once")
			if got := p.code(); got != code {
				t.Errorf("it ended with %d, want %d", got, code)
			}
			for _, part := range says {
				if !strings.Contains(p.output.String(), part) {
					t.Errorf("it does not say %q", part)
				}
			}
			if t.Failed() {
				t.Fatalf("it says:\n%s", p.output)
			}
		}
		color := func(name string) any {
			return field(get(t, on, configmaps, namespace, name), "metadata", "labels", "color")
		}
		blue := func(name string) {
			apply(t, on, namespace, strings.NewReplacer("NAME,", name+",", "COLOR", "blue").Replace(blue))
		}

		once(0)
		apply(t, on, namespace, guard)
		blue("a")
		once(0)
		if color("a") != "blue" {
			t.Error("it did nothing")
		}
		before := get(t, on, configmaps, namespace, "a").GetResourceVersion()
		once(0)
		if now := get(t, on, configmaps, namespace, "a").GetResourceVersion(); now != before {
			t.Error("what is settled was written again")
		}

		blue("b")
		apply(t, on, namespace, strings.NewReplacer("name: guard", "name: wrong", "object.data?", "objekt.data?").Replace(guard))
		once(1, "RuleSet "+namespace+"/wrong: it is refused", "spec.rules[0].when", "did you mean")
		if color("b") != "blue" {
			t.Error("a set that is wrong keeps another from acting")
		}
		removed(t, on, ruleSets, namespace, "wrong")
		once(0)

		remove(t, on, serviceaccounts, namespace, "bot")
		blue("c")
		once(1, "there is no such ServiceAccount: "+namespace+"/bot")
		if color("c") == "blue" {
			t.Error("it acted as an account that is not there")
		}
	})
}
