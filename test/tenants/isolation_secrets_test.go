package tenants

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

var (
	secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	leases  = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

// copiers are the ways to get what is in a Secret into a ConfigMap.
var copiers = map[string]string{
	"by-with": `watch: seeds, with: {vault: {resource: secrets, name: vault}},
    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: by-with}, data: {stolen: "${fromBase64(vault?.data?.of ?? '')}"}}}}]`,
	"by-watch": `watch: secrets,
    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: by-watch}, data: {stolen: "${fromBase64(object.data?.of ?? '')}"}}}}]`,
	"by-patch": `watch: seeds, with: {vaults: {resource: secrets, all: true}},
    actions: [{patch: {merge: {data: {stolen: "${toJSON(vaults)}"}}}}]`,
}

// mayOwn allows what is made to have an owner, and what comes back to be counted.
const mayOwn = `{apiGroups: ["", events.k8s.io], resources: [configmaps/finalizers, secrets/finalizers, events], verbs: [get, update, patch, create]}`

// TestSecretNotCopied holds that who may not read a Secret gets nothing of it, though a
// ClusterRuleSet of the same process reads all of them, and that its set says why.
func TestSecretNotCopied(t *testing.T) {
	alongside(t)
	h := &house{a: cluster(t).Namespace(t), home: cluster(t).Namespace(t), since: time.Now()}
	defer h.leave(t)
	start(t, cluster(t), "--allow-sensitive=secrets") // Which gives nobody rights.
	account(t, cluster(t), h.a, "bot", editor, mayTell, mayOwn)
	apply(t, cluster(t), h.a, seed)
	warden(t, h.home)
	for name, rule := range copiers {
		apply(t, cluster(t), h.a, secretive(name, rule))
	}
	apply(t, cluster(t), h.a, secretive("by-apply", `watch: seeds, actions: [{apply: {resource: secrets, adopt: true, manifest: {metadata: {name: vault}, data: {mine: eA==}}}}]`))
	eventually(t, "the ClusterRuleSet has read the Secret", func() bool {
		return get(t, cluster(t), configmaps, h.a, "seed").GetAnnotations()["sealed"] != ""
	})
	degradedBy(t, h.a, "by-with", "get", "list", "watch")
	degradedBy(t, h.a, "by-watch", "get", "list", "watch")
	degradedBy(t, h.a, "by-patch", "list", "watch")
	degradedBy(t, h.a, "by-apply", "create", "get", "list", "patch", "watch")
	edit(t, cluster(t), configmaps, h.a, "seed", `{"data": {"again": "yes"}}`)

	for _, r := range about(t, h.since, "system:serviceaccount:"+h.a+":bot", "secrets") {
		if r.granted() {
			t.Errorf("it was given: %s %s", r.Verb, r.RequestURI)
		}
	}
	for _, name := range []string{"by-with", "by-watch"} {
		if get(t, cluster(t), configmaps, h.a, name) != nil {
			t.Errorf("there is a copy %s", name)
		}
	}
	if stolen := field(get(t, cluster(t), configmaps, h.a, "seed"), "data", "stolen"); stolen != nil {
		t.Errorf("%v was copied", stolen)
	}
}

// degradedBy waits until a set says that it lacks these verbs on Secrets, and nothing else.
// While permissions are reviewed or caches list, the message says that too.
func degradedBy(t *testing.T, namespace, name string, verbs ...string) {
	t.Helper()
	var lines []string
	for _, verb := range verbs {
		lines = append(lines, "rule steal may not "+verb+" secrets in namespace "+namespace+" (as "+namespace+"/bot)")
	}
	want := strings.Join(lines, "\n")
	var reason, message string
	if !controlplane.Wait(90*time.Second, func() bool {
		_, reason, message = condition(t, cluster(t), ruleSets, namespace, name, "Ready")
		return reason == "Degraded" && message == want
	}) {
		t.Fatalf("%s is %s (-want +got):\n%s", name, reason, cmp.Diff(want, message))
	}
}

// secretive is a set of one rule that has to do with Secrets.
func secretive(name, rule string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ` + name + `, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    configmaps: {version: v1, resource: configmaps}
    secrets: {version: v1, resource: secrets}
    accounts: {version: v1, resource: serviceaccounts}
    roles: {group: rbac.authorization.k8s.io, version: v1, resource: roles}
    leases: {group: coordination.k8s.io, version: v1, resource: leases}
    sets: {group: dyncontroller.dev, version: v1alpha1, resource: rulesets}
  rules:
  - {name: steal, ` + rule + `}
`
}

// sharp are writes that an administrator has to allow, by what they are called in
// --allow-sensitive.
var sharp = map[string]struct{ rule, says string }{
	"secrets": {makes("secrets", `data: {a: eA==}`), "apply: secrets.v1 are written"},
	"rbac":    {makes("roles", `rules: []`), "apply: roles.v1.rbac.authorization.k8s.io are written"},
	"leases":  {makes("leases", `spec: {holderIdentity: me}`), "apply: leases.v1.coordination.k8s.io are written"},
	"rules":   {`watch: seeds, with: {found: {resource: sets, all: true}}, actions: [{patch: {target: found, merge: {metadata: {labels: {mine: "yes"}}}}}]`, "patch: rulesets.v1alpha1.dyncontroller.dev are written"},
}

func makes(resource, content string) string {
	return `watch: seeds, actions: [{apply: {resource: ` + resource + `, manifest: {metadata: {name: sharp}, ` + content + `}}}]`
}

// sharpest are those of the whole cluster.
var sharpest = map[string]struct{ resource, says string }{
	"webhooks": {"{group: admissionregistration.k8s.io, version: v1, resource: mutatingwebhookconfigurations}", "mutatingwebhookconfigurations.v1.admissionregistration.k8s.io are written"},
	"crds":     {"{group: apiextensions.k8s.io, version: v1, resource: customresourcedefinitions}", "customresourcedefinitions.v1.apiextensions.k8s.io are written"},
}

// TestSensitiveWrites holds that what gains rights is written only where the flag names
// it: the set says what to run with, and nothing is sent.
func TestSensitiveWrites(t *testing.T) {
	alongside(t)
	h := &house{a: cluster(t).Namespace(t), home: cluster(t).Namespace(t), since: time.Now()}
	defer h.leave(t)
	account(t, cluster(t), h.a, "bot", editor, mayTell)
	apply(t, cluster(t), h.a, everything+"---\n"+seed)
	unallowed := start(t, cluster(t))
	h.sharpen(t)
	for name, one := range sharp {
		notAllowed(t, h.a, name, name, one.says)
	}
	for name, one := range sharpest {
		notAllowed(t, "", name+"-"+h.home, name, "patch: "+one.says)
	}
	for _, r := range requests(t, h.since) {
		if strings.HasPrefix(r.as(), "system:serviceaccount:"+h.a) {
			t.Errorf("what is not allowed asks for something: %s %s", r.Verb, r.RequestURI)
		}
	}
	unallowed.stop(t)

	start(t, cluster(t), "--allow-sensitive=secrets,rbac,leases,rules,webhooks,crds")
	for _, name := range []string{"secrets", "rbac", "leases", "rules"} {
		kubectl(t, controlPlane(t), "wait", "--for=condition=Ready", "--timeout=2m", "-n", h.a, "ruleset/"+name)
	}
	for name := range sharpest {
		kubectl(t, controlPlane(t), "wait", "--for=condition=Ready", "--timeout=2m", "clusterruleset/"+name+"-"+h.home)
	}
	eventually(t, "what is allowed is written", func() bool {
		return get(t, cluster(t), secrets, h.a, "sharp") != nil && get(t, cluster(t), roles, h.a, "sharp") != nil &&
			get(t, cluster(t), leases, h.a, "sharp") != nil && get(t, cluster(t), ruleSets, h.a, "rules").GetLabels()["mine"] == "yes"
	})
	kubectl(t, controlPlane(t), "delete", "rulesets", "--all", "-n", h.a, "--timeout=2m")
}

// sharpen applies all sets of sharp and sharpest. The latter watch nothing that exists.
func (h *house) sharpen(t *testing.T) {
	t.Helper()
	for name, one := range sharp {
		apply(t, cluster(t), h.a, secretive(name, one.rule))
	}
	for name, one := range sharpest {
		apply(t, cluster(t), h.a, `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: `+name+"-"+h.home+`}
spec:
  serviceAccountName: bot
  serviceAccountNamespace: NAMESPACE
  resources:
    things: `+strings.Replace(one.resource, "}", ", labelSelector: none=such}", 1)+`
  rules:
  - {name: steal, watch: things, actions: [{patch: {merge: {metadata: {labels: {mine: "yes"}}}}}]}
`)
	}
}

// notAllowed waits until a set says what it would take to run it.
func notAllowed(t *testing.T, namespace, set, kind, says string) {
	t.Helper()
	of := ruleSets
	if namespace == "" {
		of = clusterRuleSets
	}
	want := "spec.rules[0].actions[0]." + says + ", which must be allowed where the rules run; run with --allow-sensitive=" + kind
	var reason, message string
	within(t, 90*time.Second, set+" is not allowed", func() bool {
		_, reason, message = condition(t, cluster(t), of, namespace, set, "Ready")
		return reason != ""
	})
	if diff := cmp.Diff("NotAllowed "+want, reason+" "+message); diff != "" {
		t.Errorf("%s (-want +got):\n%s", set, diff)
	}
}
