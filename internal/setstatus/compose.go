package setstatus

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	// OverLimit means that the account of the set needs more than it may have.
	OverLimit = "OverLimit"
	// NotRecorded means that rules wait since the inventory cannot be written.
	NotRecorded = "NotRecorded"
	// Syncing means that caches are being filled.
	Syncing = "Syncing"
	// Paused means that rules have passed their limits.
	Paused = "Paused"
	// CleaningUp means that the set is being deleted.
	CleaningUp = "CleaningUp"
)

// The standings of rules that do not act.
const (
	Suspended = "Suspended"
	Audit     = "Audit"
)

// Input is what is known of a set object. A zero field means no problem.
type Input struct {
	// Generation is that of the object.
	Generation int64
	// Previous is the status that it has.
	Previous v1alpha1.Status
	Now      time.Time

	// Account is the identity of the set.
	Account types.NamespacedName
	// Mistakes are why the set is refused. Warnings and notes among them are left out of the status.
	Mistakes document.Errors
	// LastGood means that an earlier version of the set is in effect.
	LastGood bool
	// NotAllowed is why the set may not do what it asks for.
	NotAllowed error
	// NoAccount is why nothing can be done as the account.
	NoAccount error
	// Unreviewed means that it is not known yet what the account may do.
	Unreviewed bool
	// Moving means that requests of another account for the set are still under way.
	Moving bool
	// Missing are the permissions that rules need and the account lacks. Those of rules
	// of other sets are left out.
	Missing []rules.Need
	// Caches are those that rules of the set read.
	Caches []informer.Status
	// Unserved are resources that rules of the set name and the API server does not serve. Their caches are left out.
	Unserved []rules.Unserved
	// Kept is why nothing is cleaned up that rules of the set have left: others cannot work.
	Kept error
	// OverLimit says of what the account needs more than it may have, and which rules of the set wait for that.
	OverLimit error
	// Paused are the rules of the set that have passed their limits.
	Paused []limit.Pause
	// NotRecorded is why the inventory of the set could not be written.
	NotRecorded error
	// Deleting means that the set is being deleted. NotCleaned is why the leftovers of its
	// rules cannot be cleaned up; nil while the cleanup is under way.
	Deleting   bool
	NotCleaned error

	// Rules are those in effect, in their order.
	Rules []Rule
	// Warnings is how many warnings the set has.
	Warnings int
}

// Rule is a rule of a set, with its counts.
type Rule struct {
	ID       plan.Rule
	Standing string // Suspended, Audit, or empty where it acts
	Counts
	Quarantined int64 // objects whose circuit breaker is open
	Contested   int64 // objects on which another writer undoes what the rule does
}

