package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Options are what a document leaves to where it is used.
type Options struct {
	// DefaultNamespace is that of a RuleSet that names none.
	DefaultNamespace string
	// Params replace constants of the sets.
	Params []Param
	// Sensitive reports whether rules may write a kind of [SensitiveKinds]; those that
	// write another one are refused. Nil allows all and has a note of each, as for
	// checking alone.
	Sensitive func(kind string) bool
	// Schemas say what the objects look like. Nil knows nothing, so nothing is checked
	// that needs it.
	Schemas *schema.Catalog
	// Unchecked compiles rules that do not fit the schemas too, and finds no warnings. It is for rules in effect
	// whose schemas change.
	Unchecked bool
}

// Load parses and compiles files of rules into one set. It finds all errors of
// all files; of a file that is not YAML, the first. Documents of kind RuleTest
// are passed over, so that a folder may hold both. Comments may have warnings left out:
// see [document.Ignore].
func Load(files []document.File, options Options) (*Set, document.Errors) {
	sets, errs := spec.Parse(files, options.DefaultNamespace)
	if len(errs) > 0 {
		options.Params = nil // Whether a set that cannot be read has them is not known.
	}
	if errs.Enough() {
		return nil, errs.Sorted() // What was not read any more would seem to be missing.
	}
	compiled, compileErrs := Compile(sets, options)
	errs = append(errs, compileErrs...)
	if compiled == nil || len(errs.Of(document.Mistake)) > 0 {
		return nil, document.Ignore(files, errs)
	}
	compiled.warnings = document.Ignore(files, compiled.warnings)
	return compiled, nil
}

// Compile checks the rules of all sets and joins them into one, with some of
// their constants replaced. It finds all mistakes; the set is nil where there is
// one, and the warnings are among them then. Of sets that are faulty it finds what it
// can, and returns none.
func Compile(sets []*spec.Set, options Options) (*Set, document.Errors) {
	var all []*Rule
	errs := unknownParams(sets, options.Params)
	checked := true
	for _, set := range sets {
		compiled, setErrs, whole := compileSet(set, options)
		errs = append(errs, setErrs...)
		if !options.Unchecked {
			errs = append(errs, checkResources(set, options.Schemas)...)
		}
		all = append(all, compiled...)
		if !whole && options.Schemas != nil {
			errs = append(errs, unchecked(set))
		}
		checked = checked && whole
	}
	if !checked {
		return nil, errs.Sorted()
	}
	if len(errs.Of(document.Mistake)) > few {
		return nil, errs.Sorted() // Nobody reads on to the doubts, which take work.
	}
	if !options.Unchecked {
		errs = append(errs, elsewhere(lint.Of(linted(all, options.Schemas)), errs)...)
	}
	if len(errs.Of(document.Mistake)) > 0 {
		return nil, errs.Sorted()
	}
	for _, rule := range all {
		if options.Sensitive == nil { // Elsewhere it is decided.
			errs = append(errs, rule.sensitiveFindings(nil)...)
		}
	}
	return newSet(all, errs), nil
}

// few is how many mistakes there may be beside which doubts are told.
const few = 20

// unchecked is the note that mistakes of a set kept it from being looked at to the end.
func unchecked(set *spec.Set) *document.Error {
	at := set.Node().Get("spec").Key("rules")
	if at == nil {
		at = set.Node()
	}
	return at.Errorf("", "more is checked once the mistakes are corrected").Coded(document.CodeUnchecked).Note()
}

