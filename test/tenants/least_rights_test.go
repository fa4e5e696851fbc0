package tenants

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rights are the documents that rbac printed, in their order.
type rights []printedRight

// printedRight is a role or a binding: all fields that either has.
type printedRight struct {
	text  string
	rules []rbacv1.PolicyRule
}

func parsedRights(t *testing.T, text string) (out rights) {
	t.Helper()
	for document := range strings.SplitSeq(text, "---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		out = append(out, printedRight{document, role.Rules})
	}
	return out
}

// rules are those of all roles.
func (r rights) rules() (out []rbacv1.PolicyRule) {
	for _, one := range r {
		out = append(out, one.rules...)
	}
	return out
}

// sample are some of the rules, the first and the last among them.
func (r rights) sample() (out []int) {
	const most = 4
	n := len(r.rules())
	for i := range min(n, most) {
		out = append(out, i*(n-1)/max(min(n, most)-1, 1))
	}
	return out
}

// grant gives them to the account, but for one of the rules; -1 for all of them.
func (r rights) grant(t *testing.T, namespace string, without int) {
	t.Helper()
	var documents []string
	for _, one := range r {
		text := one.text
		if without >= 0 && without < len(one.rules) {
			text = lacking(t, text, without)
		}
		without -= len(one.rules)
		if without < 0 && len(one.rules) > 0 {
			without = -1
		}
		documents = append(documents, text)
	}
	apply(t, cluster(t), namespace, strings.Join(documents, "---\n"))
}

// lacking is a role without one of its rules.
func lacking(t *testing.T, text string, without int) string {
	t.Helper()
	var role map[string]any
	if err := yaml.Unmarshal([]byte(text), &role); err != nil {
		t.Fatal(err)
	}
	rules, _ := role["rules"].([]any)
	role["rules"] = append(append([]any{}, rules[:without]...), rules[without+1:]...)
	out, err := yaml.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
