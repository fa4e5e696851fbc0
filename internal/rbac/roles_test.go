package rbac_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/rbac"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

var till = types.NamespacedName{Namespace: "shop", Name: "till"}

// need reads "VERBS RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE [NAME]]: RULES".
func need(text string) (out []rules.Need) {
	what, who, _ := strings.Cut(text, ": ")
	words := append(strings.Fields(what), "", "")
	resource, subresource, _ := strings.Cut(words[1], "/")
	p := plan.Permission{Resource: schema.ParseGroupResource(resource), Subresource: subresource, Namespace: words[2], Name: words[3]}
	var of []plan.Rule
	for name := range strings.FieldsSeq(who) {
		of = append(of, plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "s", Name: name})
	}
	for p.Verb = range strings.SplitSeq(words[0], ",") {
		out = append(out, rules.Need{Permission: p, Rules: of})
	}
	return out
}

func needs(lines ...string) (out []rules.Need) {
	for _, line := range lines {
		out = append(out, need(line)...)
	}
	return out
}

// ruleLines are the lines of the YAML that are about rules, where each role begins with
// its namespace.
func ruleLines(text string) []string {
	var out []string
	for document := range strings.SplitSeq(text, "---\n") {
		head, list, isRole := strings.Cut(document, "\nrules:\n")
		if !isRole {
			continue
		}
		_, namespace, _ := strings.Cut(head, "namespace: ")
		out = append(out, cmp.Or(namespace, "cluster"))
		out = append(out, strings.Split(strings.TrimSpace(list), "\n")...)
	}
	return out
}

