package tenants

import (
	"strings"
	"testing"
)

// TestSuspend holds that a set, and a rule of it, are suspended and resumed by command, and that the status shows it.
func TestSuspend(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		start(t, cluster(t))
		apply(t, cluster(t), namespace, guard)
		ready(t, cluster(t), ruleSets, namespace, "guard")
		labelled(t, namespace, "before", "blue")
		said := func(arguments ...string) string {
			t.Helper()
			p := launch(t, cluster(t), append(arguments, "--kubeconfig", cluster(t).Kubeconfig(), "-n", namespace)...)
			if code := p.code(); code != 0 {
				t.Fatalf("%v: %d\n%s", arguments, code, p.output)
			}
			return p.output.String()
		}
		shows := func(parts ...string) {
			t.Helper()
			var out string
			eventually(t, "the status shows "+strings.Join(parts, " "), func() bool {
				out = strings.Join(strings.Fields(said("status", "guard")), " ")
				for _, part := range parts {
					if !strings.Contains(out, part) {
						return false
					}
				}
				return true
			})
		}
		shows("RuleSet "+namespace+"/guard: Ready", "guard/color Active")
		for i, name := range []string{"guard", "guard/color"} {
			if got := said("suspend", name); got != "RuleSet/"+namespace+"/"+name+" suspended\n" {
				t.Errorf("it says %q", got)
			}
			if got := said("suspend", name); got != "RuleSet/"+namespace+"/"+name+" is suspended already\n" {
				t.Errorf("it says %q", got)
			}
			shows("RuleSet "+namespace+"/guard: Suspended", "guard/color Suspended")
			object := "while-" + []string{"one", "two"}[i]
			apply(t, cluster(t), namespace, strings.NewReplacer("NAME,", object+",", "COLOR", "blue").Replace(blue))
			quiet(t, namespace)
			if labels := field(get(t, cluster(t), configmaps, namespace, object), "metadata", "labels"); labels != nil {
				t.Errorf("while %s is suspended, it has written %v", name, labels)
			}
			if got := said("resume", name); got != "RuleSet/"+namespace+"/"+name+" resumed\n" {
				t.Errorf("it says %q", got)
			}
			labelled(t, namespace, object, "blue")
		}
		shows("RuleSet "+namespace+"/guard: Ready", "guard/color Active 3 3 0")
	})
}
