package guard

import (
	"cmp"
	"log/slog"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Key names the object that a worker looks at. It is comparable.
type Key struct {
	GVR       schema.GroupVersionResource
	Namespace string
	Name      string
	// UID is set for an object that is gone, of which more than that may not be known. It is empty for whatever object has
	// the name.
	UID types.UID
}

// Compare orders keys as reports list them.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(plan.ResourceName(k.GVR), plan.ResourceName(other.GVR)),
		cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name), cmp.Compare(k.UID, other.UID),
	)
}

// Log returns a logger with the fixed keys of an object.
func (k Key) Log(log *slog.Logger) *slog.Logger {
	return log.With("gvr", plan.ResourceName(k.GVR), "namespace", k.Namespace, "name", k.Name)
}

// Rules are the rules in effect. They are immutable; another value is another generation of them.
type Rules struct {
	*rules.Set
	// Leaves is what each rule may leave on objects.
	Leaves map[plan.Rule][]plan.Leftover
	// Limited are the rules that have limits or a rollout.
	Limited map[plan.Rule]Limited
	// holding are the rules that hold objects.
	holding map[plan.Rule]*rules.Rule
}

// Limited is a rule with limits or a rollout.
type Limited struct {
	ID plan.Rule
	// Digest tells it from what it was before and what it is later.
	Digest    string
	Suspended bool
	Limits    spec.Limits   // zero for none
	Rollout   *spec.Rollout // nil for none
	// Asked says that its document asks it to resume.
	Asked bool
	// Watches are the objects of which its limit may be a share.
	Watches []plan.Selection
}

// Counts reports whether the rule has limits that limit something.
func (l *Limited) Counts() bool { return l.Limits != (spec.Limits{}) && !l.Limits.Everything() }

// NewRules returns the rules of a set.
func NewRules(set *rules.Set) *Rules {
	out := &Rules{Set: set, Leaves: map[plan.Rule][]plan.Leftover{}, Limited: map[plan.Rule]Limited{}, holding: map[plan.Rule]*rules.Rule{}}
	for _, rule := range set.Holding() {
		out.holding[rule.ID] = rule
	}
	for _, leftover := range set.Leftovers() {
		out.Leaves[leftover.Rule] = append(out.Leaves[leftover.Rule], leftover)
	}
	for _, rule := range set.Rules() {
		limits, rollout := rule.Limits(), rule.Rollout()
		if limits == nil && rollout == nil {
			continue
		}
		limited := Limited{
			ID: rule.ID, Digest: rule.Digest(), Suspended: rule.Suspended(), Rollout: rollout, Asked: rule.AsksToResume(), Watches: rule.Watches(),
		}
		if limits != nil {
			limited.Limits = *limits
		}
		out.Limited[rule.ID] = limited
	}
	return out
}

// Attempt is one look at an object: its rules are evaluated, and what they want is sent.
type Attempt struct {
	Key   Key
	Rules *Rules
	// Generation is that of the rules, and Since that with which each rule came.
	Generation int
	Since      map[plan.Rule]int
	// Settling says that the engine gives up what does not settle soon, rather than to wait.
	Settling bool
	// CarriedOut says that rules were evaluated, and that what they want was sent as far as it may be. There may be nothing
	// that they want. Without it, Finish cannot rely on what follows.
	CarriedOut bool
	Log        *slog.Logger
	Evaluation
	Progress
	// Warnings are Events of the watched object that guards want.
	Warnings []Warning
}

// Evaluation is what the rules want of an object, and what they were evaluated on.
type Evaluation struct {
	UID     types.UID      // of the watched object
	Watched map[string]any // nil where it is gone
	Plan    plan.Plan      // what the rules want
	// Due are the rules that write because a moment has come: they wanted nothing before it.
	Due []plan.Rule
	// Read are the objects that were read, the watched one first, each as often as a rule asked for it.
	Read func() []Input
	// Unanswered says that a question of the rules had no answer, and Unasked are the rules of caches of which it is not known
	// whether they have the object.
	Unanswered bool
	Unasked    []plan.Rule
	// Mask hides the values of Secrets in what people are told.
	Mask *mask.Masker
}

// Progress is what has become of a plan so far.
type Progress struct {
	// Left are the versions of the objects that this attempt has written.
	Left map[types.UID]string
	// Wrote are the rules of which something was written.
	Wrote map[plan.Rule]bool
	// Unfinished and Untold are the rules of which something was not written, with the number of the first action of which that is
	// true: Untold of the actions that read failure, Unfinished of the others. Later ones are not sent, and Events wait.
	Unfinished, Untold map[plan.Rule]int
	// Unheld are the rules whose finalizers are not on the watched object, though they are to be.
	Unheld []plan.Rule
	// Undone are the operations that were not carried out, and Doubtful those that were sent, and may have been.
	Undone, Doubtful []plan.Operation
	undoneOf         map[Key][]plan.Operation // Undone, by target
	// Stopped says that the snapshot is out of date, so that nothing more is sent.
	Stopped bool
}

