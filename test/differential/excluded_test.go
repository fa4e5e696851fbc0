package differential

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// switchedOff are the admission plugins that the real API server runs without here.
func switchedOff() []string { return []string{"ServiceAccount", "StorageObjectInUseProtection"} }

// difference is what the simulated cluster does otherwise and why that is left so.
type difference struct{ what, reason string }

// differences are all that are known: what is excluded from the sequences, and what is
// made equal before answers are compared.
func differences() []difference {
	return []difference{
		{
			"No default is filled into built-in objects, but for the labels of Namespaces, `status.allocatable` of Nodes and `stringData` of Secrets",
			"The defaults are in packages of Kubernetes that cannot be imported; write built-in objects as they are stored",
		},
		{
			"Of built-in objects, metadata, names, immutable fields, keys of ConfigMaps and Secrets, Events, and changes of Pods are validated, nothing else",
			"The validation is in packages of Kubernetes that cannot be imported; types, unknown fields and fields of custom resources are checked by the API server's own code",
		},
		{
			"Services get no cluster IP and no ports of nodes",
			"There is nothing to allocate from; fixtures have them as stored",
		},
		{
			"There is no admission but that of terminating namespaces: no tokens in Pods, no priorities, no finalizers that protect volumes, no policies, no webhooks",
			"What is admitted depends on how a cluster is configured",
		},
		{
			"A write that changes nothing never raises the resourceVersion; a real API server's first one does of a PersistentVolumeClaim, of a Secret with null in its data, and where others have applied in a later second",
			"It stores the object anew, or the entries of `managedFields` in another order",
		},
		{
			"Objects are not converted between versions: a custom resource has the same fields in each",
			"Conversion webhooks cannot be asked offline; where a definition has none, it is the same",
		},
		{
			"Of built-in kinds in several versions, one is served",
			"The conversion is in packages of Kubernetes that cannot be imported; rules name the newest stable version",
		},
		{
			"Subresources of built-in kinds other than `status` and `scale` are not served, nor are Bindings, reviews, APIServices and CustomResourceDefinitions",
			"The code behind them is in packages of Kubernetes that cannot be imported; the error says that a real API server has them",
		},
		{
			"Namespaces need not exist",
			"A fixture for each would say nothing",
		},
		{
			"A refused change of an immutable field of a built-in kind may show the value where a real API server shows null, and of a Pod is shown without the difference; a Scale of the wrong type is refused in other words",
			"The wording is that of Kubernetes' own validation",
		},
		{
			"A refused uid of a write names another key of storage",
			"The objects are not in etcd",
		},
		{
			"Uids, resourceVersions, generated names and times are others, and the entries of `managedFields` stand in the order of these times",
			"They are the same in every run, so that goldens are",
		},
		{
			"What is found wrong may be enumerated in another order",
			"A real API server finds it in the order of a map, too",
		},
		{
			"The `resourceVersion` of what an Event regards may be that before or after a write of the same rules",
			"It depends on when a real controller sees its own write",
		},
		{
			"Lists come whole, without pages; warnings are not compared",
			"Rules see neither",
		},
	}
}

// TestDifferencesAreTold holds that the reference lists them.
func TestDifferencesAreTold(t *testing.T) {
	data, err := os.ReadFile("../../docs/reference/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, d := range differences() {
		want = append(want, fmt.Sprintf("| %s | %s |", d.what, d.reason))
	}
	_, table, _ := strings.Cut(string(data), "|---|---|\n")
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "|") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of docs/reference/simulation.md (-want +got):\n%s", diff)
	}
}
