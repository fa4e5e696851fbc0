package spec

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
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
	v, errs := ruleFields.Read(n)
	r := Rule{
		node: n, Name: n.Get("name").Text(), Description: v["description"].Text(), Watch: v["watch"],
		With: definitions(v["with"]), Let: definitions(v["let"]), When: v["when"], For: v["for"],
		Actions: v["actions"].Elements(), Suspend: v.Bool("suspend", false), Mode: Mode(v["mode"].Text()),
	}
	if onDelete := v["onDelete"]; onDelete != nil {
		errs = append(errs, r.parseOnDelete(onDelete)...)
	}
	if limits := v["limits"]; limits != nil {
		errs = append(errs, r.parseLimits(limits)...)
	}
	return r, errs
}

func (r *Rule) parseOnDelete(n *document.Node) document.Errors {
	v, errs := onDeleteFields.Read(n)
	r.OnDelete = &OnDelete{Actions: v["actions"].Elements(), Done: v["done"], Hold: v.Bool("hold", true)}
	if done := r.OnDelete.Done; done != nil && !r.OnDelete.Hold {
		errs = append(errs, done.Errorf("leave it out, or leave hold out", "done ends the hold, and hold is false"))
	}
	return errs
}

// defaultPer is the window of limits that name none.
const defaultPer = 10 * time.Minute

func (r *Rule) parseLimits(n *document.Node) document.Errors {
	v, errs := limitFields.Read(n)
	r.Limits = &Limits{Per: defaultPer}
	if most := v["maxObjects"]; most != nil {
		if wrong := r.Limits.parseObjects(most); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	if n := v["per"]; n != nil {
		per, wrong := Duration(n)
		switch r.Limits.Per = per; {
		case wrong != nil:
			errs = append(errs, wrong)
		case per <= 0:
			errs = append(errs, n.Errorf("write a duration such as 10m", "the window of a limit must be longer than nothing"))
		}
	}
	return errs
}

// What stops a rule is no limit.
const stopHint = "to stop the rule, write suspend: true"

// percentage has no sign and no exponent.
var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// parseObjects takes a number of objects, or a percentage of those watched.
func (l *Limits) parseObjects(n *document.Node) *document.Error {
	text := n.Text()
	if count, isInt := n.Value().(int64); isInt {
		if l.Objects = int(count); count < 1 {
			return n.Errorf(stopHint, "the limit must be at least one object, have %d", count)
		}
		return nil
	}
	if n.Kind() != document.KindString || !percentage.MatchString(text) {
		return n.Errorf(`write a number such as 5, or a percentage such as "10%"`, "want a number of objects or a percentage, have %s", n.Kind())
	}
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	switch l.Percent = share; {
	case err != nil || share > 100:
		return n.Errorf(`write "100%" for all objects`, "there are no more objects than 100%%, have %q", text)
	case share == 0:
		return n.Errorf(stopHint, "the limit must be more than nothing, have %q", text)
	default:
		return nil
	}
}

// Duration reads a constant duration: a text such as 5m or 1d12h, or a number of
// seconds.
func Duration(n *document.Node) (time.Duration, *document.Error) {
	d, err := value.ParseDuration(n.Value())
	if err != nil {
		return 0, n.Errorf("write it with units, such as 90s, 1h30m, 2d or 1w", "want a duration, have %q", n.Text())
	}
	return d, nil
}
