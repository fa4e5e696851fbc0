package spec

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// APIVersion is the version of the language.
const APIVersion = "dyncontroller.dev/v1alpha1"

// The kinds of documents. The kind alone decides the scope of a set.
const (
	KindRuleSet        = "RuleSet"
	KindClusterRuleSet = "ClusterRuleSet"
	KindRuleTest       = "RuleTest"
)

// Mode says whether rules write.
type Mode string

// The modes. The empty one is that of the set, and Enforce for a set.
const (
	Enforce Mode = "Enforce"
	Audit   Mode = "Audit" // decide and report, write nothing
)

// Set is a parsed document.
type Set struct {
	File        string
	Kind        string
	Namespace   string // empty for a ClusterRuleSet
	Name        string
	Description string
	// Identity is the ServiceAccount that reads and writes, empty for the
	// process's own.
	Identity  types.NamespacedName
	Mode      Mode
	Params    []Definition
	Let       []Definition
	Resources []Resource
	Rules     []Rule
	// Resume are the names that [ResumeAnnotation] gives.
	Resume []string

	node   *document.Node
	faulty bool
}

// Node returns the whole document.
func (s *Set) Node() *document.Node { return s.node }

// Faulty reports whether mistakes were found when it was read, so that parts of it may
// be missing.
func (s *Set) Faulty() bool { return s.faulty }

// Definition is a name and what it stands for: an entry of let, with or params.
type Definition struct {
	Name  string
	Key   *document.Node
	Value *document.Node
}

// Resource is a declaration under `resources`.
type Resource struct {
	Name          string
	GVR           schema.GroupVersionResource
	Namespaces    []string
	LabelSelector string
	FieldSelector string
}

// Rule is a rule as it was written. Nodes are nil where the field is absent.
type Rule struct {
	Name        string
	Description string
	Watch       *document.Node
	With        []Definition
	Let         []Definition
	When        *document.Node
	For         *document.Node
	Actions     []*document.Node
	OnDelete    *OnDelete
	Suspend     bool
	Mode        Mode
	Limits      *Limits

	node *document.Node
}

// Node returns the whole rule.
func (r *Rule) Node() *document.Node { return r.node }

// OnDelete is what a rule does while the object is being deleted.
type OnDelete struct {
	Actions []*document.Node
	Done    *document.Node
	// Hold keeps the object until Done, by a finalizer.
	Hold bool
}

// Limits are the blast radius of a rule: for how many of the objects it watches
// it may write within a sliding window. Either Objects or Percent is set.
type Limits struct {
	Objects int
	Percent float64
	Per     time.Duration
}

// Everything reports whether the limit is no limit, but consent.
func (l *Limits) Everything() bool { return l.Percent >= 100 }

func parseRule(n *document.Node) (Rule, document.Errors) {
	r := Rule{node: n}
	errs := n.Decode(
		document.Required("name", checked(&r.Name, label)),
		document.Optional("description", document.String(&r.Description)),
		document.Required("watch", document.Raw(&r.Watch)),
		document.Optional("with", filled(definitions(&r.With))),
		document.Optional("let", definitions(&r.Let)),
		document.Optional("when", document.Raw(&r.When)),
		document.Optional("for", document.Raw(&r.For)),
		document.Optional("actions", elements(&r.Actions)),
		document.Optional("onDelete", r.parseOnDelete),
		document.Optional("suspend", document.Bool(&r.Suspend)),
		document.Optional("mode", document.OneOf(&r.Mode, Enforce, Audit)),
		document.Optional("limits", r.parseLimits),
	)
	if n.Kind() == document.KindMap && n.Get("actions") == nil && n.Get("onDelete") == nil && len(errs) == 0 {
		errs = append(errs, n.Errorf("add actions: ...", `the field "actions" is missing`))
	}
	return r, errs
}

func elements(into *[]*document.Node) document.Decoder {
	return filled(func(n *document.Node) document.Errors {
		*into = n.Elements()
		return asErrors(n.Expect(document.KindList))
	})
}

func (r *Rule) parseOnDelete(n *document.Node) document.Errors {
	r.OnDelete = &OnDelete{Hold: true}
	errs := n.Decode(
		document.Optional("actions", elements(&r.OnDelete.Actions)),
		document.Optional("done", document.Raw(&r.OnDelete.Done)),
		document.Optional("hold", document.Bool(&r.OnDelete.Hold)),
	)
	if n.Kind() == document.KindMap && n.Get("actions") == nil && n.Get("done") == nil && len(errs) == 0 {
		errs = append(errs, n.Errorf("add actions: ..., or done: ... to keep the object until that is true", "onDelete does nothing").Coded(document.CodeMissingField))
	}
	if done := r.OnDelete.Done; done != nil && !r.OnDelete.Hold {
		errs = append(errs, done.Errorf("leave it out, or leave hold out", "done ends the hold, and hold is false"))
	}
	return errs
}

// defaultPer is the window of limits that name none.
const defaultPer = 10 * time.Minute

func (r *Rule) parseLimits(n *document.Node) document.Errors {
	r.Limits = &Limits{Per: defaultPer}
	return n.Decode(
		document.Required("maxObjects", r.Limits.parseObjects),
		document.Optional("per", r.Limits.parsePer),
	)
}

// What stops a rule is no limit.
const stopHint = "to stop the rule, write suspend: true"

// parseObjects takes a number of objects, or a percentage of those watched.
func (l *Limits) parseObjects(n *document.Node) document.Errors {
	switch n.Kind() {
	case document.KindInvalid:
		return nil
	case document.KindInt:
		count, _ := n.Value().(int64)
		if count < 1 {
			return document.Errors{n.Errorf(stopHint, "the limit must be at least one object, have %d", count)}
		}
		l.Objects = int(count)
		return nil
	default:
		return asErrors(l.parseShare(n))
	}
}

// percentage has no sign and no exponent.
var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

func (l *Limits) parseShare(n *document.Node) *document.Error {
	text := n.Text()
	if n.Kind() != document.KindString || !percentage.MatchString(text) {
		return n.Errorf(`write a number such as 5, or a percentage such as "10%"`, "want a number of objects or a percentage, have %s", n.Kind())
	}
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	switch {
	case err != nil || share > 100:
		return n.Errorf(`write "100%" for all objects`, "there are no more objects than 100%%, have %q", text)
	case share == 0:
		return n.Errorf(stopHint, "the limit must be more than nothing, have %q", text)
	}
	l.Percent = share
	return nil
}

func (l *Limits) parsePer(n *document.Node) document.Errors {
	if n.Kind() == document.KindInvalid {
		return nil
	}
	per, err := Duration(n)
	if err != nil {
		return document.Errors{err}
	}
	if per <= 0 {
		return document.Errors{n.Errorf("write a duration such as 10m", "the window of a limit must be longer than nothing")}
	}
	l.Per = per
	return nil
}

// Duration reads a constant duration: a text such as 5m or 1d12h, or a number of
// seconds.
func Duration(n *document.Node) (time.Duration, *document.Error) {
	d, err := expression.ParseDuration(n.Value())
	if err != nil {
		return 0, n.Errorf("write it with units, such as 90s, 1h30m, 2d or 1w", "want a duration, have %q", n.Text())
	}
	return d, nil
}
