package relation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// form is a way to say which objects are meant.
type form struct {
	name   string
	by     plan.By
	takes  []document.Kind // what may be written; a string can be a template
	single bool            // it gives an object or nil, not a list
	bare   bool            // it takes a name of the scope, not a template
	// place is what its value can be, by the fields of the related objects.
	place func(n *document.Node, related *schema.Resource) *schema.Type
	// needed refuses entries that may be nil, which would widen the selection.
	needed bool
	// part refuses an entry of a map or an element of a list that is wrong whatever
	// the others are; known is false where a template gives its value. It may be nil.
	part func(key string, v any, known bool) *mistake
	// ask completes the question by the value of what is written. reads is false
	// where there is nothing to ask.
	ask func(q *plan.Read, v any) (reads bool, wrong *mistake)
}

// forms is the table of forms. An entry of `with` has exactly one.
var forms = []form{
	{name: "name", by: plan.ByName, takes: text, single: true, place: always(value.String | value.Nil), ask: askName},
	{name: "names", by: plan.ByName, takes: listOrText, part: namePart, place: namesPlace, ask: askNames},
	{name: "matchLabels", by: plan.ByLabels, takes: mapOrText, part: labelPart, place: labelsPlace, needed: true, ask: askMatchLabels},
	{name: "selector", by: plan.ByLabels, takes: mapOrText, part: selectorPart, place: selectorPlace, ask: askSelector},
	{name: "matchFields", by: plan.ByFields, takes: mapOrText, part: fieldPart, place: fieldsPlace, needed: true, ask: askMatchFields},
	{name: "ownedBy", by: plan.ByOwner, takes: text, bare: true, ask: askOwnedBy},
	{name: "all", by: plan.ByAll, takes: []document.Kind{document.KindBool}, place: always(value.Bool), ask: askAll},
}

// Templates lists the fields of an entry of `with` that hold templates.
func Templates() []string {
	out := []string{"namespace"}
	for _, f := range forms {
		if !f.bare && slices.Contains(f.takes, document.KindString) {
			out = append(out, f.name)
		}
	}
	return out
}

var (
	text       = []document.Kind{document.KindString}
	listOrText = []document.Kind{document.KindList, document.KindString}
	mapOrText  = []document.Kind{document.KindMap, document.KindString}
)

// textHint says how to make a string of a value that has a text.
func textHint(v any) string {
	if value.KindOf(v)&(value.Number|value.Bool) == 0 {
		return ""
	}
	return "put it in quotes, or write string(...)"
}

// mistake is what is wrong with the value of a form, or with an entry of it.
type mistake struct {
	*value.Fault
	key   string
	ofKey bool // it is the key itself that is wrong
}

func mistakef(hint, format string, args ...any) *mistake {
	return &mistake{Fault: value.Faultf(format, args...).WithHint("%s", hint)}
}

func (m *mistake) inKey(key string) *mistake { return &mistake{m.Fault, key, true} }

func (m *mistake) inValue(key string) *mistake { return &mistake{m.Fault, key, false} }

// at gives the mistake its place below the node of the form.
func (m *mistake) at(n *document.Node) *document.Error {
	for _, entry := range n.Entries() {
		switch {
		case entry.Key.Text() != m.key:
		case m.ofKey:
			return entry.Key.Errorf(m.Hint, "%s", m.Message)
		default:
			return entry.Value.Errorf(m.Hint, "%s", m.Message)
		}
	}
	return n.Errorf(m.Hint, "%s", m.Message)
}

// brief leaves the examples and the pattern out of a reason of Kubernetes.
func brief(reason string) string {
	reason, _, _ = strings.Cut(reason, " (e.g.")
	return reason
}

func askName(q *plan.Read, v any) (bool, *mistake) {
	if v == nil || v == "" {
		return false, nil
	}
	name, wrong := objectName(v)
	if wrong != nil {
		return false, wrong
	}
	q.Names = []string{name}
	return true, nil
}

// askNames skips nil and empty names, as name does.
func askNames(q *plan.Read, v any) (bool, *mistake) {
	if v == nil {
		return false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return false, mistakef("write [a, b], or name for one", "names must be a list of strings, have %s", value.KindOf(v))
	}
	for _, element := range list {
		if element == nil || element == "" {
			continue
		}
		name, wrong := objectName(element)
		if wrong != nil {
			return false, wrong
		}
		q.Names = append(q.Names, name)
	}
	// In whatever order the names are, it is the same question.
	slices.Sort(q.Names)
	q.Names = slices.Compact(q.Names)
	return len(q.Names) > 0, nil
}

func namePart(_ string, v any, known bool) *mistake {
	if !known || v == nil || v == "" {
		return nil
	}
	_, wrong := objectName(v)
	return wrong
}

// objectName refuses what no kind of object can be called: then a look-up that
// finds nothing would be a mistake of the rule.
func objectName(v any) (string, *mistake) {
	name, ok := v.(string)
	if !ok {
		hint := textHint(v)
		if value.KindOf(v)&(value.List|value.Map) != 0 {
			hint = "for the field name of every element, write names: ${map(list, .name)}"
		}
		return "", mistakef(hint, "the name of an object is a string, have %s", value.KindOf(v))
	}
	if reasons := content.IsPathSegmentName(name); len(reasons) > 0 {
		hint := ""
		if strings.Contains(name, "/") {
			hint = "the namespace has a field of its own"
		}
		return "", mistakef(hint, "%q cannot be the name of an object: it %s", value.Excerpt(name), reasons[0])
	}
	return name, nil
}

// askOwnedBy takes an object or a list of objects, in which nil is skipped.
func askOwnedBy(q *plan.Read, v any) (bool, *mistake) {
	owners, ok := v.([]any)
	if !ok {
		owners = []any{v}
	}
	for _, owner := range owners {
		if owner == nil {
			continue
		}
		object, ok := owner.(map[string]any)
		if !ok {
			return false, mistakef("", "ownedBy takes an object or a list of objects, have %s", value.KindOf(owner))
		}
		uid := plan.Text(object, "metadata", "uid")
		if uid == "" {
			return false, mistakef("", "ownedBy takes objects of the cluster, have one without metadata.uid")
		}
		q.Owners = append(q.Owners, types.UID(uid))
	}
	slices.Sort(q.Owners)
	q.Owners = slices.Compact(q.Owners)
	return len(q.Owners) > 0, nil
}

func askAll(_ *plan.Read, v any) (bool, *mistake) {
	if every, _ := v.(bool); !every {
		return false, mistakef("write true, or remove the entry", "all: false selects nothing")
	}
	return true, nil
}