// compileSet compiles the rules of a set; checked is false where mistakes kept some of
// them from being checked by types.
func compileSet(set *spec.Set, options Options) (all []*Rule, errs document.Errors, checked bool) {
	constants, errs := params(set, options.Params)
	shared, graphErrs := names.OfSet(set)
	errs = append(errs, graphErrs...)
	sound := len(errs) == 0 && !set.Faulty()
	checked = sound
	declared := declarations(set)
	for i := range set.Rules {
		if errs.Enough() {
			return all, errs, false
		}
		rule := &Rule{
			ID:      plan.Rule{Kind: set.Kind, Namespace: set.Namespace, Set: set.Name, Name: set.Rules[i].Name},
			set:     set,
			source:  &set.Rules[i],
			schemas: options.Schemas,
			about:   map[string]any{"name": set.Rules[i].Name, "set": set.Name},
			params:  constants,
		}
		rule.effects = sync.OnceValue(rule.draw)
		ruleErrs := rule.compile(shared, declared)
		if len(ruleErrs) > 0 {
			checked = false
		} else if sound {
			if !options.Unchecked {
				ruleErrs = rule.check(options.Schemas, declared) // Of what compiles, to the end.
			}
			if options.Sensitive != nil {
				ruleErrs = append(ruleErrs, rule.sensitiveFindings(options.Sensitive)...)
			}
		}
		errs = append(errs, ruleErrs...).Bounded()
		all = append(all, rule)
	}
	return all, errs, checked
}

func (r *Rule) compile(shared *names.Graph, declared lookup.Declarations) document.Errors {
	errs := r.compileWatch(declared)
	var more document.Errors
	r.names, more = shared.Extended(r.source, declared)
	errs = append(errs, more...)
	if r.source.When != nil {
		r.when, more = template.CompileCondition(r.source.When, r.names.Scope())
		errs = append(errs, more...)
	}
	if r.source.For != nil {
		r.hold, more = compileHold(r.source.For, r.names.Scope())
		errs = append(errs, more...)
	}
	if r.source.Rollout != nil {
		r.rollout, more = compileRollout(r.source.Rollout, r.names.Scope())
		errs = append(errs, more...)
	}
	env := action.Env{Scope: r.names.Actions(), Declared: declared, Related: r.names.Related(), Watched: r.selections}
	r.steps, more = compileSteps(r.source.Actions, env)
	errs = append(errs, more...)
	if r.source.OnDelete != nil {
		r.onDelete, more = compileOnDelete(r.source.OnDelete, env, r.names.Scope())
		errs = append(errs, more...)
	}
	r.prunes, more = prunes(r.steps)
	return append(errs, more...)
}

func compileSteps(nodes []*document.Node, env action.Env) ([]*action.Step, document.Errors) {
	var steps []*action.Step
	var errs document.Errors
	for _, n := range nodes {
		step, stepErrs := action.Compile(n, env)
		steps = append(steps, step)
		if errs = append(errs, stepErrs...); errs.Enough() {
			break
		}
	}
	return steps, errs
}

// prunes lists where the children are that a rule deletes once it does not want them any more. They
// are not told apart by action, so all of a resource are pruned or none. Those that two declarations of one resource
// select are one question, or an object would be given up twice.
func prunes(steps []*action.Step) (out []action.Pruned, errs document.Errors) {
	agreed := map[apischema.GroupVersionResource]bool{}
	for _, step := range steps {
		applied := step.Applies()
		if applied == nil {
			continue
		}
		before, seen := agreed[applied.Of.GVR]
		agreed[applied.Of.GVR] = applied.Prune
		switch {
		case seen && before != applied.Prune:
			errs = append(errs, pruneOf(step.Node()).Errorf("give both the same prune, or make them two rules",
				"another action of the rule applies %s with prune: %t", applied.Of.Name, before))
		case applied.Prune:
			at := slices.IndexFunc(out, func(of action.Pruned) bool { return of.From[0].GVR == applied.Of.GVR })
			if at < 0 {
				out, at = append(out, action.Pruned{}), len(out)
			}
			out[at].From = distinct(slices.Concat(out[at].From, applied.Of.Selections))
			out[at].Owned, out[at].Alone = out[at].Owned || applied.Owned, out[at].Alone || !applied.Owned
		}
	}
	return out, errs
}

// pruneOf returns where an action says whether to prune, or the action that does
// not say so.
func pruneOf(n *document.Node) *document.Node {
	if prune := n.Get("apply").Get("prune"); prune != nil {
		return prune
	}
	return n.Get("apply")
}

// Param is a constant that replaces one of a set, as the text that a user gave.
type Param struct {
	Set, Name string
	Value     string
}

