package setstatus

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The types of conditions, as kstatus knows them.
const (
	Ready       = "Ready"       // always there
	Reconciling = "Reconciling" // there only while something is under way
	Stalled     = "Stalled"     // there only while it takes somebody to go on
)

// The reasons of conditions.
const (
	// Running is the reason of Ready where all is well.
	Running = "Running"
	// Refused means that the set has mistakes.
	Refused = "Refused"
	// NotAllowed means that it writes a sensitive kind that no flag allows.
	NotAllowed = "NotAllowed"
	// NoServiceAccount means that nothing can be done as the account of the set.
	NoServiceAccount = "NoServiceAccount"
	// Degraded means that permissions are missing.
	Degraded = "Degraded"
	// Unreachable means that something cannot be listed or watched.
	Unreachable = "Unreachable"
	// NotRecorded means that rules wait since the inventory cannot be written.
	NotRecorded = "NotRecorded"
	// Syncing means that caches are being filled.
	Syncing = "Syncing"
	// Paused means that rules have passed their limits.
	Paused = "Paused"
	// CleaningUp means that the set is being deleted.
	CleaningUp = "CleaningUp"
)

// Input is what is known of a set object. What is zero is well.
type Input struct {
	// Generation is that of the object.
	Generation int64
	// Previous is the status that it has.
	Previous v1alpha1.Status
	Now      time.Time

	// Account is the identity of the set.
	Account types.NamespacedName
	// Mistakes are why the set is refused; warnings and notes among them are not told.
	Mistakes document.Errors
	// LastGood says that an earlier version of the set is in effect.
	LastGood bool
	// NotAllowed is why the set may not do what it asks for.
	NotAllowed error
	// NoAccount is why nothing can be done as the account.
	NoAccount error
	// Unreviewed says that it is not known yet what the account may do.
	Unreviewed bool
	// Moving says that another account has still something under way for the set.
	Moving bool
	// Missing are the permissions that rules need and the account lacks. Those of rules
	// of other sets are left out.
	Missing []rules.Need
	// Caches are those that rules of the set read.
	Caches []informer.Status
	// Paused are the rules of the set that have passed their limits.
	Paused []limit.Pause
	// NotRecorded is why the inventory of the set could not be written.
	NotRecorded error
	// Deleting says that the set is being deleted, and NotCleaned what keeps what its
	// rules left from being cleaned up; nil while it is under way.
	Deleting   bool
	NotCleaned error

	// Rules are those in effect, in their order.
	Rules []Rule
	// Warnings is how many warnings the set has.
	Warnings int
}

// Rule is a rule of a set, with what it did.
type Rule struct {
	ID plan.Rule
	Counts
	Quarantined int64 // objects that are only tried now and then
	Contested   int64 // objects on which somebody undoes what the rule does
}

// Compose returns what the status of a set is to say. It is pure. The inventory
// and the pauses are those of the previous status, and so is the time of a condition whose status is the
// same.
func Compose(in Input) v1alpha1.Status {
	missing := missingOf(in)
	found := problems(in, missing)
	out := v1alpha1.Status{
		ObservedGeneration: in.Generation,
		Inventory:          in.Previous.Inventory,
		Paused:             in.Previous.Paused,
		Rules:              ruleStatuses(in.Rules, missing),
	}
	for _, condition := range conditions(in, found) {
		out.Conditions = append(out.Conditions, since(condition, in))
	}
	return out
}

// since completes a condition.
func since(condition metav1.Condition, in Input) metav1.Condition {
	condition.ObservedGeneration = in.Generation
	condition.LastTransitionTime = metav1.NewTime(in.Now.UTC().Truncate(time.Second)) // As it is stored.
	for _, before := range in.Previous.Conditions {
		if before.Type == condition.Type && before.Status == condition.Status && !before.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = before.LastTransitionTime
		}
	}
	return condition
}

// ruleStatuses tells of each rule, and what it lacks.
func ruleStatuses(all []Rule, missing []rules.Need) []v1alpha1.RuleStatus {
	var out []v1alpha1.RuleStatus
	for _, rule := range all {
		status := v1alpha1.RuleStatus{
			Name: rule.ID.Name, Matched: rule.Matched, Writes: rule.Writes, Errors: rule.Errors,
			LastError: bounded(rule.LastError, longestError), Quarantined: rule.Quarantined, Contested: rule.Contested,
		}
		for _, need := range missing {
			if needs(need, rule.ID) {
				status.Missing = append(status.Missing, permission(need.Permission))
			}
		}
		out = append(out, status)
	}
	return out
}

// needs reports whether a rule has a need.
func needs(need rules.Need, rule plan.Rule) bool {
	return slices.Contains(need.Rules, rule)
}

// missingOf are the needs of rules of the set.
func missingOf(in Input) []rules.Need {
	var out []rules.Need
	for _, need := range in.Missing {
		for _, rule := range in.Rules {
			if needs(need, rule.ID) {
				out = append(out, need)
				break
			}
		}
	}
	return out
}

func permission(p plan.Permission) v1alpha1.Permission {
	return v1alpha1.Permission{
		Verb: p.Verb, Group: p.Resource.Group, Resource: p.Resource.Resource,
		Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
	}
}