// TestRules holds what is merged, what is not, and in which order it is.
func TestRules(t *testing.T) {
	tests := map[string]struct {
		reason string
		needs  []string
		want   []string
	}{
		"order of verbs": {
			"What reads comes first.",
			[]string{"watch,patch,list,delete,get,create,update,x,b pods: a"},
			[]string{"cluster", "# s/a", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [b, x, get, list, watch, create, update, patch, delete]"},
		},
		"resources of a group": {
			"They are one rule where they have the same verbs,",
			[]string{"get pods: b", "get secrets: a", "get configmaps: b"},
			[]string{"cluster", "# s/a, s/b", `- apiGroups: [""]`, "  resources: [configmaps, pods, secrets]", "  verbs: [get]"},
		},
		"other verbs": {
			"and only there: a rule allows all of its verbs on all of its resources.",
			[]string{"get,list pods: a", "get secrets: a"},
			[]string{
				"cluster", "# s/a", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [get, list]",
				"# s/a", `- apiGroups: [""]`, "  resources: [secrets]", "  verbs: [get]",
			},
		},
		"groups": {
			"Those of two groups are never one.",
			[]string{"get pods: a", "get pods.metrics.k8s.io: a"},
			[]string{
				"cluster", "# s/a", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [get]",
				"# s/a", "- apiGroups: [metrics.k8s.io]", "  resources: [pods]", "  verbs: [get]",
			},
		},
		"subresource": {
			"A subresource is a resource of its own.",
			[]string{"patch pods/status: a", "patch pods: b"},
			[]string{"cluster", "# s/a, s/b", `- apiGroups: [""]`, "  resources: [pods, pods/status]", "  verbs: [patch]"},
		},
		"names": {
			"Names of one resource are one rule, those of two resources are not: each would have those of the other.",
			[]string{"get configmaps shop b: a", "get configmaps shop a: b", "get secrets shop b: a", "get secrets shop a: a"},
			[]string{
				"shop", "# s/a, s/b", `- apiGroups: [""]`, "  resources: [configmaps]", "  resourceNames: [a, b]", "  verbs: [get]",
				"# s/a", `- apiGroups: [""]`, "  resources: [secrets]", "  resourceNames: [a, b]", "  verbs: [get]",
			},
		},
		"names and verbs": {
			"Nor are those with other verbs.",
			[]string{"get configmaps shop b: a", "get,patch configmaps shop a: a"},
			[]string{
				"shop", "# s/a", `- apiGroups: [""]`, "  resources: [configmaps]", "  resourceNames: [a]", "  verbs: [get, patch]",
				"# s/a", `- apiGroups: [""]`, "  resources: [configmaps]", "  resourceNames: [b]", "  verbs: [get]",
			},
		},
		"wider": {
			"What a wider right includes is not said again, and who needs it is.",
			[]string{"list pods: wide", "list,patch pods shop: narrow", "list,patch,get pods shop one: name", "list pods: twice", "get pods shop one: twice"},
			[]string{
				"cluster", "# s/name, s/narrow, s/twice, s/wide", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [list]",
				"shop", "# s/name, s/narrow", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [patch]",
				"# s/name, s/twice", `- apiGroups: [""]`, "  resources: [pods]", "  resourceNames: [one]", "  verbs: [get]",
			},
		},
		"scopes": {
			"What is cluster-wide is apart from what is in a namespace.",
			[]string{"get pods shop one: a", "get nodes: b", "get pods shop: c"},
			[]string{
				"cluster", "# s/b", `- apiGroups: [""]`, "  resources: [nodes]", "  verbs: [get]",
				"shop", "# s/a, s/c", `- apiGroups: [""]`, "  resources: [pods]", "  verbs: [get]",
			},
		},
		"reasons": {
			"Verbs that other rules need have lines of their own.",
			[]string{"get,list,watch pods: a b", "patch pods: b", "delete pods: a b"},
			[]string{
				"cluster", "# get, list, watch, delete: s/a, s/b", "# patch: s/b",
				`- apiGroups: [""]`, "  resources: [pods]", "  verbs: [get, list, watch, patch, delete]",
			},
		},
		"many reasons": {
			"A person reads them without scrolling.",
			[]string{"get pods: " + strings.Repeat("x", 60) + " " + strings.Repeat("y", 60) + " z"},
			[]string{
				"cluster", "# s/" + strings.Repeat("x", 60) + ",", "#   s/" + strings.Repeat("y", 60) + ", s/z",
				`- apiGroups: [""]`, "  resources: [pods]", "  verbs: [get]",
			},
		},
		"words": {
			"What may be read as something else is quoted.",
			[]string{"get pods 1e3 on: a", "get pods 1e3 1.5: a", "get pods no a.b-c: a"},
			[]string{
				`"1e3"`, "# s/a", `- apiGroups: [""]`, "  resources: [pods]", `  resourceNames: ["1.5", "on"]`, "  verbs: [get]",
				`"no"`, "# s/a", `- apiGroups: [""]`, "  resources: [pods]", "  resourceNames: [a.b-c]", "  verbs: [get]",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ruleLines(rbac.YAML(map[types.NamespacedName][]rules.Need{till: needs(tc.needs...)}))
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDocuments holds how roles are called, and what they are bound to.
func TestDocuments(t *testing.T) {
	tests := map[string]struct {
		reason  string
		account types.NamespacedName
		needs   []string
		want    []string
	}{
		"none":       {"Who needs nothing has nothing.", till, nil, nil},
		"cluster":    {"It is bound in all of the cluster.", till, []string{"get pods: a"}, []string{"ClusterRole dyncontroller:shop:till", "ClusterRoleBinding dyncontroller:shop:till of ClusterRole dyncontroller:shop:till to shop/till"}},
		"namespaces": {"Or in each namespace.", till, []string{"get pods b: a", "get pods a: a"}, []string{"Role a/dyncontroller:shop:till", "RoleBinding a/dyncontroller:shop:till of Role dyncontroller:shop:till to shop/till", "Role b/dyncontroller:shop:till", "RoleBinding b/dyncontroller:shop:till of Role dyncontroller:shop:till to shop/till"}},
		"nobody":     {"Without an account there is nothing to bind to.", types.NamespacedName{}, []string{"get pods: a", "get pods/log shop: a"}, []string{"ClusterRole dyncontroller-rules", "Role shop/dyncontroller-rules"}},
		"odd names":  {"All names stay text.", types.NamespacedName{Namespace: "1e3", Name: "no"}, []string{"get pods 012: a"}, []string{"Role 012/dyncontroller:1e3:no", "RoleBinding 012/dyncontroller:1e3:no of Role dyncontroller:1e3:no to 1e3/no"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, document := range parsed(t, rbac.YAML(map[types.NamespacedName][]rules.Need{tc.account: needs(tc.needs...)})) {
				got = append(got, document.String())
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAccounts holds that accounts are in order, and that no two share a role.
func TestAccounts(t *testing.T) {
	all := map[types.NamespacedName][]rules.Need{
		{Namespace: "b", Name: "a"}:   needs("get pods: a"),
		{Namespace: "a", Name: "b-c"}: needs("get pods: b"),
		{}:                            needs("get pods: c"),
		{Namespace: "a-b", Name: "c"}: needs("get pods: d"),
		{Namespace: "a", Name: "a"}:   nil,
	}
	want := []string{
		"ClusterRole dyncontroller-rules",
		"ClusterRole dyncontroller:a:b-c", "ClusterRoleBinding dyncontroller:a:b-c of ClusterRole dyncontroller:a:b-c to a/b-c",
		"ClusterRole dyncontroller:a-b:c", "ClusterRoleBinding dyncontroller:a-b:c of ClusterRole dyncontroller:a-b:c to a-b/c",
		"ClusterRole dyncontroller:b:a", "ClusterRoleBinding dyncontroller:b:a of ClusterRole dyncontroller:b:a to b/a",
	}
	text := rbac.YAML(all)
	var got []string
	for _, document := range parsed(t, text) {
		got = append(got, document.String())
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for range 20 { // Each time in another order.
		if diff := gocmp.Diff(text, rbac.YAML(all)); diff != "" {
			t.Fatalf("in another order it is something else:\n%s", diff)
		}
	}
	if rbac.YAML(nil) != "" {
		t.Error("nobody needs something")
	}
}

// document is a role or a binding.
type document struct {
	rbacv1.ClusterRoleBinding
	Rules []rbacv1.PolicyRule `json:"rules"`
}

func (d document) String() string {
	name := strings.TrimPrefix(d.Namespace+"/"+d.Name, "/")
	if d.RoleRef.Name == "" {
		return d.Kind + " " + name
	}
	out := d.Kind + " " + name + " of " + d.RoleRef.Kind + " " + d.RoleRef.Name + " to"
	for _, subject := range d.Subjects {
		out += " " + subject.Namespace + "/" + subject.Name
	}
	return out
}

// fataler is a test of one or of many inputs.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// parsed reads the documents strictly.
func parsed(t fataler, text string) (out []document) {
	t.Helper()
	for part := range strings.SplitSeq(text, "---\n") {
		var one document
		if part == "" {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(part), &one); err != nil {
			t.Fatalf("%v in\n%s", err, part)
		}
		out = append(out, one)
	}
	return out
}

// TestExact holds for any rights that the roles allow them and nothing else, without
// anything twice, and that the order of the rights is no difference.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.Custom(func(t *rapid.T) rules.Need {
			word := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
			return rules.Need{Rules: []plan.Rule{{Set: "s", Name: word("rule", "a", "b")}}, Permission: plan.Permission{
				Verb: word("verb", "get", "list", "patch"), Resource: schema.GroupResource{Group: word("group", "", "g"), Resource: word("resource", "p", "q", "r")},
				Subresource: word("subresource", "", "status"), Namespace: word("namespace", "", "m", "n"), Name: word("name", "", "x", "y"),
			}}
		})).Draw(t, "needs")
		text := rbac.YAML(map[types.NamespacedName][]rules.Need{till: all})
		allowed := allows(t, parsed(t, text))
		for p := range allowed {
			if !slices.ContainsFunc(all, func(need rules.Need) bool { return need.Permission == p }) {
				t.Fatalf("it allows to %s, which nobody needs:\n%s", p, text)
			}
			for other := range allowed {
				if other != p && includes(other, p) {
					t.Fatalf("it allows to %s, and to %s:\n%s", other, p, text)
				}
			}
		}
		for _, need := range all {
			if !anyIncludes(allowed, need.Permission) {
				t.Fatalf("it does not allow to %s:\n%s", need.Permission, text)
			}
		}
		shuffled := slices.Clone(all)
		rand.Shuffle(len(all), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := gocmp.Diff(text, rbac.YAML(map[types.NamespacedName][]rules.Need{till: shuffled})); diff != "" {
			t.Fatalf("in another order it is something else:\n%s", diff)
		}
	})
}

// allows are the rights of all roles, each once.
func allows(t fataler, documents []document) map[plan.Permission]bool {
	t.Helper()
	out := map[plan.Permission]bool{}
	for _, d := range documents {
		for _, r := range d.Rules {
			names := r.ResourceNames
			if len(names) == 0 {
				names = []string{""}
			}
			for _, resource := range r.Resources {
				for _, name := range names {
					for _, verb := range r.Verbs {
						of, subresource, _ := strings.Cut(resource, "/")
						p := plan.Permission{
							Verb: verb, Resource: schema.GroupResource{Group: r.APIGroups[0], Resource: of}, Subresource: subresource,
							Namespace: d.Namespace, Name: name,
						}
						if out[p] || len(r.APIGroups) != 1 {
							t.Fatalf("it allows to %s twice", p)
						}
						out[p] = true
					}
				}
			}
		}
	}
	return out
}

func includes(wide, narrow plan.Permission) bool {
	if wide.Namespace == "" {
		narrow.Namespace = ""
	}
	if wide.Name == "" {
		narrow.Name = ""
	}
	return wide == narrow
}

func anyIncludes(all map[plan.Permission]bool, p plan.Permission) bool {
	for wide := range all {
		if includes(wide, p) {
			return true
		}
	}
	return false
}
