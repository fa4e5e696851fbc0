package lookup

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
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

// Fits says what is known of whether a selection admits an object that exists as far as its draft says: that it surely does, and the
// requirement that its labels surely do not meet, or "".
func Fits(s plan.Selection, draft any) (surely bool, unmet string) {
	wantedLabels, err := labels.ParseToRequirements(s.LabelSelector)
	wantedFields, wrong := fields.ParseSelector(s.FieldSelector)
	if err != nil || wrong != nil {
		return false, ""
	}
	surely = true
	for _, wanted := range wantedLabels {
		v, there := template.Lookup(draft, "metadata", "labels", wanted.Key())
		have := labels.Set{}
		if there {
			have[wanted.Key()], there = v.(string)
		}
		switch {
		case strings.HasPrefix(wanted.Key(), "dyncontroller.dev/"): // The engine writes it.
			surely = surely && wanted.Operator() == selection.Exists
		case !there && v != nil:
			surely = false
		case !wanted.Matches(have):
			return false, wanted.String()
		}
	}
	for _, wanted := range wantedFields.Requirements() {
		v, _ := template.Lookup(draft, strings.Split(wanted.Field, ".")...)
		_, unknown := v.(schema.Unknown)
		text, _ := value.Text(v)
		surely = surely && !unknown && (text == wanted.Value) != (wanted.Operator == selection.NotEquals)
	}
	namespace, _ := template.Lookup(draft, "metadata", "namespace")
	return surely && (s.Namespace == "" || s.Namespace == namespace), ""
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

// Namespace returns the namespace to read or write in: empty for every one that the declaration selects, and for a cluster-scoped kind.
// Where none is given, that is the namespace of the watched object. An error is a [value.Fault].
func (r *Reader) Namespace(d *Declaration, given string, isGiven bool) (string, error) {
	kind, err := r.Kind(d)
	if err != nil {
		return "", err
	}
	if wrong := cmp.Or(CheckScope(d, kind.Namespaced, r.Home.Namespace == "", isGiven), d.outside(given)); wrong != nil {
		return "", wrong
	}
	switch {
	case !kind.Namespaced:
		return "", nil
	case !isGiven:
		return r.Home.Namespace, nil
	case given == EveryNamespace:
		return d.Namespace, nil
	default:
		return given, nil
	}
}

// CheckScope refuses a namespace where there is none, and wants one where that of the watched object is not the default, as it is
// cluster-scoped.
func CheckScope(d *Declaration, namespaced, homeless, given bool) *value.Fault {
	switch {
	case !namespaced && given:
		return value.Faultf("%s are cluster-scoped and have no namespace", d.GVR.Resource).WithHint("leave namespace out")
	case namespaced && homeless && !given:
		return value.Faultf("the watched object is cluster-scoped, so it must be said in which namespace the %s are", d.GVR.Resource).
			WithHint("add namespace: ...")
	default:
		return nil
	}
}

// outside refuses a namespace that a RuleSet does not see. Reading nothing there would look as if nothing were there.
func (d *Declaration) outside(given string) *value.Fault {
	if d.Namespace == "" || given == "" || given == d.Namespace || given == EveryNamespace {
		return nil
	}
	return value.Faultf("a RuleSet acts in its own namespace only, which is %q, not %q", d.Namespace, given).
		WithHint("make it a ClusterRuleSet")
}