// Compose returns the status of a set. It is pure. It keeps the inventory
// and the pauses of the previous status, and the transition time of a condition whose status is the
// same.
//
// The conditions are Ready, and the others as far as they are true. kstatus goes by the first of
// these: a problem that takes somebody is not to be waited for.
func Compose(in Input) v1alpha1.Status {
	out := v1alpha1.Status{ObservedGeneration: in.Generation, Inventory: in.Previous.Inventory, Paused: in.Previous.Paused}
	// Of the missing permissions, those of the rules of the set count.
	in.Missing = slices.DeleteFunc(slices.Clone(in.Missing), func(need rules.Need) bool {
		return !slices.ContainsFunc(in.Rules, func(rule Rule) bool { return slices.Contains(need.Rules, rule.ID) })
	})
	add := func(kind string, status metav1.ConditionStatus, reason, message string) {
		condition := metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: in.Generation,
			LastTransitionTime: metav1.NewTime(in.Now.UTC().Truncate(time.Second)), // As it is stored.
		}
		before := meta.FindStatusCondition(in.Previous.Conditions, kind)
		if before != nil && before.Status == status && !before.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		out.Conditions = append(out.Conditions, condition)
	}
	// summarize adds a condition with the reason of the first problem, and the messages of all.
	summarize := func(kind string, status metav1.ConditionStatus, all []problem) {
		var lines []string
		for _, one := range all {
			lines = append(lines, one.lines...)
		}
		if len(lines) > 0 {
			add(kind, status, all[0].reason, bounded(strings.Join(lines, "\n"), longestMessage))
		}
	}
	all := problems(in)
	if len(all) == 0 {
		message := document.Count(len(in.Rules), "rule") + " in effect"
		if in.Warnings > 0 {
			message += ", with " + document.Count(in.Warnings, "warning") + " that validate tells"
		}
		add(Ready, metav1.ConditionTrue, Running, message)
	}
	summarize(Ready, metav1.ConditionFalse, all)
	passes := func(p problem) bool { return p.passes }
	summarize(Stalled, metav1.ConditionTrue, slices.DeleteFunc(slices.Clone(all), passes))
	summarize(Reconciling, metav1.ConditionTrue, slices.DeleteFunc(all, func(p problem) bool { return !p.passes }))
	for _, rule := range in.Rules {
		status := v1alpha1.RuleStatus{
			Name: rule.ID.Name, Standing: rule.Standing, Matched: rule.Matched, Writes: rule.Writes, Errors: rule.Errors,
			LastWrite: lastWrite(rule, in.Previous.Rules), LastError: bounded(rule.LastError, longestError), Quarantined: rule.Quarantined, Contested: rule.Contested,
		}
		for _, need := range in.Missing {
			if slices.Contains(need.Rules, rule.ID) {
				p := need.Permission
				status.Missing = append(status.Missing, v1alpha1.Permission{
					Verb: p.Verb, Group: p.Resource.Group, Resource: p.Resource.Resource,
					Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
				})
			}
		}
		out.Rules = append(out.Rules, status)
		out.Summary = v1alpha1.Summary{Rules: out.Summary.Rules + 1, Matched: out.Summary.Matched + rule.Matched, Errors: out.Summary.Errors + rule.Errors}
	}
	return out
}

// lastWrite is when a rule last wrote, by this process or by those before it.
func lastWrite(rule Rule, previous []v1alpha1.RuleStatus) *metav1.Time {
	if !rule.LastWrite.IsZero() {
		return new(metav1.NewTime(rule.LastWrite.UTC().Truncate(time.Second))) // As it is stored.
	}
	for i := range previous {
		if previous[i].Name == rule.ID.Name {
			return previous[i].LastWrite
		}
	}
	return nil
}

// problem is one reason why a set is not ready.
type problem struct {
	reason string
	passes bool     // by itself, without anybody doing something about it
	lines  []string // of the message
}

// problems lists all problems of a set, the most important first. A set that is being deleted
// has no other.
func problems(in Input) []problem {
	var out []problem
	add := func(reason string, passes bool, lines ...string) {
		if len(lines) > 0 {
			for i, line := range lines {
				lines[i] = bounded(line, longestLine)
			}
			out = append(out, problem{reason, passes, lines})
		}
	}
	fail := func(reason string, passes bool, prefix string, err error) {
		if err != nil {
			add(reason, passes, prefix+text(err))
		}
	}
	if in.Deleting {
		fail(CleaningUp, false, "what the rules have left cannot be cleaned up: ", cmp.Or(in.NoAccount, in.NotCleaned))
		if len(out) == 0 {
			add(CleaningUp, true, "what the rules have left is being cleaned up")
		}
		return out
	}

	refuse := func(reason string, lines ...string) {
		if len(lines) > 0 && in.LastGood {
			lines = append(lines, staysInEffect)
		}
		add(reason, false, lines...)
	}
	refuse(Refused, texts(in.Mistakes)...)
	if in.NotAllowed != nil {
		refuse(NotAllowed, text(in.NotAllowed))
	}
	fail(NoServiceAccount, false, "", in.NoAccount)

	add(Degraded, false, document.Few(lacks(in), maxLines)...)

	var pauses []string
	for _, pause := range in.Paused {
		pauses = append(pauses, fmt.Sprintf("rule %s is paused: %s", pause.Rule.Name, pause))
	}
	add(Paused, false, document.Few(pauses, maxLines)...)

	fail(OverLimit, false, "", in.OverLimit)

	var unserved []string
	for _, resource := range in.Unserved {
		unserved = append(unserved, resource.Error())
	}
	add(Unreachable, false, document.Few(unserved, maxLines)...)

	// What the API server does not have, or refuses, takes somebody. Other errors of caches pass.
	var refused, failing, syncing []string
	for _, cache := range in.Caches {
		line := fmt.Sprintf("cannot list or watch %s: %s", cache.Key, text(cache.Err))
		switch err := cache.Err; {
		case err == nil && !cache.Synced:
			syncing = append(syncing, "listing "+cache.Key.String())
		case err == nil:
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err),
			apierrors.IsMethodNotSupported(err), apierrors.IsBadRequest(err), errors.Is(err, informer.ErrTooLarge):
			refused = append(refused, line)
		default:
			failing = append(failing, line)
		}
	}
	add(Unreachable, false, document.Few(refused, maxLines)...)
	add(Unreachable, true, document.Few(failing, maxLines)...)
	fail(Unreachable, false, "", in.Kept)
	fail(NotRecorded, true, "rules wait until the inventory is written: ", in.NotRecorded)
	if in.Unreviewed && in.NoAccount == nil {
		add(Syncing, true, "it is not known yet what "+in.Account.String()+" may do")
	}
	if in.Moving {
		add(Syncing, true, "requests of the ServiceAccount that the set had before are under way")
	}
	add(Syncing, true, document.Few(syncing, maxLines)...)
	return out
}

