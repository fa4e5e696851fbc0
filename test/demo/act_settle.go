package main

import (
	"context"
	"fmt"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// settle is act 5.
func (d *demo) settle(ctx context.Context) error {
	d.screen.title("Act 5: once all is right, nothing is written")
	stop := d.busy("interrupting the controller")
	err := d.controller.stop()
	stop()
	if err != nil {
		return err
	}
	d.screen.say("The controller was interrupted, finished what it was at and ended with exit code 0. A new one starts from " +
		"nothing, looks at all clusters and settles:")
	before, err := d.stage.plane.Requests(ctx)
	if err != nil {
		return err
	}
	if err := d.show(ctx, "bin/dyncontroller run --rules examples/rules/tidbcluster/tidb-guardrails.yaml --once", 0); err != nil {
		return err
	}
	after, err := d.stage.plane.Requests(ctx)
	if err != nil {
		return err
	}
	if written := writesOf(after.Since(before)); len(written) > 0 {
		return fmt.Errorf("the API server counted writes:\n%s", written)
	}
	d.screen.say("The API server agrees: its own metric apiserver_request_total has counted 0 writes meanwhile, but for the lease " +
		"that it renews for itself.")
	return nil
}

// writesOf leaves out the leases by which API servers know of each other.
func writesOf(requests controlplane.Requests) controlplane.Requests {
	writes := requests.Writes()
	for request := range writes {
		if request.Group == "coordination.k8s.io" && request.Resource == "leases" {
			delete(writes, request)
		}
	}
	return writes
}
