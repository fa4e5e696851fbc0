package tenants

import (
	"maps"
	"strings"
)

// outcome is what becomes of an attempt to reach out of a namespace.
type outcome int

const (
	// forbidden is by the API server, which does not take the set.
	forbidden outcome = iota
	// misfit is refused by dyncontroller in the status of the set, which is never run.
	misfit
	// fails is by the rule, which says so as its last error.
	fails
	// stayed has the rule at work, in its own namespace: it records an Event.
	stayed
	// homeless has no account to act as.
	homeless
)

// attempt is a RuleSet whose author tries to reach out of its namespace. NAMESPACE is
// that, and OTHER the one of somebody else; the objects in both have equal names.
type attempt struct {
	reason    string
	account   string // of the set, bot if empty
	resources string // besides seeds and treasures
	spec      string // besides the account, resources and rules
	rule      string // besides its name; it watches seeds if it does not say
	outcome   outcome
	says      string // the whole text, or of forbidden a part of it
}

// steals is what a rule does that got something.
const steals = `, when: got != nil, actions: [{event: {reason: Stolen, message: "${toJSON(got)}"}}]`

const (
	ownOnly  = `a RuleSet acts in its own namespace only, which is "NAMESPACE", not "OTHER"; `
	atGot    = "spec.rules[0].with.got.namespace: " + ownOnly + "make it a ClusterRuleSet"
	atAction = "spec.rules[0].actions[0]."
	inPlace  = ".manifest.metadata.namespace: " + ownOnly + "leave it out, or make it a ClusterRuleSet"
	forged   = atAction + "patch.target: got is no object that was read, but a part of one, or a new map; a target comes from with as it is, or through filter, find, sortBy or take"
	noName   = `"../../OTHER/x" cannot be the name of an object: it may not contain '/'`
	moved    = ": a rule may not write metadata.namespace; leave it out, target says which object it is"
	clusters = ` are cluster-scoped, and a RuleSet acts in its own namespace only; make it a ClusterRuleSet`
)

// reading are all forms of with, each in a namespace that is written down, one that is
// known when the rule runs, and in all of them.
func reading() map[string]attempt {
	out := map[string]attempt{}
	for form, selects := range map[string]string{
		"name":     "name: treasure",
		"names":    `names: [treasure, "${object.metadata.name}"]`,
		"labels":   "matchLabels: {kind: treasure}",
		"selector": `selector: {matchExpressions: [{key: kind, operator: In, values: [treasure]}]}`,
		"fields":   "matchFields: {metadata.name: treasure}",
		"owned":    "ownedBy: object",
		"all":      "all: true",
	} {
		with := "with: {got: {resource: treasures, " + selects + ", namespace: "
		out["with-"+form] = attempt{reason: "Of somebody else.", rule: with + "OTHER}}" + steals, outcome: misfit, says: atGot}
		out["with-"+form+"-computed"] = attempt{
			reason: "Whoever names it, and when.", rule: with + `"${other}"}}` + steals, outcome: fails, says: atGot,
		}
		seen := "join(map(got, .metadata.labels.of ?? ''), ' ')"
		if form == "name" {
			seen = "got?.metadata.labels.of ?? ''"
		}
		out["with-"+form+"-everywhere"] = attempt{
			reason:  "Every namespace that it may see is its own.",
			rule:    with + `"*"}}, actions: [{event: {reason: Seen, message: "${rule.set}: ${` + seen + `}"}}]`,
			outcome: stayed, says: "NAMESPACE",
		}
	}
	return out
}

// attempts are all of them, by the name of the set.
func attempts() map[string]attempt {
	out := reading()
	for _, more := range []map[string]attempt{declaring, writing, making, being} {
		maps.Copy(out, more)
	}
	return out
}

// got is a related object in another namespace, which is named when the rule runs.
const got = `with: {got: {resource: treasures, name: treasure, namespace: "${other}"}}, `

// idle is a rule that does nothing that matters.
const idle = `actions: [{event: {reason: Idle, message: idle}}]`

// document is the set of an attempt, for NAMESPACE and OTHER.
func (a attempt) document(name string) string {
	account, rule := a.account, a.rule
	if account == "" {
		account = "bot"
	}
	if !strings.HasPrefix(rule, "watch: ") {
		rule = "watch: seeds, " + rule
	}
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ` + name + `, namespace: NAMESPACE}
spec:
  serviceAccountName: ` + account + `
  ` + a.spec + `
  let:
    other: object.metadata.annotations.other ?? ""
    path: object.metadata.annotations.path ?? ""
    manifest: object.metadata.annotations.manifest ?? ""
    uid: object.metadata.annotations.uid ?? ""
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    treasures: {version: v1, resource: configmaps, labelSelector: kind=treasure}
    configmaps: {version: v1, resource: configmaps}
    ` + a.resources + `
  rules:
  - {name: reach, ` + rule + `}
`
}
