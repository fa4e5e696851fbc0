package main

import (
	"strings"
	"time"
)

// example is a rule file and the controllers that it is held against. All that it is about is called "web".
type example struct {
	name        string
	controllers string        // of kube-controller-manager
	kinds       []string      // that are compared; the first is what the controller is for, the second what it makes
	base        string        // of a first object
	quiet       time.Duration // how long nothing changes when all is done; more than the controllers wait between two steps
	columns     []column
}

func examples() []example {
	return []example{
		{
			name: "replicaset", controllers: "replicaset-controller", kinds: []string{"replicasets", "pods"}, base: "set",
			quiet: 2500 * time.Millisecond,
			columns: []column{
				{"number of Pods", count("pods")},
				{"which Pods", each("pods", "metadata.labels", "metadata.deletionTimestamp", "spec.nodeName", "status")},
				{"metadata", each("pods", "metadata.generateName", "metadata.labels", "metadata.annotations", "metadata.generation")},
				{"owners", each("pods", "metadata.ownerReferences")},
				{"finalizers", each("pods", "metadata.finalizers")},
				{"spec", each("pods", "spec")},
				{"status: counts", each("replicasets", "metadata.name", "status.replicas", "status.fullyLabeledReplicas",
					"status.readyReplicas", "status.availableReplicas", "status.terminatingReplicas")},
				{"conditions", each("replicasets", "metadata.name", "status.conditions")},
				{"observed- Generation", each("replicasets", "metadata.name", "status.observedGeneration")},
				{"ReplicaSet", each("replicasets", "metadata", "spec")},
			},
		},
		{
			name: "endpoints", controllers: "endpoints-controller", kinds: []string{"services", "endpoints", "pods"}, base: "service",
			quiet: 2500 * time.Millisecond,
			columns: []column{
				{"which", each("endpoints", "metadata.name")},
				{"addresses", subsets("addresses")},
				{"notReady- Addresses", subsets("notReadyAddresses")},
				{"ports", subsets("ports")},
				{"order of addresses", inOrder},
				{"labels", each("endpoints", "metadata.name", "metadata.labels")},
				{"annotations", each("endpoints", "metadata.name", "metadata.annotations")},
				{"owners, finalizers", each("endpoints", "metadata.name", "metadata.ownerReferences", "metadata.finalizers")},
				{"Services", each("services", "metadata", "spec")},
				{"Pods", each("pods", "metadata", "spec", "status")},
			},
		},
		{
			name: "job", controllers: "job-controller,ttl-after-finished-controller", kinds: []string{"jobs", "pods"}, base: "job",
			quiet: 4 * time.Second, // The job controller waits for one second after each change of a Pod.
			columns: []column{
				{"number of Pods", count("pods")},
				{"which Pods", each("pods", "metadata.deletionTimestamp", "spec.nodeName", "status")},
				{"metadata", each("pods", "metadata.generateName", "metadata.labels", "metadata.annotations")},
				{"owners", each("pods", "metadata.ownerReferences")},
				{"finalizers", each("pods", "metadata.finalizers", "metadata.deletionTimestamp", "status.phase")},
				{"spec", each("pods", "spec")},
				{"status: counts", each("jobs", "status.active", "status.ready", "status.succeeded", "status.failed", "status.terminating")},
				{"uncounted", each("jobs", "status.uncountedTerminatedPods")},
				{"times", each("jobs", "status.startTime", "status.completionTime")},
				{"conditions", each("jobs", "status.conditions")},
				{"Job", each("jobs", "metadata", "spec")},
			},
		},
	}
}

func count(kind string) func(view) any { return func(v view) any { return len(v[kind]) } }

// subsets has a field of all subsets, each element with the ports that it belongs to. Their order has no meaning:
// kube-controller-manager takes that of a hash.
func subsets(of string) func(view) any {
	return func(v view) any {
		out := list{}
		for _, endpoints := range v["endpoints"] {
			all, _ := endpoints["subsets"].(list)
			for _, subset := range all {
				elements, _ := at(subset, of).(list)
				for _, element := range elements {
					out = append(out, object{"endpoints": at(endpoints, "metadata.name"), of: element, "with": text(at(subset, "ports"))})
				}
			}
		}
		return sorted(out)
	}
}

// inOrder has the IPs of each subset in their order.
func inOrder(v view) any {
	out := list{}
	for _, endpoints := range v["endpoints"] {
		all, _ := endpoints["subsets"].(list)
		for _, subset := range all {
			one := object{"endpoints": at(endpoints, "metadata.name"), "with": text(at(subset, "ports"))}
			for _, of := range []string{"addresses", "notReadyAddresses"} {
				var ips []string
				elements, _ := at(subset, of).(list)
				for _, element := range elements {
					ips = append(ips, text(at(element, "ip")))
				}
				one[of] = strings.Join(ips, " ")
			}
			out = append(out, one)
		}
	}
	return sorted(out)
}
