package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Compile checks the rules of all sets and joins them into one. It finds all
// errors; the set is nil where there is one.
func Compile(sets []*RuleSet) (*Set, document.Errors) {
	var all []*Rule
	var errs document.Errors
	for _, set := range sets {
		for _, source := range set.Rules {
			rule, ruleErrs := compileRule(set, source)
			errs = append(errs, ruleErrs...)
			all = append(all, rule)
		}
	}
	if len(errs) > 0 {
		return nil, errs.Sorted()
	}
	return newSet(all), nil
}

func compileRule(set *RuleSet, source RuleSource) (*Rule, document.Errors) {
	rule := &Rule{
		ID:          plan.Rule{Kind: set.Kind, Namespace: set.Namespace, Set: set.Name, Name: source.Name},
		Description: source.Description,
	}
	selections, errs := set.watched(source.Watch)
	rule.selections = selections
	errs = append(errs, rule.compileLets(slices.Concat(set.Let, source.Let))...)
	if source.When != nil {
		program, wrong := compileCondition(source.When, rule.scope)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		rule.when = &condition{node: source.When, program: program}
	}
	for _, n := range source.Actions {
		compiled, actionErrs := action.Compile(n, rule.scope)
		errs = append(errs, actionErrs...)
		rule.actions = append(rule.actions, compiled)
	}
	return rule, errs
}

// watched resolves `watch`: a key of `resources`, or several with commas.
func (s *RuleSet) watched(n *document.Node) ([]plan.Selection, document.Errors) {
	if n.Kind() == document.KindInvalid {
		return nil, nil
	}
	if n.Kind() != document.KindString {
		return nil, document.Errors{n.Errorf(watchHint(n), "watch must be a string, have %s", n.Kind())}
	}
	var out []plan.Selection
	var errs document.Errors
	offset := 0
	for part := range strings.SplitSeq(n.Text(), ",") {
		name := strings.TrimSpace(part)
		at := slices.IndexFunc(s.Resources, func(r Resource) bool { return r.Name == name })
		if at < 0 {
			errs = append(errs, s.unknownResource(n, offset+strings.Index(part, name), name))
		} else {
			out = append(out, s.selections(s.Resources[at])...)
		}
		offset += len(part) + 1
	}
	return out, errs
}

// watchHint writes a list as watch takes it.
func watchHint(n *document.Node) string {
	var names []string
	for _, element := range n.Elements() {
		names = append(names, element.Text())
	}
	if names == nil {
		return "write the name of a resource declared under resources"
	}
	return "write watch: " + strings.Join(names, ", ")
}

func (s *RuleSet) unknownResource(n *document.Node, offset int, name string) *document.Error {
	var declared []string
	for _, resource := range s.Resources {
		declared = append(declared, resource.Name)
	}
	hint := "declare it under resources"
	if near := document.Suggest(name, declared); near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return n.ErrorAt(offset, len(name), hint, "no resource %q is declared", name)
}

// selections spreads a declaration over its namespaces. Selectors are written
// in one way, so that equal ones share an informer.
func (s *RuleSet) selections(r Resource) []plan.Selection {
	selection := plan.Selection{GVR: r.GVR, Namespace: s.Namespace}
	if parsed, err := labels.Parse(r.LabelSelector); err == nil {
		selection.LabelSelector = parsed.String()
	}
	if parsed, err := fields.ParseSelector(r.FieldSelector); err == nil {
		selection.FieldSelector = parsed.String()
	}
	if len(r.Namespaces) == 0 || s.Kind == KindRuleSet {
		return []plan.Selection{selection}
	}
	var out []plan.Selection
	for _, namespace := range r.Namespaces {
		selection.Namespace = namespace
		out = append(out, selection)
	}
	return out
}

// compileCondition refuses a number, which is never a condition.
func compileCondition(n *document.Node, scope *expression.Scope) (*expression.Program, *document.Error) {
	if n.Kind() == document.KindInt || n.Kind() == document.KindFloat {
		return nil, n.Errorf("write a condition, such as object.spec.replicas > 1", "a condition is true or false, have %s", n.Kind())
	}
	return compileExpression(n, scope)
}

// compileExpression compiles a string of the document.
func compileExpression(n *document.Node, scope *expression.Scope) (*expression.Program, *document.Error) {
	source, wrong := expressionText(n)
	if wrong != nil || source == "" {
		return nil, wrong
	}
	program, err := expression.Compile(source, scope)
	if err != nil {
		return nil, body.Locate(n, err)
	}
	return program, nil
}

// expressionText takes true, 5 and the like as the expressions that they are.
func expressionText(n *document.Node) (string, *document.Error) {
	switch n.Kind() {
	case document.KindInvalid:
		return "", nil // Reported by the parser.
	case document.KindList, document.KindMap:
		return "", n.Errorf("write the expression as a string", "want an expression, have %s", n.Kind())
	case document.KindNull:
		return "", n.Errorf("write an expression, or leave the field out", "the expression is empty")
	default:
	}
	if strings.TrimSpace(n.Text()) == "" {
		return "", n.Errorf("write an expression, or leave the field out", "the expression is empty")
	}
	return n.Text(), n.CutByComment()
}