// ParseParam reads SET.NAME=VALUE. The name of a set may have dots, that of a
// parameter has none.
func ParseParam(text string) (Param, error) {
	key, value, given := strings.Cut(text, "=")
	dot := strings.LastIndex(key, ".")
	if !given || dot <= 0 || dot == len(key)-1 {
		return Param{}, fmt.Errorf("%q is not of the form SET.NAME=VALUE, such as tidb-guardrails.minStores=5", text)
	}
	return Param{Set: key[:dot], Name: key[dot+1:], Value: value}, nil
}

// String returns the parameter as ParseParam takes it, without its value.
func (p Param) String() string { return p.Set + "." + p.Name }

// params returns the constants of a set, with what replaces them.
func params(set *spec.Set, given []Param) (map[string]any, document.Errors) {
	out := map[string]any{}
	var errs document.Errors
	for _, written := range set.Params {
		value := written.Value.Any()
		for _, p := range given {
			if p.Set != set.Name || p.Name != written.Name {
				continue
			}
			replaced, err := replacement(p, written.Value)
			if err != nil {
				errs = append(errs, err)
			}
			value = replaced
		}
		out[written.Name] = value
	}
	return out, errs
}

// replacement reads the text as what the set has there: a text stays what it
// is, anything else is read as YAML and must be of the same kind.
func replacement(p Param, written *document.Node) (any, *document.Error) {
	if written.Kind() == document.KindString {
		return p.Value, nil
	}
	documents, errs := document.Parse(document.File{Name: "--param " + p.String(), Data: []byte(p.Value)})
	have := "nothing"
	switch {
	case len(errs) > 0:
		return nil, errs[0]
	case len(documents) > 1:
		have = "several documents"
	case len(documents) == 1 && replaces(documents[0].Kind(), written.Kind()):
		return documents[0].Any(), nil
	case len(documents) == 1:
		have = documents[0].Kind().String()
	}
	return nil, &document.Error{File: "--param " + p.String(), Message: fmt.Sprintf("want %s, as the set has it, have %s", written.Kind(), have)}
}

func replaces(kind, written document.Kind) bool {
	return kind == written || kind == document.KindInt && written == document.KindFloat || written == document.KindNull
}

// unknownParams reports what replaces nothing, which is a slip of the user's.
func unknownParams(sets []*spec.Set, given []Param) document.Errors {
	var all []string
	for _, set := range sets {
		for _, param := range set.Params {
			all = append(all, set.Name+"."+param.Name)
		}
	}
	slices.Sort(all)
	var errs document.Errors
	for _, p := range given {
		if slices.Contains(all, p.String()) {
			continue
		}
		hint := "there are " + strings.Join(all, ", ")
		if near := document.Suggest(p.String(), all); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		} else if len(all) == 0 {
			hint = "the sets have no params"
		}
		errs = append(errs, &document.Error{File: "--param " + p.String(), Message: "no set has this parameter", Hint: hint})
	}
	return errs
}

// elsewhere leaves out the doubts about what is wrong anyhow, there or within it, and about what is in a value of a wrong type.
func elsewhere(doubts, found document.Errors) document.Errors {
	mistakes := found.Of(document.Mistake)
	return slices.DeleteFunc(doubts, func(d *document.Error) bool {
		return slices.ContainsFunc(mistakes, func(m *document.Error) bool {
			within, is := strings.CutPrefix(m.Path, d.Path)
			inside, has := strings.CutPrefix(d.Path, m.Path)
			return m.File == d.File && (m.Line == d.Line && m.Column == d.Column || is && d.Path != "" && strings.HasPrefix(within, "[") ||
				has && m.Code == document.CodeTypeMismatch && strings.IndexAny(inside, "[.") == 0)
		})
	})
}

// linted are rules as far as they can be suspicious.
func linted(all []*Rule, schemas *schema.Catalog) []*lint.Rule {
	out := make([]*lint.Rule, len(all))
	for i, r := range all {
		out[i] = &lint.Rule{
			ID: r.ID, Set: r.set, Source: r.source, Names: r.names, When: r.when, Steps: r.steps, Selections: r.selections,
			Constants: map[string]any{"params": r.params, "rule": r.about}, Schemas: schemas,
			Watched: r.watched, Footprint: r.Footprint(), Effects: r.effects().steps[:len(r.steps)],
		}
	}
	return out
}
