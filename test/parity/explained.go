package main

import "regexp"

const annotationDocs = "https://kubernetes.io/docs/reference/labels-annotations-taints/#endpoints-kubernetes-io-last-change-trigger-time"

// explained are the differences that have a reason. The number of each is its place.
func explained() []known {
	readme := func(example string) string {
		return "[its README](../examples/rules/" + example + "/README.md#what-it-cannot-do-and-why)"
	}
	return []known{
		{
			regexp.MustCompile(`^replicaset \| conditions \| .*conditions\[\]\.message: "(.*)" != "creating pods .*: .* is forbidden: exceeded quota: `),
			"The message of `ReplicaFailure` has other words around those of the API server. It is [for people]" +
				"(https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/replica-set-v1/#ReplicaSetStatus)",
		},
		{
			regexp.MustCompile(`^endpoints \| annotations \| .*last-change-trigger-time"?: ?"TIME"}? != null$`),
			"The annotation `last-change-trigger-time` is left out. It [tells kube-proxy](" + annotationDocs + ") how long an update took, " +
				"and no address depends on it",
		},
		{
			regexp.MustCompile(`^endpoints \| (notReady.*: .*"notReadyAddresses":.* != null|order.*notReadyAddresses.* != (""|null))$`),
			"A Pod that was not ready and then ends is no endpoint, and the rule removes it at once. kube-controller-manager does so " +
				"with the next change, since it [does not look at the phase](https://github.com/kubernetes/kubernetes/blob/" +
				"v1.37.1/staging/src/k8s.io/endpointslice/util/controller_utils.go#L208) of a Pod that changes",
		},
		{
			regexp.MustCompile(`^endpoints \| labels \| .*labels\.by: null != "hand"$`),
			"A label that another client has put on the Endpoints stays: server-side apply [leaves the fields of others alone]" +
				"(https://kubernetes.io/docs/reference/using-api/server-side-apply/)",
		},
		{
			regexp.MustCompile(`^endpoints \| (addresses|notReady|order|ports|labels|annotations).* \| .*Endpoints of a user; .*select web`),
			"Endpoints that a user has made stay as they are when the Service gets a selector later: " + readme("endpoints"),
		},
		{
			regexp.MustCompile(`^job \| (number|which|metadata|owners|finalizers|spec|status).*podReplacementPolicy.*after finish terminating: `),
			"The back-off is read from failed Pods that are still there. kube-controller-manager keeps it in memory, " +
				"until it is started again: " + readme("job"),
		},
	}
}
