package relation

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Declaration is an entry of a set's `resources`. It is read only.
type Declaration struct {
	Name       string
	GVR        apischema.GroupVersionResource
	Selections []plan.Selection // what the rules may see of the resource
	Namespace  string           // that of a RuleSet, empty for a ClusterRuleSet

	parsed  sync.Once
	filters []plan.Filter // by the selections
}

// Admits reports whether the rules may see an object of the resource.
func (d *Declaration) Admits(object map[string]any) bool {
	d.parsed.Do(func() {
		for _, selection := range d.Selections {
			d.filters = append(d.filters, selection.Parse().Admits)
		}
	})
	return slices.ContainsFunc(d.filters, func(admits plan.Filter) bool { return admits(object) })
}

// Declarations are those of one set, in the order written.
type Declarations []*Declaration

// Lookup returns the declaration that a field names. Of a node that is not there or
// invalid, which has been reported, there is neither a declaration nor an error, nor is
// there where nothing is declared.
func (d Declarations) Lookup(n *document.Node) (*Declaration, *document.Error) {
	if n.Kind() == document.KindInvalid {
		return nil, nil
	}
	return d.LookupAt(n, 0, n.Text())
}

// LookupAt is Lookup for a name that is a part of the text of n.
func (d Declarations) LookupAt(n *document.Node, offset int, name string) (*Declaration, *document.Error) {
	if len(d) == 0 {
		return nil, nil // A set has resources, so what is wrong with them has been reported.
	}
	declared := make([]string, len(d))
	for i, declaration := range d {
		if declaration.Name == name {
			return declaration, nil
		}
		declared[i] = declaration.Name
	}
	hint := "declare it under resources"
	if near := document.Suggest(name, declared); near != "" {
		hint = `did you mean "` + near + `"?`
	} else if strings.Contains(name, "${") {
		hint = "write the name itself: what is read and written is known before anything is evaluated"
	}
	return nil, n.ErrorAt(offset, len(name), hint, "no resource %q is declared", value.Excerpt(name))
}

// stepPattern is a field of an object as a path can name it.
var stepPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// fieldPath reads a path such as spec.nodeName. It leads through maps only, since
// the field that it names is an index.
func fieldPath(written string) (plan.Path, *mistake) {
	path := plan.Path(strings.Split(written, "."))
	for _, step := range path {
		if !stepPattern.MatchString(step) {
			return nil, mistakef("write a path such as spec.nodeName; for more, select otherwise and filter(...)",
				"%q is not a path of fields", value.Excerpt(written)).inKey(written)
		}
	}
	return path, nil
}

func fieldPart(key string, v any, known bool) *mistake {
	if _, wrong := fieldPath(key); wrong != nil || !known {
		return wrong
	}
	switch kind := value.KindOf(v); {
	case kind == value.Nil:
		return mistakef("?? gives a default, and ?? omit() leaves the field out", "the field %s has no value", value.Excerpt(key)).inValue(key)
	case kind&(value.String|value.Number|value.Bool) == 0:
		return mistakef("select otherwise and filter(...)",
			"the field %s can only equal a string, a number or a boolean, have %s", value.Excerpt(key), kind).inValue(key)
	default:
		return nil
	}
}

// askMatchFields never asks for less than was written: a field without a value
// would match objects that lack it.
func askMatchFields(q *plan.Read, v any) (bool, *mistake) {
	written, ok := v.(map[string]any)
	switch {
	case v == nil || ok && len(written) == 0:
		return false, mistakef(emptyHint, "matchFields is empty")
	case !ok:
		return false, mistakef("write {spec.nodeName: node-1}", "matchFields must be a map of fields, have %s", value.KindOf(v))
	}
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := fieldPart(key, written[key], true); wrong != nil {
			return false, wrong
		}
		path, _ := fieldPath(key) // fieldPart has seen the mistake.
		q.Fields = append(q.Fields, plan.FieldValue{Path: path, Value: written[key]})
	}
	return true, nil
}

const emptyHint = "write all: true if every object is meant"

// askMatchLabels never asks for less than was written: a label without a value
// would widen the selection.
func askMatchLabels(q *plan.Read, v any) (bool, *mistake) {
	wanted, wrong := labelMap(v)
	switch {
	case wrong != nil:
		return false, wrong
	case len(wanted) == 0:
		return false, mistakef(emptyHint, "matchLabels is empty")
	}
	q.Labels = labels.SelectorFromValidatedSet(wanted).String()
	return true, nil
}

// labelMap takes a map of strings; an absent one is empty.
func labelMap(v any) (labels.Set, *mistake) {
	if v == nil {
		return nil, nil
	}
	written, ok := v.(map[string]any)
	if !ok {
		return nil, mistakef("write {app: web}", "matchLabels must be a map of labels, have %s", value.KindOf(v))
	}
	out := make(labels.Set, len(written))
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := labelPart(key, written[key], true); wrong != nil {
			return nil, wrong
		}
		out[key], _ = written[key].(string)
	}
	return out, nil
}

func labelPart(key string, v any, known bool) *mistake {
	if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
		return mistakef("", "%q cannot be the key of a label: %s", value.Excerpt(key), brief(reasons[0])).inKey(key)
	}
	label, ok := v.(string)
	switch {
	case !known:
		return nil
	case v == nil:
		return mistakef("?? gives a default, and ?? omit() leaves the label out", "the label %s has no value", key).inValue(key)
	case !ok:
		return mistakef(textHint(v),
			"the value of the label %s must be a string, have %s", key, value.KindOf(v)).inValue(key)
	}
	if reasons := validation.IsValidLabelValue(label); len(reasons) > 0 {
		return mistakef("", "%q cannot be the value of a label: %s", value.Excerpt(label), brief(reasons[0])).inValue(key)
	}
	return nil
}

