package differential

import "sigs.k8s.io/yaml"

// edit is a place of a built-in object and what can be put there, as a value of JSON.
// Nothing there is filled in by the API server.
type edit struct {
	path   []string
	values []any
	// keep says that nothing may take the value away: the API server would fill in
	// another, or refuse the object without it.
	keep bool
	// within says that the values are fields of an element of the list at the path.
	within bool
}

// builtinKind is a built-in kind as sequences use it.
type builtinKind struct {
	resource string
	manifest map[string]any
	edits    []edit
}

// builtins reads the table. The manifests are completed by the real API server, which
// fills in what is not said.
func builtins() []builtinKind {
	var out []builtinKind
	for _, row := range builtinTable {
		k := builtinKind{resource: row.resource, manifest: mustRead(row.manifest).(map[string]any)}
		if k.manifest["apiVersion"] == "apps/v1" {
			k.manifest = merged(k.manifest, map[string]any{"spec": mustRead(podTemplate)}).(map[string]any)
		}
		for _, e := range mustRead(row.edits).([]any) {
			said := e.(map[string]any)
			one := edit{values: said["to"].([]any), keep: said["keep"] != nil, within: said["within"] != nil}
			for _, key := range said["at"].([]any) {
				one.path = append(one.path, key.(string))
			}
			k.edits = append(k.edits, one)
		}
		out = append(out, k)
	}
	return out
}

// mustRead reads YAML of this test.
func mustRead(text string) any {
	var out any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		panic(err)
	}
	return whole(out)
}

