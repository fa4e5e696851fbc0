package main

import (
	"context"
	"fmt"
)

// keep leaves a controller running, and shows what it does, until interrupted.
func (d *demo) keep(ctx context.Context) (err error) {
	d.screen.title("It keeps running")
	d.screen.say("Try this in another terminal, from the same folder:")
	d.screen.command("export KUBECONFIG=" + d.stage.plane.Kubeconfig() + `
bin/cluster kubectl get tidbclusters
bin/cluster kubectl patch tidbcluster search --type=merge -p '{"spec":{"tikv":{"replicas":2}}}'
bin/cluster kubectl label tidbcluster search team-
bin/cluster kubectl get events --watch`)
	d.screen.say("Or change examples/rules/tidbcluster/tidb-guardrails.yaml, for example needed: 3 to needed: 5. It takes " +
		"effect when you save it; if there is a mistake in it, the rules from before stay in effect.")
	d.screen.say("Ctrl-C here stops everything. Until then, this is what the controller does:")
	fmt.Fprintln(d.screen.out)
	d.controller, err = d.shell.start(ctx, runLine, func(r record) {
		d.screen.output(fmt.Sprintf("%s  %s", d.clock.Now().Format("15:04:05"), r))
	})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		fmt.Fprintln(d.screen.out)
		return nil
	case <-d.controller.over:
		return fmt.Errorf("dyncontroller ended:%s", d.controller.log.tail())
	}
}
