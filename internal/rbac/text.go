package rbac

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// YAML writes the roles of all grants, each with its binding, as YAML documents. It is
// empty where nothing is needed. No two grants are of one account.
func YAML(grants []Grant) string {
	var documents []string
	sorted := slices.SortedFunc(slices.Values(grants), func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Account.Namespace, b.Account.Namespace), cmp.Compare(a.Account.Name, b.Account.Name))
	})
	for _, grant := range sorted {
		for _, of := range grant.roles() {
			documents = append(documents, grant.role(of))
			if grant.Account != (types.NamespacedName{}) {
				documents = append(documents, grant.binding(of))
			}
		}
	}
	return strings.Join(documents, "---\n")
}

func (g Grant) role(of role) string {
	var out strings.Builder
	out.WriteString(g.head("Role", of) + "rules:\n")
	for _, r := range of.rules {
		for _, line := range r.comment() {
			out.WriteString("# " + line + "\n")
		}
		out.WriteString("- apiGroups: " + list([]string{r.group}) + "\n  resources: " + list(r.resources) + "\n")
		if len(r.names) > 0 {
			out.WriteString("  resourceNames: " + list(r.names) + "\n")
		}
		out.WriteString("  verbs: " + list(r.verbs) + "\n")
	}
	return out.String()
}

func (g Grant) binding(of role) string {
	return g.head("RoleBinding", of) +
		"roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: " + of.kind("Role") + "\n  name: " + scalar(g.name()) +
		"\nsubjects:\n- kind: ServiceAccount\n  name: " + scalar(g.Account.Name) + "\n  namespace: " + scalar(g.Account.Namespace) + "\n"
}

func (g Grant) head(kind string, of role) string {
	out := "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + of.kind(kind) + "\nmetadata:\n  name: " + scalar(g.name()) + "\n"
	if of.namespace != "" {
		out += "  namespace: " + scalar(of.namespace) + "\n"
	}
	return out
}

// kind is Role or RoleBinding, or the same of the cluster.
func (r role) kind(kind string) string {
	if r.namespace == "" {
		return "Cluster" + kind
	}
	return kind
}

// comment says which rules need it: one line for all verbs that the same rules need.
func (r *rule) comment() []string {
	var who []string
	verbs := map[string][]string{}
	for _, verb := range r.verbs {
		of := strings.Join(slices.Sorted(maps.Keys(r.needed[verb])), ", ")
		if verbs[of] == nil {
			who = append(who, of)
		}
		verbs[of] = append(verbs[of], verb)
	}
	if len(who) == 1 {
		return wrapped(who[0])
	}
	var out []string
	for _, of := range who {
		out = append(out, wrapped(strings.Join(verbs[of], ", ")+": "+of)...)
	}
	return out
}

// width is how long a line of a comment becomes where its words can be parted.
const width = 100

// wrapped breaks a line between words; what follows is indented.
func wrapped(text string) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			out = append(out, line)
			line = "  " + word
		default:
			line += " " + word
		}
	}
	return append(out, line)
}

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
