package main

import "context"

// exitFinding is how dyncontroller ends when it has found something wrong with rules.
const exitFinding = 1

// mistakes is act 6.
func (d *demo) mistakes(ctx context.Context) error {
	d.screen.title("Act 6: mistakes are found before, without a cluster")
	d.screen.say("Rules are checked before they do anything. All mistakes of all files are shown at once, each where it is, and the " +
		"exit code is 1.")
	err := d.show(ctx, `sed 's/stores < needed/store < needed/; s/when: not paused && default/wen: default/' \
examples/rules/tidbcluster/tidb-guardrails.yaml | bin/dyncontroller validate -`, exitFinding)
	if err != nil {
		return err
	}
	d.screen.say("Rules have tests. A case is some objects and a golden file with what the rules decide about them, the requests they send " +
		"and the Events they record.")
	return d.show(ctx, "bin/dyncontroller test examples/rules/tidbcluster", 0)
}
