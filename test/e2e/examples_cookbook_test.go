package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/corpus"
)

// installReal installs real CRDs of a project of the corpus, by the names of their files.
func installReal(t *testing.T, project string, names ...string) {
	t.Helper()
	all := corpus.Projects()
	at := slices.IndexFunc(all, func(p corpus.Project) bool { return p.Name == project })
	files, err := corpus.Files(t.Context(), all[at])
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(names, filepath.Base(file.Name)) {
			continue
		}
		path := filepath.Join(t.TempDir(), filepath.Base(file.Name))
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cluster(t).InstallCRDs(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
}

// put makes an object with its status.
func put(t *testing.T, resource, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	gvr := in(resource)
	object := decode(t, text)
	made := create(t, gvr, namespace, text)
	if object["status"] == nil {
		return made
	}
	made.Object["status"] = object["status"]
	made, err := client(t).Resource(gvr).Namespace(namespace).UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// in is a resource written as VERSION/RESOURCE or GROUP/VERSION/RESOURCE.
func in(text string) schema.GroupVersionResource {
	parts := strings.Split("/"+text, "/")
	parts = parts[len(parts)-3:]
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// TestExamplesCookbook runs all recipes beside each other: each does what the page says, none fails or undoes another, and then there
// is nothing left to write.
func TestExamplesCookbook(t *testing.T) {
	t.Parallel()
	// The sets act in the whole cluster, so what other tests leave is not to be there.
	on, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	planes.Use(t, on)
	installReal(t, "cert-manager", "cert-manager.io_certificates.yaml")
	installReal(t, "external-secrets", "external-secrets.io_externalsecrets.yaml")
	shop, bare := cluster(t).Namespace(t), cluster(t).Namespace(t)
	allowPods(t, bare)
	fillShop(t, shop)
	fillPods(t, bare)
	preview := cluster(t).Namespace(t)
	edit(t, namespacesGVR, "", preview, `{"metadata":{"labels":{"example.com/pull-request":"7"},"annotations":{"example.com/ttl":"1s"}}}`)
	p, args := proxied(t, nil)
	args = append(append(args, apart(shop)...),
		"--rules", filepath.Join("..", "..", "examples", "rules", "cookbook"), "--allow-sensitive=secrets",
		"--param", "new-only.since=2020-01-01T00:00:00Z", "--param", "maintenance.begins=* * * * *",
		"--param", "retries.wait=1s", "--param", "crash-loop.pause=1s")
	running := start(t, args...)
	for what, is := range map[string]func() bool{
		"namespaces":  func() bool { return servedShop(t, shop) },
		"workloads":   func() bool { return servedWorkloads(t, shop) },
		"storage":     func() bool { return servedStorage(t, shop) },
		"custom ones": func() bool { return servedCustom(t, shop) },
		"Pods":        func() bool { return servedPods(t, bare) },
		"a preview":   func() bool { return get(t, namespacesGVR, "", preview).GetDeletionTimestamp() != nil },
	} {
		eventually(t, "the recipes for "+what, is)
	}

	deleteObject(t, configmaps, bare, "settings")
	eventually(t, "the event that says why it waits", func() bool {
		return eventsAbout(t, bare, "ConfigMap", "settings")["Warning InUse: the deletion waits for user"]
	})
	deleteObject(t, pods, bare, "user")
	eventually(t, "a ConfigMap goes after its last user", func() bool { return !exists(t, configmaps, bare, "settings") })
	if code := running.wait(t); code != 0 || strings.Contains(running.output.String(), "level=ERROR") {
		t.Errorf("ended with %d, or something failed:\n%s", code, running.output)
	}
	before := p.Last()
	if output, code := once(t, args...); code != 0 {
		t.Errorf("a second run ended with %d:\n%s", code, output)
	}
	if writes := p.Since(before, storing); len(writes) > 0 {
		t.Errorf("a second run sent writes: %v", writes)
	}
}

// fillShop makes what needs no Pods.
func fillShop(t *testing.T, shop string) {
	t.Helper()
	edit(t, namespacesGVR, "", shop, `{"metadata":{"labels":{"team":"checkout","example.com/pull-secret":"true"}}}`)
	put(t, "v1/namespaces", "", `{apiVersion: v1, kind: Namespace, metadata: {name: platform}}`)
	put(t, "v1/secrets", "platform", `{apiVersion: v1, kind: Secret, metadata: {name: regcred, labels: {example.com/pull-secret: copied}},
		type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: e30=}}`)
	put(t, "v1/configmaps", shop, `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {LOG_LEVEL: info}}`)
	for _, part := range []string{"a", "b"} {
		put(t, "v1/configmaps", shop, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap,
			metadata: {name: part-%[1]s, labels: {example.com/part-of: alerts}}, data: {%[1]s.yaml: "1"}}`, part))
	}
	put(t, "apps/v1/deployments", shop, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {example.com/restarts: "true"}},
		spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {
		containers: [{name: web, image: registry.example/web, envFrom: [{configMapRef: {name: settings}}]}]}}}}`)
	put(t, "batch/v1/cronjobs", shop, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup}, spec: {schedule: 0 3 * * *,
		jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: registry.example/c}]}}}}}}`)
	put(t, "batch/v1/jobs", shop, `{apiVersion: batch/v1, kind: Job, metadata: {name: done, annotations: {example.com/ttl: 1s}},
		spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: registry.example/c}]}}},
		status: {startTime: "2026-01-01T00:00:00Z", conditions: [
		{type: FailureTarget, status: "True", lastTransitionTime: "2026-01-01T00:00:01Z"},
		{type: Failed, status: "True", lastTransitionTime: "2026-01-01T00:00:01Z"}]}}`)
	put(t, "autoscaling/v2/horizontalpodautoscalers", shop, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler,
		metadata: {name: web, annotations: {example.com/min-busy: "3", example.com/min-quiet: "3"}},
		spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`)
	put(t, "networking.k8s.io/v1/ingresses", shop, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {
		rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}`)
	put(t, "cert-manager.io/v1/certificates", shop, `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: web},
		spec: {secretName: web, issuerRef: {name: ca}}, status: {renewalTime: "2025-12-01T00:00:00Z", notAfter: "2026-01-01T00:00:00Z"}}`)
	put(t, "external-secrets.io/v1/externalsecrets", shop, `{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: db},
		spec: {secretStoreRef: {name: vault}, data: [{secretKey: a, remoteRef: {key: a}}]},
		status: {conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`)
	claim := put(t, "v1/persistentvolumeclaims", shop, `{apiVersion: v1, kind: PersistentVolumeClaim,
		metadata: {name: data, labels: {example.com/keep-data: "true"}},
		spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	put(t, "v1/persistentvolumes", "", fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: %[1]s},
		spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, persistentVolumeReclaimPolicy: Delete,
		csi: {driver: csi.example.com, volumeHandle: a}, claimRef: {namespace: %[1]s, name: data, uid: %[2]s}}}`, shop, claim.GetUID()))
}

// fillPods makes Pods and what they belong to.
func fillPods(t *testing.T, bare string) {
	t.Helper()
	put(t, "v1/nodes", "", fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {example.com/rack: r1}},
		status: {conditions: [{type: Ready, status: "Unknown", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`, bare))
	const template = `selector: {matchLabels: {app: a}},
		template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: registry.example/c}]}}`
	owner := func(kind string, spec string) string {
		made := put(t, "apps/v1/"+strings.ToLower(kind)+"s", bare, fmt.Sprintf(
			`{apiVersion: apps/v1, kind: %s, metadata: {name: a}, spec: {replicas: 1, %s %s}}`, kind, spec, template))
		return fmt.Sprintf("ownerReferences: [{apiVersion: apps/v1, kind: %s, name: a, uid: %s, controller: true}]", kind, made.GetUID())
	}
	one := func(name, metadata, spec string) {
		put(t, "v1/pods", bare, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, %s}, spec: {
			automountServiceAccountToken: false, containers: [{name: c, image: registry.example/c}], %s}}`, name, metadata, spec))
	}
	one("db-0", owner("StatefulSet", "serviceName: a,"), "nodeName: "+bare)
	one("crashes", owner("ReplicaSet", ""), "")
	report(t, bare, "crashes", `{"containerStatuses":[{"name":"c","image":"c","imageID":"c","ready":false,"restartCount":10,
		"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}`)
	one("evicted", "", "")
	report(t, bare, "evicted", `{"phase":"Failed","reason":"Evicted"}`)
	create(t, configmaps, bare, `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {example.com/protect: "true"}}}`)
	one("user", "", "volumes: [{name: settings, configMap: {name: settings}}]")
}

func servedShop(t *testing.T, shop string) bool {
	t.Helper()
	return exists(t, secrets, shop, "regcred") && exists(t, in("v1/resourcequotas"), shop, "default") &&
		exists(t, in("networking.k8s.io/v1/networkpolicies"), shop, "deny-by-default") && exists(t, configmaps, shop, "alerts") &&
		len(get(t, configmaps, shop, "alerts").Object["data"].(map[string]any)) == 2 &&
		get(t, namespacesGVR, "", shop).GetLabels()["pod-security.kubernetes.io/enforce"] == "restricted"
}

func servedWorkloads(t *testing.T, shop string) bool {
	t.Helper()
	web, backup := get(t, deployments, shop, "web"), get(t, in("batch/v1/cronjobs"), shop, "backup")
	return web.GetLabels()["team"] == "checkout" && field(web, "spec", "replicas") == int64(2) &&
		field(web, "spec", "template", "spec", "securityContext", "seccompProfile", "type") == "RuntimeDefault" &&
		field(web, "spec", "template", "metadata", "annotations", "example.com/settings") != nil &&
		exists(t, in("policy/v1/poddisruptionbudgets"), shop, "web") &&
		field(backup, "spec", "suspend") == any(true) && backup.GetAnnotations()["example.com/failed-jobs"] == "0" &&
		!exists(t, in("batch/v1/jobs"), shop, "done") && field(get(t, autoscalers, shop, "web"), "spec", "minReplicas") == int64(3) &&
		eventsAbout(t, shop, "Ingress", "web")["Warning PlainHTTP: served without TLS: a.example.com"]
}

func servedStorage(t *testing.T, shop string) bool {
	t.Helper()
	return field(get(t, in("v1/persistentvolumes"), "", shop), "spec", "persistentVolumeReclaimPolicy") == "Retain" &&
		get(t, in("v1/persistentvolumeclaims"), shop, "data").GetAnnotations()["example.com/unused-since"] != ""
}

func servedCustom(t *testing.T, shop string) bool {
	t.Helper()
	secret := get(t, in("external-secrets.io/v1/externalsecrets"), shop, "db")
	return eventsAbout(t, shop, "Certificate", "web")["Warning NotRenewed: due at 2025-12-01T00:00:00Z, not renewed, and valid until 2026-01-01T00:00:00Z"] &&
		secret.GetLabels()["example.com/needs"] == "person" && secret.GetAnnotations()["example.com/tries"] == "3"
}

func servedPods(t *testing.T, bare string) bool {
	t.Helper()
	return !exists(t, pods, bare, "crashes") && !exists(t, pods, bare, "evicted") &&
		get(t, pods, bare, "db-0").GetLabels()["example.com/rack"] == "r1" &&
		eventsAbout(t, bare, "Pod", "db-0")["Warning NodeDown: "+bare+" is down, and nothing replaces it"] &&
		len(get(t, configmaps, bare, "settings").GetFinalizers()) == 1
}
