package main

import "context"

// exitFinding is how dyncontroller ends when it has found something wrong with rules.
const exitFinding = 1

// refuse is act 1.
func (d *demo) refuse(ctx context.Context) error {
	d.screen.title("Act 1: a misspelt rule is refused")
	d.screen.say("Rules are checked before they do anything. All mistakes of all files are shown at once, each where it is, and the " +
		"exit code is 1.")
	return d.show(ctx, `sed 's/stores < needed/store < needed/; s/when: default/wen: default/' \
examples/rules/tidbcluster/tidb-guardrails.yaml | bin/dyncontroller validate -`, exitFinding)
}

// test is act 2.
func (d *demo) test(ctx context.Context) error {
	d.screen.title("Act 2: rules have tests, which need no cluster")
	d.screen.say("A case is some objects and a golden file with what the rules decide about them, the requests they send " +
		"and the Events they record.")
	return d.show(ctx, "bin/dyncontroller test examples/rules/tidbcluster", 0)
}
