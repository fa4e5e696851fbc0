// Package rbac writes the rights that rules need as roles of Kubernetes, which a person
// can review: least, merged where that widens nothing, and with the rules that need them.
package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// YAML writes the roles for what accounts need, each with its binding, as YAML documents. The roles of the empty account are
// bound to none. It is empty where nothing is needed. Needs may have a right more than once, each time for other rules.
func YAML(needs map[types.NamespacedName][]rules.Need) string {
	var documents []string
	accounts := slices.SortedFunc(maps.Keys(needs), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, account := range accounts {
		// A colon can be in no name of an account or a namespace, so that two accounts never share a name.
		name := "dyncontroller-rules"
		if account != (types.NamespacedName{}) {
			name = "dyncontroller:" + account.Namespace + ":" + account.Name
		}
		byNamespace := merged(needs[account])
		for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) { // The role of the cluster is the first.
			scope, within := "", "  namespace: "+scalar(namespace)+"\n"
			if namespace == "" {
				scope, within = "Cluster", ""
			}
			const head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s%s\nmetadata:\n  name: %s\n%s"
			var role strings.Builder
			fmt.Fprintf(&role, head+"rules:\n", scope, "Role", scalar(name), within)
			for _, r := range byNamespace[namespace] {
				role.WriteString(r.yaml())
			}
			documents = append(documents, role.String())
			if account != (types.NamespacedName{}) {
				documents = append(documents, fmt.Sprintf(head+"roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %sRole\n  name: %s\n"+
					"subjects:\n- kind: ServiceAccount\n  name: %s\n  namespace: %s\n",
					scope, "RoleBinding", scalar(name), within, scope, scalar(name), scalar(account.Name), scalar(account.Namespace)))
			}
		}
	}
	return strings.Join(documents, "---\n")
}

// rule is one of a role: all of its verbs on all of its resources.
type rule struct {
	group     string
	resources []string // with their subresource, sorted
	names     []string // of objects, sorted, none for all; then there is one resource
	verbs     []string
	needed    map[string][]string // by verb, the rules that need it, some more than once
}

// merged are the rules for what one account needs, by the namespace of their role, which is empty for that of the cluster.
func merged(needs []rules.Need) map[string][]*rule {
	all := map[plan.Permission]bool{}
	for _, need := range needs {
		all[need.Permission] = true
	}
	// What is needed of each object: the rules that need it, by verb. A right that a wider one includes is left out: the
	// rules need that one.
	objects := map[plan.Permission]map[string][]string{}
	for _, need := range needs {
		anywhere, anyName := need.Permission, need.Permission
		anywhere.Namespace, anyName.Name = "", ""
		anything := anywhere
		anything.Name = ""
		object := need.Permission
		for _, wider := range []plan.Permission{anyName, anywhere, anything} { // The widest is the last.
			if all[wider] {
				object = wider
			}
		}
		verb := object.Verb
		object.Verb = ""
		if objects[object] == nil {
			objects[object] = map[string][]string{}
		}
		for _, id := range need.Rules {
			objects[object][verb] = append(objects[object][verb], id.String())
		}
	}
	// One rule is for what allows no more when it is together: resources with the same verbs, or the objects of a resource.
	alike := map[[2]string]*rule{} // by the namespace, and what makes them so
	for object, needed := range objects {
		resource := object.Resource.Resource
		if object.Subresource != "" {
			resource += "/" + object.Subresource
		}
		verbs := slices.SortedFunc(maps.Keys(needed), compareVerbs)
		key := append([]string{object.Resource.Group}, verbs...)
		if object.Name != "" {
			key = append(key, "", resource)
		}
		at := [2]string{object.Namespace, strings.Join(key, "\x00")}
		r := alike[at]
		if r == nil {
			r = &rule{group: object.Resource.Group, verbs: verbs, needed: map[string][]string{}}
			alike[at] = r
		}
		r.resources = append(r.resources, resource)
		if object.Name != "" {
			r.names = append(r.names, object.Name)
		}
		for verb, rules := range needed {
			r.needed[verb] = append(r.needed[verb], rules...)
		}
	}
	out := map[string][]*rule{}
	for at, r := range alike {
		slices.Sort(r.resources)
		slices.Sort(r.names)
		r.resources, r.names = slices.Compact(r.resources), slices.Compact(r.names)
		out[at[0]] = append(out[at[0]], r)
	}
	for _, rules := range out {
		slices.SortFunc(rules, func(a, b *rule) int {
			return cmp.Or(cmp.Compare(a.group, b.group), slices.Compare(a.resources, b.resources), slices.Compare(a.names, b.names),
				slices.CompareFunc(a.verbs, b.verbs, compareVerbs))
		})
	}
	return out
}

// compareVerbs orders verbs as people write them: what reads, then what writes.
func compareVerbs(a, b string) int {
	usual := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	return cmp.Or(cmp.Compare(slices.Index(usual, a), slices.Index(usual, b)), cmp.Compare(a, b))
}

// yaml begins with which rules need it: one line for all verbs that the same rules need.
func (r *rule) yaml() string {
	var who []string
	verbs := map[string][]string{}
	for _, verb := range r.verbs {
		of := strings.Join(slices.Compact(slices.Sorted(slices.Values(r.needed[verb]))), ", ")
		if verbs[of] == nil {
			who = append(who, of)
		}
		verbs[of] = append(verbs[of], verb)
	}
	var out strings.Builder
	for _, of := range who {
		text := of
		if len(who) > 1 {
			text = strings.Join(verbs[of], ", ") + ": " + of
		}
		// A long line is broken between words, and goes on indented.
		line := "#"
		for word := range strings.FieldsSeq(text) {
			if len(line) > len("#") && len(line)-len("# ")+1+len(word) > width {
				out.WriteString(line + "\n")
				line = "#  "
			}
			line += " " + word
		}
		out.WriteString(line + "\n")
	}
	out.WriteString("- apiGroups: " + list([]string{r.group}) + "\n  resources: " + list(r.resources) + "\n")
	if len(r.names) > 0 {
		out.WriteString("  resourceNames: " + list(r.names) + "\n")
	}
	return out.String() + "  verbs: " + list(r.verbs) + "\n"
}

// width is how long a line of a comment becomes where its words can be parted.
const width = 100

func list(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = scalar(word)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// plain is what every reader of YAML takes for the text that it is, but for the words
// that some take for something else.
var (
	plain     = regexp.MustCompile(`^[a-z][a-z0-9./-]*(:[a-z0-9][a-z0-9.-]*)*$`)
	ambiguous = regexp.MustCompile(`^(y|n|yes|no|on|off|true|false|null)$`)
)

func scalar(text string) string {
	if plain.MatchString(text) && !ambiguous.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
