package builtin_test

import (
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// all are the verbs of most resources.
const all = "create delete deletecollection get list patch update watch"

func TestResources(t *testing.T) {
	t.Parallel()
	tests := []struct {
		resource, kind string
		namespaced     bool
		verbs          string
		subresources   string
		reason         string
	}{
		{"v1/pods", "Pod", true, all, "attach binding ephemeralcontainers eviction exec log portforward proxy resize status", "many subresources"},
		{"v1/nodes", "Node", false, all, "proxy status", "of the cluster"},
		{"v1/namespaces", "Namespace", false, "create delete get list patch update watch", "finalize status", "not deleted as a collection"},
		{"v1/services", "Service", true, all, "proxy status", "no scale"},
		{"v1/configmaps", "ConfigMap", true, all, "", "no status"},
		{"v1/serviceaccounts", "ServiceAccount", true, all, "token", "tokens are made of it"},
		{"v1/bindings", "Binding", true, "create", "", "only written"},
		{"v1/componentstatuses", "ComponentStatus", false, "get list", "", "cannot be watched"},
		{"apps/v1/deployments", "Deployment", true, all, "scale status", "scales"},
		{"apps/v1/daemonsets", "DaemonSet", true, all, "status", "does not scale"},
		{"batch/v1/jobs", "Job", true, all, "status", "does not scale"},
		{"authentication.k8s.io/v1/tokenreviews", "TokenReview", false, "create", "", "a question, not an object: it cannot be listed"},
		{"authorization.k8s.io/v1/localsubjectaccessreviews", "LocalSubjectAccessReview", true, "create", "", "a question in a namespace"},
		{"certificates.k8s.io/v1/certificatesigningrequests", "CertificateSigningRequest", false, all, "approval status", "approved apart"},
		{"apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition", false, all, "status", "not from the core scheme"},
		{"apiregistration.k8s.io/v1/apiservices", "APIService", false, all, "status", "from the aggregator"},
		{"rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole", false, all, "", "of the cluster"},
		{"events.k8s.io/v1/events", "Event", true, all, "", "the second name of events"},
	}
	for _, tt := range tests {
		t.Run(tt.resource, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tt.resource)
			if r == nil {
				t.Fatal("no such resource")
			}
			var subresources []string
			for name := range r.Subresources {
				subresources = append(subresources, name)
			}
			slices.Sort(subresources)
			got := []any{r.Kind, r.Namespaced, strings.Join(r.Verbs, " "), strings.Join(subresources, " "), r.SubresourcesKnown}
			if diff := cmp.Diff([]any{tt.kind, tt.namespaced, tt.verbs, tt.subresources, true}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestSubresourceBodies(t *testing.T) {
	t.Parallel()
	tests := []struct{ resource, subresource, path, want, reason string }{
		{"apps/v1/deployments", "scale", "spec.replicas", "an integer; format int32; zero is absent", "a Scale, of another group"},
		{"apps/v1/deployments", "status", "status.readyReplicas", "an integer; format int32; zero is absent", "the object itself"},
		{"v1/pods", "eviction", "deleteOptions.gracePeriodSeconds", "an integer; format int64", "a policy/v1 Eviction"},
		{"v1/pods", "binding", "target.name", "a string; zero is absent", "a Binding"},
		{"v1/pods", "exec", "anything", "anything", "not an object"},
		{"v1/serviceaccounts", "token", "spec.expirationSeconds", "an integer; format int64; always; default 3600", "a TokenRequest"},
	}
	for _, tt := range tests {
		t.Run(tt.resource+" "+tt.subresource, func(t *testing.T) {
			t.Parallel()
			f, found := find(resource(t, tt.resource).Subresources[tt.subresource], tt.path)
			if !found {
				t.Fatalf("no field %s: %s", tt.path, tt.reason)
			}
			if got := describe(f); got != tt.want {
				t.Errorf("got  %s\nwant %s\nbecause it is %s", got, tt.want, tt.reason)
			}
		})
	}
}

// TestWhole holds a resource in each listed group, and every listed resource to be
// an object with a type.
func TestWhole(t *testing.T) {
	t.Parallel()
	names := builtin.Source().Resources()
	if !slices.IsSortedFunc(names, schema.CompareNames) || len(names) < 90 {
		t.Errorf("got %d resources, want all of Kubernetes in order", len(names))
	}
	for _, name := range names {
		r := builtin.Source().Resource(name.GroupVersionResource)
		switch {
		case r == nil:
			t.Errorf("%s is listed and not known", name.GroupVersionResource)
		case !r.Type.Known() || !r.Type.Object || r.Kind != name.Kind || len(r.Verbs) == 0:
			t.Errorf("%s has no whole type: %+v", name.GroupVersionResource, r)
		case builtin.Document(name.GroupVersion()) == nil:
			t.Errorf("%s has no document", name.GroupVersion())
		case !builtin.Source().Whole(name.Group):
			t.Errorf("%s is listed, its group %q is not whole", name.GroupVersionResource, name.Group)
		}
	}
}

func TestWholeGroups(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want   bool
		reason string
	}{
		"":                          {true, "the core"},
		"apps":                      {true, "built in"},
		"storage.k8s.io":            {true, "built in"},
		"apiextensions.k8s.io":      {true, "linked into kube-apiserver"},
		"metrics.k8s.io":            {false, "served by metrics-server"},
		"custom.metrics.k8s.io":     {false, "served by adapters"},
		"gateway.networking.k8s.io": {false, "custom resources"},
		"snapshot.storage.k8s.io":   {false, "custom resources"},
		"extensions":                {false, "no longer served"},
		"k8s.io":                    {false, "no group"},
	}
	for group, tt := range tests {
		if got := builtin.Source().Whole(group); got != tt.want {
			t.Errorf("Whole(%q) = %t, want %t: %s", group, got, tt.want, tt.reason)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{
		"v1/deployments":                  "of another group",
		"v1/pod":                          "the singular",
		"apps/v1beta1/deployments":        "no longer served",
		"apps/v1/pods/status":             "no resource",
		"cert-manager.io/v1/certificates": "custom",
	} {
		if r := resource(t, name); r != nil {
			t.Errorf("%s: got %s, want nothing: %s", name, r.Kind, reason)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"deployments": "deployment deploy", "pods": "pod po", "services": "service svc", "configmaps": "configmap cm",
		"persistentvolumeclaims": "persistentvolumeclaim pvc", "endpoints": "ep", "customresourcedefinitions": "customresourcedefinition crd crds",
	}
	for _, name := range builtin.Source().Resources() {
		if names, asked := want[name.Resource]; asked {
			if got := strings.Join(name.Other, " "); got != names {
				t.Errorf("%s is also called %q, want %q", name.Resource, got, names)
			}
		}
	}
}

// TestConcurrently lets many ask for the same things at once, which the race
// detector watches.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, name := range builtin.Source().Resources() {
				builtin.Source().Resource(name.GroupVersionResource)
			}
		})
	}
	all.Wait()
}

// TestSize keeps the repository and the binary small.
func TestSize(t *testing.T) {
	t.Parallel()
	const most = 150 << 10
	var size int64
	err := fs.WalkDir(builtin.Files, "data", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		size += info.Size()
		return err
	})
	if err != nil || size > most {
		t.Errorf("the files have %d bytes, want at most %d (%v)", size, most, err)
	}
}

func BenchmarkPod(b *testing.B) {
	pods := apischema.GroupVersionResource{Version: "v1", Resource: "pods"}
	for b.Loop() {
		if builtin.Fresh().Resource(pods) == nil {
			b.Fatal("no Pods")
		}
	}
}
