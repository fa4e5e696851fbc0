package setstatus

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// problem is one reason why a set is not ready.
type problem struct {
	reason string
	lines  []string // of the message
	// passes says that it takes nobody: it goes on by itself.
	passes bool
}

// problems lists all of them, the most important first. A set that is being deleted
// has no other.
func problems(in Input, missing []rules.Need) []problem {
	if in.Deleting {
		return []problem{cleaning(in)}
	}
	var out []problem
	add := func(is bool, reason string, passes bool, lines ...string) {
		if is {
			out = append(out, problem{reason, lines, passes})
		}
	}
	add(len(mistakes(in)) > 0, Refused, false, mistakes(in)...)
	add(in.NotAllowed != nil, NotAllowed, false, text(in.NotAllowed))
	add(in.NoAccount != nil, NoServiceAccount, false, text(in.NoAccount))
	add(len(missing) > 0, Degraded, false, lacks(in, missing)...)
	add(len(in.Paused) > 0, Paused, false, pauses(in.Paused)...)
	for _, passes := range []bool{false, true} {
		lines := unreachable(in.Caches, passes)
		add(len(lines) > 0, Unreachable, passes, lines...)
	}
	add(in.NotRecorded != nil, NotRecorded, true, "rules wait until the inventory is written: "+text(in.NotRecorded))
	add(in.Unreviewed && in.NoAccount == nil, Syncing, true, "it is not known yet what "+in.Account.String()+" may do")
	add(in.Moving, Syncing, true, "requests of the ServiceAccount that the set had before are under way")
	lines := syncing(in.Caches)
	add(len(lines) > 0, Syncing, true, lines...)
	return out
}

func cleaning(in Input) problem {
	for _, err := range []error{in.NoAccount, in.NotCleaned} {
		if err != nil {
			return problem{CleaningUp, []string{"what the rules have left cannot be cleaned up: " + text(err)}, false}
		}
	}
	return problem{CleaningUp, []string{"what the rules have left is being cleaned up"}, true}
}

// conditions are Ready, and the others as far as they are true. To kstatus the first of
// these counts: what takes somebody is not to be waited for.
func conditions(in Input, found []problem) []metav1.Condition {
	if len(found) == 0 {
		return []metav1.Condition{{Type: Ready, Status: metav1.ConditionTrue, Reason: Running, Message: effect(in)}}
	}
	out := []metav1.Condition{summary(Ready, metav1.ConditionFalse, found)}
	var passing, lasting []problem
	for _, one := range found {
		if one.passes {
			passing = append(passing, one)
		} else {
			lasting = append(lasting, one)
		}
	}
	if len(lasting) > 0 {
		out = append(out, summary(Stalled, metav1.ConditionTrue, lasting))
	}
	if len(passing) > 0 {
		out = append(out, summary(Reconciling, metav1.ConditionTrue, passing))
	}
	return out
}

// summary makes a condition of problems: the reason of the first, and what all say.
func summary(kind string, status metav1.ConditionStatus, found []problem) metav1.Condition {
	var lines []string
	for _, one := range found {
		lines = append(lines, one.lines...)
	}
	return metav1.Condition{Type: kind, Status: status, Reason: found[0].reason, Message: message(lines)}
}

// pauses says of each paused rule why, and what to do.
func pauses(all []limit.Pause) []string {
	var lines []string
	for _, pause := range all {
		lines = append(lines, fmt.Sprintf("rule %s is paused: %s", pause.Rule.Name, pause))
	}
	return most(lines)
}

// effect says what runs.
func effect(in Input) string {
	out := count(len(in.Rules), "rule") + " in effect"
	if in.Warnings > 0 {
		out += ", with " + count(in.Warnings, "warning") + " that validate tells"
	}
	return out
}

// unreachable says what cannot be listed or watched. What the API server does not
// have, or refuses, takes somebody; anything else passes.
func unreachable(caches []informer.Status, passes bool) []string {
	var lines []string
	for _, cache := range caches {
		if cache.Err == nil || passes == lasts(cache.Err) {
			continue
		}
		lines = append(lines, fmt.Sprintf("cannot list or watch %s: %s", cache.Key, text(cache.Err)))
	}
	return most(lines)
}

func lasts(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err) || errors.Is(err, informer.ErrTooLarge)
}

// syncing names the caches that are being filled.
func syncing(caches []informer.Status) []string {
	var lines []string
	for _, cache := range caches {
		if cache.Err == nil && !cache.Synced {
			lines = append(lines, "listing "+cache.Key.String())
		}
	}
	return most(lines)
}

// lacks names each missing permission with the rules that need it.
func lacks(in Input, missing []rules.Need) []string {
	var lines []string
	for _, need := range missing {
		var names []string
		for _, rule := range in.Rules {
			if needs(need, rule.ID) {
				names = append(names, rule.ID.Name)
			}
		}
		who := "rule " + names[0]
		if len(names) > 1 {
			who = fmt.Sprintf("rules %s", strings.Join(most(names), ", "))
		}
		as := ""
		if in.Account.Name != "" {
			as = " (as " + in.Account.String() + ")"
		}
		lines = append(lines, fmt.Sprintf("%s may not %s%s", who, need.Permission, as))
	}
	return most(lines)
}
