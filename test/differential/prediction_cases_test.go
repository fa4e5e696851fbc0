package differential

// predictionTable has the kinds of which operations are predicted: atomic and granular maps, lists that are atomic, sets, or merged by keys
// with defaults, fields with defaults, fields of two types, embedded and unknown ones. Where a built-in kind has a default that depends on
// another field, as imagePullPolicy on image, the field is written out.
var predictionTable = []struct{ resource, base, parts, status string }{
	{
		resource: "gadgets", base: `{spec: {}}`, parts: metadataParts + `
- {spec: {replicas: 2}}
- {spec: {replicas: 5, color: green}}
- {spec: {color: blue, low: 1}}
- {spec: {port: 80}}
- {spec: {port: http, ratio: 1.5}}
- {spec: {members: [a, b]}}
- {spec: {members: [c, b]}}
- {spec: {members: [d]}}
- {spec: {parts: [{name: a, size: 1}]}}
- {spec: {parts: [{name: a, protocol: UDP, tags: {x: v}}, {name: b}]}}
- {spec: {parts: [{name: b, size: 2, tags: {x: z}}, {name: a, protocol: TCP, tags: {k: v}}]}}
- {spec: {parts: [{name: a, tags: {x: w, k: l}}]}}
- {spec: {order: [{a: 1}, {b: x}]}}
- {spec: {order: [{b: v}]}}
- {spec: {whole: {a: x}}}
- {spec: {whole: {b: 3}}}
- {spec: {whole: {a: z, b: 1}}}
- {spec: {deep: {er: {est: false}}}}
- {spec: {deep: {}, high: 9}}
- {spec: {loose: {known: 1, list: [1, 2], map: {a: b}}}}
- {spec: {loose: {list: [3], map: {c: d}}}}
- {spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: t, labels: {a: b}}, data: {x: v}}}}
- {spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: t, labels: {c: d}, annotations: {e: f}}, data: {z: v}}}}
- {spec: {maybe: other}}
- {spec: {choice: {a: x}}}
- {spec: {tuned: {by: x}}}
- {spec: {tuned: {to: [a]}}}
- {spec: {tuned: {to: []}}}
`, status: `
- {status: {replicas: 1}}
- {status: {selector: a=b}}
- {status: {conditions: [{type: A, status: "True"}]}}
- {status: {conditions: [{type: B}, {type: A, status: "False"}]}}
`,
	},
	{
		resource: "deployments", base: `{}`, parts: metadataParts + `
- {spec: {replicas: 2}}
- {spec: {replicas: 5, minReadySeconds: 3}}
- {spec: {paused: true, revisionHistoryLimit: 3}}
- {spec: {progressDeadlineSeconds: 700}}
- {spec: {template: {spec: {nodeSelector: {zone: a, arch: amd64}}}}}
- {spec: {template: {spec: {nodeSelector: {disk: ssd}}}}}
- {spec: {template: {spec: {tolerations: [{key: a, operator: Exists}]}}}}
- {spec: {template: {spec: {containers: [{name: added, imagePullPolicy: Always, image: "x:1", ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]}]}}}}
- {spec: {template: {spec: {containers: [{name: added, imagePullPolicy: Always, image: "x:2", env: [{name: A, value: a}, {name: B, value: b}]}]}}}}
- {spec: {template: {spec: {containers: [{name: added, imagePullPolicy: Always, image: "x:2", tty: true, env: [{name: B, value: c}], ports: [{containerPort: 81, name: web}]}]}}}}
- {spec: {template: {spec: {containers: [{name: added, imagePullPolicy: Always, image: "x:1", resources: {limits: {cpu: 500m, memory: 1Gi}}}]}}}}
- {spec: {template: {spec: {containers: [{name: added, imagePullPolicy: Always, image: "x:1", resources: {limits: {cpu: "0.5"}}, args: [a, b]}]}}}}
- {spec: {template: {spec: {containers: [{name: second, image: "y:1", imagePullPolicy: Always}, {name: added, imagePullPolicy: Always, image: "x:1", args: [c]}]}}}}
- {spec: {template: {spec: {volumes: [{name: v, emptyDir: {}}]}}}}
- {spec: {template: {spec: {volumes: [{name: w, emptyDir: {medium: Memory}}, {name: v, emptyDir: {}}]}}}}
- {spec: {template: {spec: {imagePullSecrets: [{name: a}]}}}}
- {spec: {template: {spec: {imagePullSecrets: [{name: b}, {name: a}], hostNetwork: false}}}}
- {spec: {template: {metadata: {annotations: {a: b}}}}}
- {spec: {template: {metadata: {annotations: {c: d}}, spec: {securityContext: {runAsUser: 5}}}}}
`, status: `
- {status: {replicas: 1}}
- {status: {conditions: [{type: A, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z"}]}}
- {status: {conditions: [{type: B, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z"}]}}
`,
	},
	{
		resource: "services", base: `{}`, parts: metadataParts + `
- {spec: {selector: {app: a}}}
- {spec: {selector: {extra: x}}}
- {spec: {ports: [{name: a, port: 80, targetPort: 8080}]}}
- {spec: {ports: [{name: b, port: 80, protocol: UDP, targetPort: web}]}}
- {spec: {ports: [{name: a, port: 80, protocol: TCP, targetPort: web}, {name: c, port: 81, targetPort: 81}]}}
- {spec: {ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 80, protocol: UDP, targetPort: web}]}}
- {spec: {publishNotReadyAddresses: true}}
- {spec: {sessionAffinity: None}}
`,
	},
	{
		resource: "configmaps", base: `{}`, parts: metadataParts + `
- {data: {a: "1"}}
- {data: {a: "2", b: "2"}}
- {data: {c: "3"}}
- {data: {b: ""}}
- {binaryData: {d: AAEC}}
- {binaryData: {e: AAE=}, data: {a: "1"}}
`,
	},
	{
		resource: "networkpolicies", base: `{}`, parts: metadataParts + `
- {spec: {podSelector: {matchLabels: {app: a}}}}
- {spec: {podSelector: {matchLabels: {b: c}}}}
- {spec: {podSelector: {matchExpressions: [{key: a, operator: Exists}]}}}
- {spec: {policyTypes: [Ingress]}}
- {spec: {policyTypes: [Ingress, Egress]}}
- {spec: {ingress: [{from: [{podSelector: {matchLabels: {a: b}}}], ports: [{port: 80, protocol: TCP}]}]}}
- {spec: {ingress: [{}]}}
- {spec: {egress: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}]}], policyTypes: [Egress]}}
`,
	},
}

// metadataParts are of every kind.
const metadataParts = `
- {metadata: {labels: {a: b}}}
- {metadata: {labels: {a: c, d: e}}}
- {metadata: {annotations: {example.com/x: v}}}
- {metadata: {annotations: {example.com/z: ""}, labels: {f: g}}}
- {metadata: {finalizers: [example.com/a]}}
- {metadata: {finalizers: [example.com/b, example.com/a]}}
- {metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: 8f14e45f-ceea-467f-a000-000000000000}]}}
`
