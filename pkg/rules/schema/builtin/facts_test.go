package builtin_test

import "testing"

func TestFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ resource, path, want, reason string }{
		// What zero values become.
		{"v1/pods", "spec.hostNetwork", "a boolean; zero is absent", "a plain bool with omitempty: false equals absent"},
		{"v1/pods", "spec.automountServiceAccountToken", "a boolean", "a *bool: false is kept, and means something else than nothing"},
		{"v1/pods", "spec.priority", "an integer; format int32", "a *int32: 0 is kept"},
		{"v1/pods", "spec.nodeSelector", "a map; atomic; zero is absent", "an empty map comes back as none"},
		{"apps/v1/deployments", "status.replicas", "an integer; format int32; zero is absent", "an int32 with omitempty: 0 replicas are absent"},
		{"rbac.authorization.k8s.io/v1/roles", "rules", "a list; atomic; zero is absent", "without omitempty null is served, which is no list"},

		// What is always there because its Go type has no way of leaving it out.
		{"apps/v1/deployments", "status", "a map; always; default {}", "a struct, so {} at least"},
		{"apps/v1/deployments", "spec", "a map; required", "a struct; nothing in it may be left out"},
		{"apps/v1/replicasets", "status.replicas", "an integer; format int32; always; default 0", "no omitempty here, other than for Deployments"},
		{"v1/nodes", "status.nodeInfo.kubeletVersion", `a string; always; default ""`, "no omitempty"},
		{"v1/pods", "spec.containers[].env[].valueFrom.resourceFieldRef.divisor", `a number or a string; format quantity; always; default "0"`, "a Quantity cannot be left out"},

		// What defaulting puts there.
		{"apps/v1/deployments", "spec.replicas", "an integer; format int32; always; default 1", "defaulted to a constant"},
		{"apps/v1/deployments", "spec.revisionHistoryLimit", "an integer; format int32; always; default 10", "as kubectl explain says"},
		{"apps/v1/deployments", "spec.strategy.type", `a string; one of [Recreate RollingUpdate]; always; default "RollingUpdate"; zero is absent`, "an enumeration with a default"},
		{"apps/v1/deployments", "spec.strategy.rollingUpdate", "a map", "only there with RollingUpdate"},
		{"apps/v1/deployments", "spec.strategy.rollingUpdate.maxSurge", `an integer or a string; format int-or-string; always; default "25%"`, "where it is, it is whole"},
		{"apps/v1/statefulsets", "spec.podManagementPolicy", `a string; one of [OrderedReady Parallel]; always; default "OrderedReady"; zero is absent`, "defaulted"},
		{"v1/pods", "spec.restartPolicy", `a string; one of [Always Never OnFailure]; always; default "Always"; zero is absent`, "defaulted"},
		{"v1/pods", "spec.enableServiceLinks", "a boolean; always; default true", "defaulted in Pods"},
		{"v1/pods", "spec.containers[].imagePullPolicy", "a string; one of [Always IfNotPresent Never]; always; zero is absent", "always there, the tag of the image decides which"},
		{"v1/pods", "spec.initContainers[].terminationMessagePath", `a string; always; default "/dev/termination-log"; zero is absent`, "init containers are defaulted as well"},
		{"v1/pods", "spec.containers[].livenessProbe.periodSeconds", "an integer; format int32; always; default 10; zero is absent", "probes are defaulted"},
		{"v1/pods", "spec.volumes[].secret.defaultMode", "an integer; format int32; always; default 420", "0644"},
		{"v1/pods", "spec.serviceAccountName", "a string; zero is absent", "admission fills it, not defaulting"},
		{"batch/v1/jobs", "spec.backoffLimit", "an integer; format int32; always", "6, unless it is counted by index"},
		{"batch/v1/cronjobs", "spec.suspend", "a boolean; always; default false", "a *bool with a default"},
		{"v1/services", "spec.type", `a string; one of [ClusterIP ExternalName LoadBalancer NodePort]; always; default "ClusterIP"; zero is absent`, "defaulted"},
		{"v1/services", "spec.internalTrafficPolicy", "a string; one of [Cluster Local]", "not for ExternalName"},
		{"v1/services", "spec.ports[].targetPort", "an integer or a string; format int-or-string; always", "the port, unless something else is written"},
		{"v1/services", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "an integer; format int32; always; default 10800", "where it is with ClientIP, three hours"},
		{"v1/secrets", "type", `a string; always; default "Opaque"; zero is absent`, "defaulted"},
		{"v1/namespaces", "status.phase", `a string; one of [Active Terminating]; always; default "Active"; zero is absent`, "defaulted"},
		{"networking.k8s.io/v1/networkpolicies", "spec.policyTypes", "a list; atomic; always; zero is absent", "always some, by what else is written"},
		{"rbac.authorization.k8s.io/v1/rolebindings", "roleRef.apiGroup", `a string; always; default "rbac.authorization.k8s.io"`, "called required, yet defaulted"},
		{"storage.k8s.io/v1/storageclasses", "volumeBindingMode", `a string; one of [Immediate WaitForFirstConsumer]; always; default "Immediate"`, "defaulted"},
		{"apiextensions.k8s.io/v1/customresourcedefinitions", "spec.conversion.strategy", "a string; required", "required where a conversion is written"},

		{"apiextensions.k8s.io/v1/customresourcedefinitions", "spec.conversion", `a map; always; default {"strategy":"None"}`, "a default that is a whole object"},

		// What is required, and how things merge.
		{"v1/pods", "spec.containers", "a list; keyed by name; required; zero is absent", "no Pod without; applied by name"},
		{"v1/pods", "spec.containers[].image", "a string; always; zero is absent", "not called required, yet no container without is taken"},
		{"v1/persistentvolumeclaims", "spec.resources.requests", "a map; always; zero is absent", "no claim without a size"},
		{"v1/persistentvolumeclaims", "spec.resources.requests.storage", "a number or a string; format quantity; always", "that is the size"},
		{"v1/persistentvolumeclaims", "spec.resources.requests{}", "a number or a string; format quantity", "it may be asked for more"},
		{"v1/persistentvolumeclaims", "spec.resources.limits", "a map; zero is absent", "limits are for who wants them"},
		{"v1/services", "spec.ports", "a list; keyed by port,protocol; zero is absent", "port and protocol together are the key"},
		{"apps/v1/deployments", "spec.selector", "a map; atomic; required", "required, and applied as a whole"},
		{"apps/v1/deployments", "status.conditions", "a list; keyed by type; zero is absent", "keyed by type"},
		{"v1/pods", "spec.tolerations[].effect", "a string; one of [NoExecute NoSchedule PreferNoSchedule]; zero is absent", "an enumeration"},
		{"networking.k8s.io/v1/ingresses", "spec.rules[].http.paths[].pathType", "a string; one of [Exact ImplementationSpecific Prefix]; required", "a pointer that is required"},

		// Types and formats.
		{"v1/configmaps", "data{}", "a string", "texts only"},
		{"v1/secrets", "data{}", "a string; format bytes", "base64"},
		{"v1/pods", "spec.containers[].livenessProbe.httpGet.port", "an integer or a string; format int-or-string; required", "a number or a name"},
		{"policy/v1/poddisruptionbudgets", "spec.minAvailable", "an integer or a string; format int-or-string", "a number or a percentage"},
		{"v1/pods", "status.startTime", "a string; format time", "a time"},
		{"v1/pods", "status.conditions[].lastTransitionTime", "a string; format time; always", "whoever writes a condition says since when"},
		{"coordination.k8s.io/v1/leases", "spec.renewTime", "a string; format micro-time", "with microseconds"},
		{"apps/v1/controllerrevisions", "data", "a map; open; required", "any object"},
		{"apiextensions.k8s.io/v1/customresourcedefinitions", "spec.versions[].schema.openAPIV3Schema.properties{}.items", "anything", "anything: one schema, or a list of them"},
		{"apiextensions.k8s.io/v1/customresourcedefinitions", "spec.versions[].schema.openAPIV3Schema.properties{}.maxLength", "an integer; format int64", "schemas contain themselves"},

		// What an object within another is.
		{"v1/pods", "kind", "a string; always", "that of the object itself"},
		{"v1/nodes", "metadata.namespace", "no such field", "a Node is of the cluster"},
		{"v1/pods", "metadata.ownerReferences[].kind", "a string; required; always", "an owner is known"},

		// What a condition says.
		{"v1/pods", "status.conditions[].status", "a string; one of [False True Unknown]; always; default \"\"", "no Go type says it, its document does"},
		{"v1/componentstatuses", "conditions[].status", "a string; one of [False True Unknown]; required", "not only in a status"},
	}
	for _, tt := range tests {
		t.Run(tt.resource+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tt.resource)
			if r == nil {
				t.Fatal("no such resource")
			}
			got := "no such field"
			if f, found := find(r.Type, tt.path); found {
				got = describe(f)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s\nbecause %s", got, tt.want, tt.reason)
			}
		})
	}
}