// lacks names each missing permission with the rules that need it.
func lacks(in Input) []string {
	var out []string
	for _, need := range in.Missing {
		var names []string
		for _, rule := range in.Rules {
			if slices.Contains(need.Rules, rule.ID) {
				names = append(names, rule.ID.Name)
			}
		}
		line := "rule " + names[0]
		if len(names) > 1 {
			line = "rules " + strings.Join(document.Few(names, maxLines), ", ")
		}
		line += fmt.Sprintf(" may not %s", need.Permission)
		if in.Account.Name != "" {
			line += " (as " + in.Account.String() + ")"
		}
		out = append(out, line)
	}
	return out
}

const (
	// maxLines is how many lines of a kind a message has.
	maxLines = 10
	// These limits are in bytes. The API server accepts 32768 characters for a message.
	longestError   = 512
	longestLine    = 2 << 10
	longestMessage = 32 << 10
)

// text is the message of an error in one short line, empty for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return bounded(strings.Join(strings.Fields(err.Error()), " "), longestError)
}

// staysInEffect ends the message of a set that is refused, and of which the version before is in effect.
const staysInEffect = "the version before stays in effect"

// texts has a line for each mistake.
func texts(all document.Errors) []string {
	var out []string
	for _, mistake := range all.Of(document.Mistake) {
		out = append(out, WithoutFile(mistake).Error())
	}
	return document.Few(out, maxLines)
}

// Refusal says in a line why a set is refused: for its mistakes, or for an error where it was not compiled. It is empty
// where it is not refused.
func Refusal(mistakes document.Errors, err error) string {
	lines := texts(mistakes)
	if err != nil {
		lines = append(lines, text(err))
	}
	return bounded(strings.Join(lines, "; "), longestMessage)
}

// RefusedIn says in a line why a set is refused by its status, empty where it is not.
func RefusedIn(status v1alpha1.Status) string {
	ready := meta.FindStatusCondition(status.Conditions, Ready)
	if ready == nil {
		return ""
	}
	switch {
	case ready.Reason == Refused, ready.Reason == NotAllowed, strings.Contains(ready.Message, staysInEffect),
		ready.Reason == OverLimit && len(status.Rules) == 0:
		return strings.Join(strings.Split(ready.Message, "\n"), "; ")
	default:
		return ""
	}
}

// WithoutFile leaves out the name of the set, whose status it is.
func WithoutFile(err *document.Error) *document.Error {
	return &document.Error{Path: err.Path, Message: err.Message, Hint: err.Hint}
}

// bounded cuts a text to a number of bytes, between two characters, with a mark. The result is
// valid UTF-8.
func bounded(text string, limit int) string {
	const mark = "..."
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(mark), 0)], "") + mark
}
