package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
)

const runLine = `bin/dyncontroller run --rules examples/rules/tidbcluster/tidb-guardrails.yaml \
--logging-format=json --metrics-bind-address=0 --health-probe-bind-address=0`

const clustersLine = `columns=NAME:.metadata.name,VERSION:.spec.version,PD:.spec.pd.replicas,TIKV:.spec.tikv.replicas
bin/cluster kubectl get tidbclusters -o custom-columns=$columns`

// broken is act 1.
func (d *demo) broken(ctx context.Context) error {
	d.screen.title("Act 1: two of three TidbClusters are broken")
	d.screen.say("An API server and its etcd run now, with the TidbCluster CRD and these clusters of tidb-operator " +
		"v1.6.5. No tidb-operator runs, so no Pods appear: rules are about objects.")
	d.screen.output("\n" + sampleTable())
	d.screen.command("export KUBECONFIG=" + d.stage.plane.Kubeconfig())
	return d.show(ctx, clustersLine, 0)
}

// rules is act 2.
func (d *demo) rules(ctx context.Context) error {
	d.screen.title("Act 2: rules say how they should be")
	d.screen.say("This is one of eight. A cluster with an even number of PD members gets one more, and an Event that says why.")
	if err := d.show(ctx, "sed -n '/name: pd-quorum/,/^$/p' examples/rules/tidbcluster/tidb-guardrails.yaml", 0); err != nil {
		return err
	}
	d.screen.say("What all eight would change is shown before anything is: the API server checks each write, and stores nothing.")
	color := "never"
	if d.screen.colour {
		color = "always"
	}
	return d.show(ctx, "bin/dyncontroller diff --rules examples/rules/tidbcluster/tidb-guardrails.yaml \\\n--color="+color+" 2>&1 | cut -c -96", 0)
}

// repair is act 3.
func (d *demo) repair(ctx context.Context) error {
	d.screen.title("Act 3: the rules repair them")
	d.screen.command(runLine)
	var err error
	if d.controller, err = d.shell.start(ctx, runLine, nil); err != nil {
		return err
	}
	stop := d.busy("waiting for the rules")
	after, err := d.waitRepaired(ctx)
	stop()
	if err != nil {
		return err
	}
	changes, err := d.explained(ctx, after)
	if err != nil {
		return err
	}
	d.screen.say("It keeps running. Here it opens no port and logs JSON, from which the demo takes what rule wrote what field. " +
		"Compared with before, this has changed:")
	for _, sample := range samples() {
		d.screen.output("\n" + sample.name + ": " + countRequests(d.writesTo(sample.name)))
		d.screen.output(changeTable(changes[sample.name]))
	}
	d.screen.say("Rules that want something of the same object share a request; what one applies, it owns, so that is a request " +
		"of its own. Each carries the version of the object that the rules have seen: had somebody else changed it meanwhile, " +
		"the API server would have refused the write, and the rules would have looked again.")
	if err := d.waitEvents(ctx); err != nil {
		return err
	}
	return d.show(ctx, "bin/cluster kubectl get events --field-selector=involvedObject.kind=TidbCluster", 0)
}

func sampleTable() string {
	var rows [][]string
	for _, s := range samples() {
		rows = append(rows, []string{s.name, "examples/" + s.example, s.wrong})
	}
	return table([]string{"CLUSTER", "MADE FROM", "WHAT IS WRONG WITH IT"}, rows)
}

// waitRepaired returns the clusters when all are as they should be.
func (d *demo) waitRepaired(ctx context.Context) (map[string]*unstructured.Unstructured, error) {
	var clusters map[string]*unstructured.Unstructured
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		clusters, err = d.stage.list(ctx)
		return len(faults(clusters)) == 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("the clusters are not repaired: %w: %s%s", err, strings.Join(faults(clusters), "; "), d.controller.log.tail())
	}
	return clusters, nil
}

const pollInterval = 25 * time.Millisecond

// explained returns what has changed, by cluster, when the log says for each field which rule it was.
func (d *demo) explained(ctx context.Context, after map[string]*unstructured.Unstructured) (map[string][]change, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out := map[string][]change{}
	var unknown []string
	err := d.controller.log.wait(ctx, func([]record) bool {
		unknown = nil
		for name, before := range d.stage.before {
			out[name] = attribute(compare(before.Object, after[name].Object), d.writesTo(name))
			unknown = append(unknown, unattributed(out[name])...)
		}
		return len(unknown) == 0
	})
	if err != nil {
		return nil, fmt.Errorf("no rule accounts for the change of %q: %w", unknown, err)
	}
	return out, nil
}

func (d *demo) writesTo(name string) []record {
	return slices.DeleteFunc(d.controller.log.writes(), func(r record) bool { return r.Name != name })
}

func changeTable(changes []change) string {
	if len(changes) == 0 {
		return ""
	}
	var rows [][]string
	for _, c := range changes {
		rows = append(rows, []string{c.rule, c.field, c.String()})
	}
	return table([]string{"RULE", "FIELD", "BEFORE -> AFTER"}, rows)
}

// countRequests sums up requests by their kind.
func countRequests(writes []record) string {
	if len(writes) == 0 {
		return "no rule matched, no request was sent"
	}
	var kinds []string
	for _, w := range writes {
		kinds = append(kinds, map[string]string{"merge": "a merge patch", "json": "a JSON patch", "apply": "a server-side apply"}[w.Type])
	}
	if len(kinds) == 1 {
		return "1 request, " + kinds[0]
	}
	return fmt.Sprintf("%d requests, %s", len(kinds), strings.Join(kinds, " and "))
}

// waitEvents returns when the Events that follow the writes are there.
func (d *demo) waitEvents(ctx context.Context) error {
	var missing []string
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		events, err := d.stage.events.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		missing = missingEvents(events.Items)
		return len(missing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the Events %q: %w%s", missing, err, d.controller.log.tail())
	}
	return nil
}

func missingEvents(events []unstructured.Unstructured) []string {
	seen := map[string]bool{}
	for _, event := range events {
		name, _, _ := unstructured.NestedString(event.Object, "regarding", "name")
		reason, _, _ := unstructured.NestedString(event.Object, "reason")
		seen[name+" "+reason] = true
	}
	var missing []string
	for _, sample := range samples() {
		for _, reason := range sample.reasons {
			if wanted := sample.name + " " + reason; !seen[wanted] {
				missing = append(missing, wanted)
			}
		}
	}
	return missing
}
