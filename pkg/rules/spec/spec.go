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
	Suspend     bool // the rule, or its whole set
	Mode        Mode
	Limits      *Limits
	Rollout     *Rollout

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
// it may write within a sliding window.
type Limits struct {
	Share
	Per time.Duration
}

// Everything reports whether the limit is no limit, but consent.
func (l *Limits) Everything() bool { return l.Percent >= 100 }

// Share is a number of objects, or a percentage of those that a rule watches: either of both is set.
type Share struct {
	Objects int
	Percent float64
}

// String returns the share as a rule has it.
func (s Share) String() string {
	if s.Percent > 0 {
		return strconv.FormatFloat(s.Percent, 'f', -1, 64) + "%"
	}
	return strconv.Itoa(s.Objects)
}

// Of is how many of so many objects it is: at least one.
func (s Share) Of(watched int) int {
	if s.Percent > 0 {
		const slack = 1e-9 // For 4.35 percent, which a float64 does not hold.
		return max(1, int(float64(watched)*s.Percent/100+slack))
	}
	return max(1, s.Objects)
}

// Rollout is how a rule that is new or has changed comes to all objects: in waves.
type Rollout struct {
	// Waves are for how many objects it writes at most, before the next wave begins. After the last, it writes for all.
	Waves []Share
	// Healthy is a condition on an object that it has written for. It has to hold for all of them for Soak before the next wave, and Timeout
	// is how long it may not hold.
	Healthy       *document.Node
	Soak, Timeout time.Duration
	// By is what the objects are ordered by, nil for their names.
	By *document.Node
}

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
	if rollout := v["rollout"]; rollout != nil {
		errs = append(errs, r.parseRollout(rollout)...)
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
		var wrong *document.Error
		if r.Limits.Share, wrong = parseShare(most, "limit"); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	return append(errs, parseLonger(v["per"], &r.Limits.Per, "the window of a limit")...)
}

// The times of a rollout that names none.
const (
	defaultSoak    = time.Minute
	defaultTimeout = 10 * time.Minute // As progressDeadlineSeconds of a Deployment.
)

func (r *Rule) parseRollout(n *document.Node) document.Errors {
	v, errs := rolloutFields.Read(n)
	r.Rollout = &Rollout{Healthy: v["healthy"], By: v["by"], Soak: defaultSoak, Timeout: defaultTimeout}
	for _, wave := range v["waves"].Elements() {
		share, wrong := parseShare(wave, "wave")
		if last := len(r.Rollout.Waves) - 1; wrong == nil && last >= 0 {
			before := r.Rollout.Waves[last]
			if alike := (before.Percent > 0) == (share.Percent > 0); alike && share.Objects <= before.Objects && share.Percent <= before.Percent {
				wrong = wave.Errorf("a wave counts the objects of those before it, as in [1, 10%, 50%]", "a wave must be larger than the one before it, which is %s", before)
			}
		}
		if wrong != nil {
			errs = append(errs, wrong)
		}
		r.Rollout.Waves = append(r.Rollout.Waves, share)
	}
	errs = append(errs, parseLonger(v["soak"], &r.Rollout.Soak, "the time for which objects have to be healthy")...)
	return append(errs, parseLonger(v["timeout"], &r.Rollout.Timeout, "the time for which objects may be unhealthy")...)
}

// parseLonger reads a duration that must be longer than nothing, if there is one.
func parseLonger(n *document.Node, out *time.Duration, what string) document.Errors {
	if n == nil {
		return nil
	}
	d, wrong := Duration(n)
	switch *out = d; {
	case wrong != nil:
		return document.Errors{wrong}
	case d <= 0:
		return document.Errors{n.Errorf("write a duration such as 10m", "%s must be longer than nothing", what)}
	default:
		return nil
	}
}

// What stops a rule is no limit.
const stopHint = "to stop the rule, write suspend: true"

// percentage has no sign and no exponent.
var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// parseShare takes a number of objects, or a percentage of those watched.
func parseShare(n *document.Node, what string) (s Share, wrong *document.Error) {
	text := n.Text()
	if count, isInt := n.Value().(int64); isInt {
		if s.Objects = int(count); count < 1 {
			return s, n.Errorf(stopHint, "the %s must be at least one object, have %d", what, count)
		}
		return s, nil
	}
	if n.Kind() != document.KindString || !percentage.MatchString(text) {
		return s, n.Errorf(`write a number such as 5, or a percentage such as "10%"`, "want a number of objects or a percentage, have %s", n.Kind())
	}
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	switch s.Percent = share; {
	case err != nil || share > 100:
		return s, n.Errorf(`write "100%" for all objects`, "there are no more objects than 100%%, have %q", text)
	case share == 0:
		return s, n.Errorf(stopHint, "the %s must be more than nothing, have %q", what, text)
	default:
		return s, nil
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