// Hold notes that the finalizers of an operation are on the watched object, as far as the answer shows it; it may show nothing. It
// returns the rules of these finalizers.
func (p *Progress) Hold(o plan.Operation, answered map[string]any) (held []plan.Rule) {
	p.Unheld = slices.DeleteFunc(p.Unheld, func(rule plan.Rule) bool {
		holds := putsOn(o, rule) && (answered == nil || rule.Holds(answered))
		if holds {
			held = append(held, rule)
		}
		return holds
	})
	return held
}

func putsOn(o plan.Operation, rule plan.Rule) bool {
	return slices.Contains(o.Rules, rule) && o.Part(rule).First == 0
}

// Awaits returns the rule whose finalizer has to be on the watched object before an operation is sent: the object may be deleted at any
// time, and without the finalizer nothing that the operation makes would be cleaned up. Rules that have nothing to do with it go on.
func (a *Attempt) Awaits(o plan.Operation) (holder plan.Rule, awaits bool) {
	at := slices.IndexFunc(a.Unheld, func(rule plan.Rule) bool {
		itself := KeyOf(o.Target) == a.Key
		switch {
		case slices.Contains(o.Rules, rule):
			return !putsOn(o, rule)
		case o.Type == plan.Delete:
			return itself
		default:
			return !itself && a.Rules.holding[rule].CleansUp(o.Target.GVR.GroupResource())
		}
	})
	if at < 0 {
		return holder, false
	}
	return a.Unheld[at], true
}

// Leave notes that an operation was not carried out. If goesOn, the other elements of its actions may be.
func (p *Progress) Leave(o plan.Operation, goesOn bool) {
	p.Undone = append(p.Undone, o)
	if p.undoneOf == nil {
		p.undoneOf = map[Key][]plan.Operation{}
	}
	p.undoneOf[KeyOf(o.Target)] = append(p.undoneOf[KeyOf(o.Target)], o)
	for _, rule := range o.Rules {
		part, left := o.Part(rule), p.Unfinished
		if part.Reacts {
			left = p.Untold
		}
		at := part.First
		if !goesOn {
			at = 0
		}
		if first, is := left[rule]; !is || at < first {
			left[rule] = at
		}
	}
}

// UndoneOf returns the operations on an object that were not carried out, whatever version they are of.
func (p *Progress) UndoneOf(object plan.Object) []plan.Operation { return p.undoneOf[KeyOf(object)] }

// Follows reports whether an operation has to wait for an action of one of its rules that was not carried out: it is of a later
// action, or it creates, and a creation of the same action has failed. Actions that read failure wait for each other.
func (p *Progress) Follows(o plan.Operation) bool {
	return slices.ContainsFunc(o.Rules, func(rule plan.Rule) bool {
		part := o.Part(rule)
		follows := func(left map[plan.Rule]int) bool {
			first, is := left[rule]
			return is && (part.Last > first || o.Type == plan.Create && part.Last == first)
		}
		if part.Reacts {
			return follows(p.Untold)
		}
		return follows(p.Unfinished) || part.Last == plan.Afterwards && follows(p.Untold)
	})
}

// Warning is an Event that says how a rule fares.
type Warning struct {
	Rule            plan.Rule
	Reason, Message string
}

// Concluded reports whether the attempt says how the Events of a rule go on. What a rule wanted before it was refused
// stands. One that waits for a cache, as after a restart, was not asked.
func (a *Attempt) Concluded(decision plan.Decision) bool {
	rule := decision.Rule
	asked := !decision.Outcome.Troubled() || decision.Outcome == plan.Refused
	if decision.Outcome == plan.Skipped && a.Unanswered {
		asked = false
	}
	_, unfinished := a.Unfinished[rule]
	_, untold := a.Untold[rule]
	return asked && !unfinished && !untold && (!a.Stopped || a.Wrote[rule])
}

// Input is an object that an evaluation read. It is comparable.
type Input struct {
	Object  Object
	UID     types.UID
	Version string
}

// Object names an object, whichever has the name, and in whatever version it is read or written. It is comparable.
type Object struct {
	Resource  schema.GroupResource
	Namespace string
	Name      string
}

// String returns the resource as kubectl takes it, and the name.
func (o Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.Resource.String() + " " + name
}

// Object is the key in whatever version the object is read.
func (k Key) Object() Object {
	return Object{Resource: k.GVR.GroupResource(), Namespace: k.Namespace, Name: k.Name}
}

// KeyOf is the key of whatever object has the name.
func KeyOf(object plan.Object) Key {
	return Key{GVR: object.GVR, Namespace: object.Namespace, Name: object.Name}
}
