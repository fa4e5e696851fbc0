package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// repairAgain is act 4.
func (d *demo) repairAgain(ctx context.Context) error {
	d.screen.title("Act 4: somebody breaks one again")
	d.screen.say("The controller still runs. It watches what its rules read, so a change is seen at once.")
	before := len(d.controller.log.writes())
	err := d.show(ctx, `bin/cluster kubectl patch tidbcluster basic --type=merge -p '{"spec":{"pd":{"replicas":2}}}'`, 0)
	if err != nil {
		return err
	}
	rule, err := d.nextWrite(ctx, before)
	if err != nil {
		return err
	}
	took, err := d.stage.audit.waitRepair(ctx, "basic")
	if err != nil {
		return err
	}
	d.screen.say(fmt.Sprintf("%.1f ms after the API server received that patch, it had stored and answered the repair: so says its "+
		"audit log. The controller's log names the rule, %s.", float64(took.Microseconds())/1000, rule))
	return d.show(ctx, clustersLine, 0)
}

// nextWrite names the rules of the write that follows those before.
func (d *demo) nextWrite(ctx context.Context, before int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := d.controller.log.wait(ctx, func(writes []record) bool { return len(writes) > before })
	if err != nil {
		return "", err
	}
	var rules []string
	for _, c := range d.controller.log.writes()[before].changed() {
		rules = append(rules, c.rule)
	}
	return strings.Join(slices.Compact(rules), ", "), nil
}