// whole makes integers of the whole numbers that the reader of YAML has left floats.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = whole(value)
		}
	case []any:
		for i, value := range v {
			v[i] = whole(value)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

const podSpec = `
      containers:
      - {name: main, image: "main:1", env: [{name: A, value: a}], resources: {requests: {cpu: 100m}}}
      - {name: side, image: "side:1", ports: [{containerPort: 80, protocol: TCP}]}`

const podTemplate = `
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec:` + podSpec

const templateEdits = `
- {at: [spec, template, metadata, annotations], to: [{a: "1"}, {b: "2", c: ""}]}
- {at: [spec, template, metadata, labels, more], to: [x, z]}
- {at: [spec, template, spec, nodeSelector], to: [{disk: ssd}, {disk: null, zone: a}]}
- {at: [spec, template, spec, priorityClassName], to: [high]}
- {at: [spec, template, spec, terminationGracePeriodSeconds], to: [5, 60], keep: true}
- {at: [spec, template, spec, containers], to: [{name: main, image: "main:2"}], within: true, keep: true}
- {at: [spec, template, spec, containers], to: [{name: side, env: [{name: B, value: b}]}, {name: main, command: [x, "y"]}], within: true}
`

var builtinTable = []struct{ resource, manifest, edits string }{
	{"configmaps", `{apiVersion: v1, kind: ConfigMap, data: {a: "1"}}`, `
- {at: [data], to: [{a: "2"}, {b: x, a: null}, {c.d: "", e_f: w}, 7, {g: 1}, {"h i": x}]}
- {at: [binaryData], to: [{z: aGVsbG8=}, {z: "not base64"}]}
- {at: [immutable], to: [true, false, "yes"], keep: true}`},
	{"secrets", `{apiVersion: v1, kind: Secret, type: Opaque, data: {a: aGVsbG8=}}`, `
- {at: [data], to: [{a: eA==}, {b: eQ==}, {a: "%"}]}
- {at: [stringData], to: [{a: text}, {c: ""}]}
- {at: [type], to: [example.com/other], keep: true}
- {at: [immutable], to: [true, false], keep: true}`},
	{"serviceaccounts", `{apiVersion: v1, kind: ServiceAccount}`, `
- {at: [automountServiceAccountToken], to: [true, false, 1]}
- {at: [imagePullSecrets], to: [[{name: a}], [{name: a}, {name: b}], [{name: a}, {name: b}, {name: a}], []]}
- {at: [secrets], to: [[{name: a}]]}`},
	{"services", `{apiVersion: v1, kind: Service, spec: {clusterIP: None, selector: {app: x}, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}}`, `
- {at: [spec, selector], to: [{app: w}, {tier: z}]}
- {at: [spec, publishNotReadyAddresses], to: [true, false]}
- {at: [spec, ports], to: [[{name: http, port: 80, protocol: TCP, targetPort: 8080}]], keep: true}
- {at: [status, loadBalancer], to: [{}]}`},
	{"deployments", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2}}`, templateEdits + `
- {at: [spec, replicas], to: [0, 3, 5, "three"], keep: true}
- {at: [spec, paused], to: [true, false]}
- {at: [spec, minReadySeconds], to: [5]}
- {at: [status, readyReplicas], to: [0]}
- {at: [status, observedGeneration], to: [1, 2]}
- {at: [status, conditions], to: [[{type: Available, status: "True", reason: Fine, lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z"}]]}`},
	{"statefulsets", `{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: x, replicas: 2}}`, templateEdits + `
- {at: [spec, replicas], to: [0, 3], keep: true}
- {at: [spec, minReadySeconds], to: [5]}
- {at: [status, collisionCount], to: [1], keep: true}`},
	{"daemonsets", `{apiVersion: apps/v1, kind: DaemonSet, spec: {}}`, templateEdits + `
- {at: [spec, minReadySeconds], to: [5, 1.5]}
- {at: [status, observedGeneration], to: [1]}`},
	{"replicasets", `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 1}}`, templateEdits + `
- {at: [spec, replicas], to: [0, 4], keep: true}`},
	{"pods", `{apiVersion: v1, kind: Pod, spec: {containers: [{name: main, image: "main:1", env: [{name: A, value: a}, {name: B, value: b}, {name: A, value: c}], ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: TCP}]}]}}`, `
- {at: [spec, containers], to: [{name: main, image: "main:2"}, {name: main, image: "main:3"}], within: true, keep: true}
- {at: [spec, activeDeadlineSeconds], to: [60]}
- {at: [status, phase], to: [Pending, Running, Failed], keep: true}
- {at: [status, message], to: [a message]}
- {at: [status, conditions], to: [[{type: Ready, status: "False", lastProbeTime: null, lastTransitionTime: "2026-01-01T00:00:00Z"}]]}`},
	{"jobs", `{apiVersion: batch/v1, kind: Job, metadata: {labels: {stays: "yes"}}, spec: {suspend: true, manualSelector: true, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: main, image: "main:1"}]}}}}`, `
- {at: [spec, parallelism], to: [0, 2], keep: true}
- {at: [spec, suspend], to: [true, false], keep: true}
- {at: [spec, activeDeadlineSeconds], to: [60]}
- {at: [spec, ttlSecondsAfterFinished], to: [60]}`},
	{"cronjobs", `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "main:1", env: [{name: A, value: a}, {name: B, value: b}, {name: A, value: c}]}]}}}}}}`, `
- {at: [spec, jobTemplate, spec, template, spec, containers], to: [{name: main, env: [{name: A, value: d}]}, {name: main, env: [{name: B, value: d}]}, {name: main, env: [{name: C, value: d}]}], within: true}
- {at: [spec, jobTemplate, spec, template, spec, containers], to: [{name: main, image: "main:2", env: [{name: A, value: d}, {name: A, value: e}]}], within: true}
- {at: [spec, schedule], to: ["0 * * * *"], keep: true}
- {at: [spec, suspend], to: [true, false], keep: true}
- {at: [status, lastScheduleTime], to: ["2026-01-01T00:00:00Z"]}`},
	{"leases", `{apiVersion: coordination.k8s.io/v1, kind: Lease, spec: {holderIdentity: a}}`, `
- {at: [spec, holderIdentity], to: [b, c], keep: true}
- {at: [spec, leaseDurationSeconds], to: [15]}
- {at: [spec, renewTime], to: ["2026-01-01T00:00:00.000000Z"]}`},
	{"roles", `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, `
- {at: [rules], to: [[{apiGroups: [""], resources: [secrets], verbs: [list]}], [], null]}`},
	{"rolebindings", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: x}, subjects: [{kind: ServiceAccount, name: sub, namespace: default}]}`, `
- {at: [subjects], to: [[{kind: ServiceAccount, name: z, namespace: default}], null]}`},
	{"clusterroles", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, `
- {at: [rules], to: [[{nonResourceURLs: [/x], verbs: [get]}]]}`},
	{"networkpolicies", `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: {a: b}}, policyTypes: [Ingress]}}`, `
- {at: [spec, podSelector], to: [{matchLabels: {a: c}}, {}], keep: true}
- {at: [spec, ingress], to: [[{from: [{podSelector: {}}]}], [{}]]}`},
	{"poddisruptionbudgets", `{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}`, `
- {at: [spec, minAvailable], to: [2, "50%"]}
- {at: [spec, selector], to: [{matchLabels: {a: c}}]}
- {at: [status, observedGeneration], to: [1]}`},
	{"horizontalpodautoscalers", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, minReplicas: 1, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}`, `
- {at: [spec, minReplicas], to: [2], keep: true}
- {at: [spec, maxReplicas], to: [5, "x"], keep: true}
- {at: [status, currentReplicas], to: [1]}`},
	{"ingresses", `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {ingressClassName: x, rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}]}}`, `
- {at: [spec, ingressClassName], to: [w]}
- {at: [spec, tls], to: [[{hosts: [a.example.com], secretName: t}]]}`},
	{"nodes", `{apiVersion: v1, kind: Node, spec: {}}`, `
- {at: [spec, unschedulable], to: [true, false]}
- {at: [spec, taints], to: [[{key: a, effect: NoSchedule}]]}
- {at: [status, capacity], to: [{cpu: "4"}]}
- {at: [status, addresses], to: [[{type: InternalIP, address: 10.0.0.1}], [{type: InternalIP, address: 10.0.0.1}, {type: InternalIP, address: "fd00::1"}]]}`},
	{"endpointslices", `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}], ports: [{name: a, port: 80, protocol: TCP}]}`, `
- {at: [endpoints], to: [[{addresses: [10.0.0.2], conditions: {ready: false}}]], keep: true}
- {at: [ports], to: [[{name: a, port: 81, protocol: TCP}]], keep: true}`},
	{"priorityclasses", `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 5, preemptionPolicy: Never}`, `
- {at: [description], to: [x, z]}
- {at: [value], to: [6], keep: true}`},
	{"storageclasses", `{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: example.com/x}`, `
- {at: [mountOptions], to: [[a]]}
- {at: [allowVolumeExpansion], to: [true]}
- {at: [provisioner], to: [example.com/y], keep: true}`},
	{"events", `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {namespace: "@namespace@"}, eventTime: "2026-01-01T00:00:00.000000Z", action: Did, reason: So, type: Normal, reportingController: example.com/x, reportingInstance: x, regarding: {apiVersion: v1, kind: Pod, name: p, namespace: "@namespace@"}, note: a note}`, `
- {at: [series], to: [{count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z"}, {count: 3, lastObservedTime: "2026-01-01T00:02:00.000000Z"}], keep: true}
- {at: [note], to: [another], keep: true}`},
}