// askSelector takes a LabelSelector of Kubernetes. As there, nil selects nothing;
// an empty one, which there selects everything, is more likely a mistake.
func askSelector(q *plan.Read, v any) (bool, *mistake) {
	if v == nil {
		return false, nil
	}
	written, ok := v.(map[string]any)
	if !ok {
		return false, mistakef("write {matchLabels: {app: web}}", "selector must be a LabelSelector, have %s", value.KindOf(v))
	}
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := selectorPart(key, nil, false); wrong != nil {
			return false, wrong
		}
	}
	if _, wrong := labelMap(written["matchLabels"]); wrong != nil { // A label without a value would be dropped.
		return false, wrong.inValue("matchLabels")
	}
	for _, wrong := range selectorType.Validate(v, schema.Whole) {
		key, _ := wrong.Path[0].(string)
		return false, mistakef(wrong.Hint, "%s", wrong.Message).inValue(key)
	}
	parsed := &metav1.LabelSelector{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written, parsed); err != nil {
		return false, mistakef("", "not a LabelSelector: %v", err)
	}
	selector, err := metav1.LabelSelectorAsSelector(parsed)
	if err != nil {
		return false, mistakef("the operators are In and NotIn, with values, Exists and DoesNotExist", "not a LabelSelector: %v", err)
	}
	if selector.Empty() {
		return false, mistakef(emptyHint, "selector is empty")
	}
	q.Labels = selector.String()
	return true, nil
}

// selectorPart is strict, since what it passed over would widen the selection.
func selectorPart(key string, _ any, _ bool) *mistake {
	if key == "matchLabels" || key == "matchExpressions" {
		return nil
	}
	return mistakef("for a map of labels, such as the selector of a Service, write matchLabels in place of selector",
		"a LabelSelector has matchLabels and matchExpressions, have %q", value.Excerpt(key)).inKey(key)
}

// Kind returns the kind of a declared resource. An error is a [value.Fault]: the
// kind is not known, or it is cluster-scoped and so beyond a RuleSet.
func (r *Reader) Kind(d *Declaration) (plan.Kind, error) {
	kind, known := r.Kinds[d.GVR]
	switch {
	case !known:
		return plan.Kind{}, value.Faultf("the kind of the resource %s is not known", plan.ResourceName(d.GVR)).
			WithHint("see whether the cluster has it, in the version that resources names")
	case !kind.Namespaced && d.Namespace != "":
		return plan.Kind{}, value.Faultf("%s are cluster-scoped, and a RuleSet acts in its own namespace only", d.GVR.Resource).
			WithHint("make it a ClusterRuleSet")
	default:
		return kind, nil
	}
}

// Namespace returns the namespace to read in: empty for every one that the
// declaration selects, and for a cluster-scoped kind. Where none is given, that is
// the namespace of the watched object. An error is a [value.Fault].
func (r *Reader) Namespace(d *Declaration, given string, isGiven bool) (string, error) {
	kind, err := r.Kind(d)
	switch {
	case err != nil:
		return "", err
	case !kind.Namespaced && isGiven:
		return "", value.Faultf("%s are cluster-scoped and have no namespace", d.GVR.Resource).
			WithHint("leave namespace out")
	case !kind.Namespaced:
		return "", nil
	case isGiven:
		if wrong := d.outside(given); wrong != nil {
			return "", wrong
		}
		if given == EveryNamespace {
			given = d.Namespace
		}
		return given, nil
	case r.Home.Namespace == "":
		return "", value.Faultf("%s is cluster-scoped, so it must be said in which namespace the %s are", r.Home, d.GVR.Resource).
			WithHint(`add namespace: ..., or namespace: "*" for every one`)
	default:
		return r.Home.Namespace, nil
	}
}

// outside refuses a namespace that a RuleSet does not see. Reading nothing there
// would look as if nothing were there.
func (d *Declaration) outside(given string) *value.Fault {
	if d.Namespace == "" || given == d.Namespace || given == EveryNamespace {
		return nil
	}
	return value.Faultf("a RuleSet acts in its own namespace only, which is %q, not %q", d.Namespace, given).
		WithHint("make it a ClusterRuleSet")
}

// Origin returns which object a value is, if it is one that was read or the
// watched one: the very map, not one that equals it. So whatever hands on the
// elements of a list keeps it, and whatever builds new maps does not. current is
// the object as it was read.
func (r *Reader) Origin(v any) (object plan.Object, current map[string]any, found bool) {
	candidate, _ := v.(map[string]any)
	if len(candidate) == 0 {
		return plan.Object{}, nil, false
	}
	if same(candidate, r.Current) {
		return r.Home, r.Current, true
	}
	wanted := identityOf(candidate)
	for _, a := range r.answers {
		i, there := slices.BinarySearchFunc(a.objects, wanted, func(object map[string]any, id identity) int {
			return identityOf(object).compare(id)
		})
		if there && same(candidate, a.objects[i]) {
			of := plan.ObjectOf(a.read.From[0].GVR, candidate)
			of.Kind = r.Kinds[of.GVR].Name
			return of, candidate, true
		}
	}
	return plan.Object{}, nil, false
}

// same reports whether both are one map.
func same(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
