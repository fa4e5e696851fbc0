package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// canonicalKinds are what sameness is tried on: a built-in kind is stored as its Go type
// encodes it, a custom resource as it came, with the defaults of its schema.
var canonicalKinds = map[string]struct {
	gvr      apischema.GroupVersionResource
	declared string
	manifest string
}{
	"deployment": {
		apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		"{group: apps, version: v1, resource: deployments}",
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: it}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
			spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}}}`,
	},
	"service": {
		services, "{version: v1, resource: services}",
		`{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {a: b}, ports: [{port: 80}]}}`,
	},
	"account": {
		serviceaccounts, "{version: v1, resource: serviceaccounts}",
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: it}}`,
	},
	"secret": {
		apischema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		"{version: v1, resource: secrets}",
		`{apiVersion: v1, kind: Secret, metadata: {name: it}}`,
	},
	"lease": {
		apischema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
		"{group: coordination.k8s.io, version: v1, resource: leases}",
		`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: it}, spec: {holderIdentity: me}}`,
	},
	"autoscaler": {
		autoscalers, "{group: autoscaling, version: v2, resource: horizontalpodautoscalers}",
		`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: it},
			spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}`,
	},
	"tidb": {
		tidbclusters, "{group: pingcap.com, version: v1alpha1, resource: tidbclusters}",
		`{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, metadata: {name: it}, spec: {version: v8.5.5,
			pd: {replicas: 1, requests: {storage: 1Gi}}, tikv: {replicas: 1, requests: {storage: 1Gi}}, tidb: {replicas: 1}}}`,
	},
}

// TestStoredDifferently holds that a rule whose wish is stored in another form writes
// once at most, and never where what it wants is there already: each run is a new
// process, which remembers nothing.
func TestStoredDifferently(t *testing.T) {
	alongside(t)
	described(t, tidbclusters)
	for name, tc := range map[string]struct {
		reason string
		on     string
		patch  string
		writes int    // of the first run
		path   string // to what is stored then
		want   any
	}{
		"quantity": {
			"One amount has one text.", "deployment",
			`json: [{op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 1000m}]`,
			1, "spec.template.spec.containers.0.resources.requests.cpu", "1",
		},
		"quantity that is there": {
			"It is there in another text.", "deployment",
			`json: [{op: replace, path: /spec/template/spec/containers/0/resources/requests, value: {cpu: "0.5", memory: 1024Mi}}]`, 0, "", nil,
		},
		"zero": {
			"It is not stored.", "deployment",
			`merge: {spec: {paused: false, template: {spec: {hostNetwork: false, hostPID: false}}}}`, 0, "spec.paused", nil,
		},
		"zero beside something": {
			"What is stored is written, the rest is not.", "deployment",
			`merge: {spec: {minReadySeconds: 5, template: {spec: {hostNetwork: false}}}}`, 1, "spec.minReadySeconds", int64(5),
		},
		"zero behind a pointer": {
			"It is stored, and says something.", "account",
			`merge: {automountServiceAccountToken: false}`, 1, "automountServiceAccountToken", false,
		},
		"applied zero": {
			"What is applied is owned, whether it is stored or not.", "deployment",
			`apply: {spec: {minReadySeconds: 5, template: {spec: {hostNetwork: false}}}}`, 1, "spec.minReadySeconds", int64(5),
		},
		"nothing but an applied zero": {
			"What is applied is owned, once.", "deployment",
			`apply: {spec: {template: {spec: {hostNetwork: false}}}}`, 1, "spec.template.spec.hostNetwork", nil,
		},
		"default written": {
			"It is there.", "deployment",
			`merge: {spec: {revisionHistoryLimit: 10, template: {spec: {dnsPolicy: ClusterFirst}}}}`, 0, "", nil,
		},
		"default removed": {
			"It comes back.", "deployment",
			`merge: {spec: {revisionHistoryLimit: null, template: {spec: {dnsPolicy: null}}}}`, 0, "", nil,
		},
		"default in a list": {
			"Elements have defaults too.", "service",
			`merge: {spec: {ports: [{port: 80, targetPort: 80}], sessionAffinity: null}}`, 0, "", nil,
		},
		"text of bytes": {
			"Line breaks in base64 are not stored.", "secret",
			`merge: {data: {a: "Zm9v\n"}}`, 1, "data.a", "Zm9v",
		},
		"time": {
			"It is stored in UTC.", "lease",
			`merge: {spec: {renewTime: "2026-01-31T12:00:00.000000+01:00"}}`, 1, "spec.renewTime", "2026-01-31T11:00:00.000000Z",
		},
		"default of another kind": {
			"One that a Go function fills in.", "autoscaler",
			`merge: {spec: {minReplicas: null}}`, 0, "spec.minReplicas", int64(1),
		},
		"default of a CRD": {
			"Its schema has it.", "tidb",
			`merge: {spec: {pvReclaimPolicy: null}}`, 0, "spec.pvReclaimPolicy", "Retain",
		},
		"default of a CRD in place of something": {
			"What was there goes, the default comes.", "tidb",
			`merge: {spec: {pvReclaimPolicy: "${object.spec.pvReclaimPolicy == 'Delete' ? nil : object.spec.pvReclaimPolicy}"}}`, 0, "", nil,
		},
		"quantity of a CRD": {
			"The text stays as it came, and the amount is the same.", "tidb",
			`merge: {spec: {pd: {requests: {storage: 1024Mi}}}}`, 0, "spec.pd.requests.storage", "1Gi",
		},
		"another quantity of a CRD": {
			"Another amount is written.", "tidb",
			`merge: {spec: {pd: {requests: {storage: 2048Mi}}}}`, 1, "spec.pd.requests.storage", "2048Mi",
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			kind := canonicalKinds[tc.on]
			create(t, kind.gvr, namespace, kind.manifest)
			text := strings.Replace(about("RuleSet", kind.declared, "actions: [{patch: {"+tc.patch+"}}]"),
				"{name: typed}", "{name: typed, namespace: "+namespace+"}", 1)
			rules := rulesFile(t, namespace, strings.Replace(text, "watch: them", `watch: them
    when: object.metadata.name == "it"`, 1))
			first := patchesOf(t, kind.gvr, "--rules", rules)
			if first != tc.writes {
				t.Errorf("%s the first run sent %d writes, want %d", tc.reason, first, tc.writes)
			}
			if again := patchesOf(t, kind.gvr, "--rules", rules); again != 0 {
				t.Errorf("%s the second run sent %d writes", tc.reason, again)
			}
			if tc.path != "" {
				if diff := cmp.Diff(tc.want, at(get(t, kind.gvr, namespace, "it").Object, tc.path)); diff != "" {
					t.Errorf("%s stored (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// patchesOf settles, and returns how many writes of a resource that took.
func patchesOf(t *testing.T, gvr apischema.GroupVersionResource, args ...string) int {
	t.Helper()
	before := requests(t)
	args = append([]string{"--allow-sensitive=leases,secrets"}, args...)
	if output, code := once(t, args...); code != 0 {
		t.Fatalf("ended with %d:\n%s", code, output)
	}
	after := requests(t).Since(before)
	count := func(verb string) int {
		return after.Count(controlplane.Request{Verb: verb, Group: gvr.Group, Resource: gvr.Resource})
	}
	return count("PATCH") + count("APPLY")
}

// at is what is at a path, in which the elements of lists are numbers of one digit.
func at(value any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := value.(type) {
		case map[string]any:
			value = in[step]
		case []any:
			value = in[step[0]-'0']
		}
	}
	return value
}
