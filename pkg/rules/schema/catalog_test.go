package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listed is a source of names without types.
type listed struct {
	Index
	whole []string
}

func (l *listed) add(text string) {
	name := named(text)
	l.Add(name, func() *Resource {
		return &Resource{GroupVersionResource: name.GroupVersionResource, Kind: name.Kind, Type: Open()}
	})
}

func (l *listed) Whole(group string) bool {
	return slices.Contains(l.whole, group) || l.Index.Whole(group)
}

// gvrOf reads "group/version/resource"; the core's group is empty.
func gvrOf(text string) schema.GroupVersionResource {
	parts := strings.Split(text, "/")
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// named reads "group/version/resource Kind other ...".
func named(text string) Name {
	words := strings.Fields(text)
	return Name{GroupVersionResource: gvrOf(words[0]), Kind: words[1], Other: words[2:]}
}

// cluster knows what is built in whole, and two definitions that a user gave.
func cluster() *Catalog {
	builtin, given := &listed{}, &listed{}
	builtin.whole = []string{"", "apps", "batch", "networking.k8s.io", "events.k8s.io", "autoscaling"}
	for _, text := range []string{
		"/v1/configmaps ConfigMap configmap cm", "/v1/endpoints Endpoints", "/v1/events Event", "/v1/namespaces Namespace", "/v1/nodes Node",
		"/v1/persistentvolumeclaims PersistentVolumeClaim", "/v1/pods Pod", "/v1/services Service",
		"apps/v1/daemonsets DaemonSet", "apps/v1/deployments Deployment", "apps/v1/statefulsets StatefulSet",
		"autoscaling/v1/horizontalpodautoscalers HorizontalPodAutoscaler hpa", "autoscaling/v2/horizontalpodautoscalers HorizontalPodAutoscaler hpa",
		"batch/v1/cronjobs CronJob", "batch/v1/jobs Job", "events.k8s.io/v1/events Event",
		"networking.k8s.io/v1/ingresses Ingress ing", "networking.k8s.io/v1/networkpolicies NetworkPolicy",
	} {
		builtin.add(text)
	}
	for _, text := range []string{
		"pingcap.com/v1alpha1/tidbclusters TidbCluster tidbcluster tc",
		"serving.knative.dev/v1/services Service service kservice ksvc",
		"apps.pingcap.com/v1/statefulsets StatefulSet", "apps.pingcap.com/v1alpha1/statefulsets StatefulSet",
		"example.com/v2beta1/things Thing", "example.com/v1/things Thing", "example.com/v10/things Thing",
	} {
		given.add(text)
	}
	return NewCatalog(builtin, given)
}

func TestResource(t *testing.T) {
	c := cluster()
	if got := c.Resource(gvrOf("pingcap.com/v1alpha1/tidbclusters")); got == nil || got.Kind != "TidbCluster" {
		t.Errorf("the second source is not asked: %+v", got)
	}
	if got := c.Resource(gvrOf("apps/v1/deployment")); got != nil {
		t.Errorf("what nobody knows is %+v", got)
	}
	if got := c.Growing().Resource(gvrOf("/v1/pods")); got == nil || got.Kind != "Pod" {
		t.Errorf("one that grows knows the same, has %+v", got)
	}
	var nothing *Catalog
	if nothing.Resource(gvrOf("/v1/pods")) != nil || nothing.Missing(gvrOf("/v1/pods")) {
		t.Error("who knows nothing has an opinion")
	}
	if got, found := nothing.Closest(gvrOf("/v1/pods")); found {
		t.Errorf("who knows nothing suggests %v", got)
	}
}

func TestMissing(t *testing.T) {
	for text, tc := range map[string]struct {
		reason string
		want   bool
	}{
		"/v1/pods":                          {"it is there", false},
		"/v1/pod":                           {"of the core all is known", true},
		"apps/v1beta1/deployments":          {"that version is of the past", true},
		"pingcap.com/v1/tidbclusters":       {"the definition has no such version", true},
		"pingcap.com/v1alpha1/tidbcluster":  {"the singular of one that is known", true},
		"pingcap.com/v1/tc":                 {"a short name, and a version that there is not", true},
		"pingcap.com/v1alpha1/TidbCluster":  {"the kind", true},
		"other.com/v1/tc":                   {"a group of which nothing is known may have a resource of any name", false},
		"core/v1/pods":                      {"the group of the core has no name", true},
		"core/v1/things":                    {"and this one nobody can have", true},
		"extensions/v1beta1/ingresses":      {"a group without a dot may be of a Kubernetes that we do not know", false},
		"pingcap.com/v1alpha1/tidbmonitors": {"its definition may not have been given", false},
		"cert-manager.io/v1/certificates":   {"nothing is known of the group", false},
	} {
		if got := cluster().Missing(gvrOf(text)); got != tc.want {
			t.Errorf("%s: %s: missing is %v", text, tc.reason, got)
		}
		if cluster().Growing().Missing(gvrOf(text)) {
			t.Errorf("%s: in a cluster that is in use it may come", text)
		}
	}
}

func TestClosest(t *testing.T) {
	for text, tc := range map[string]struct {
		reason, want string
	}{
		"apps/v1/deployment":                    {"the singular", "apps/v1/deployments"},
		"apps/v1/Deployment":                    {"the kind", "apps/v1/deployments"},
		"apps/v1/Deployments":                   {"capitals", "apps/v1/deployments"},
		"apps/v1/deploy":                        {"as kubectl takes it", "apps/v1/deployments"},
		"apps/v1/deploymets":                    {"a letter is missing", "apps/v1/deployments"},
		"/v1/po":                                {"short for pods", "/v1/pods"},
		"/v1/cm":                                {"short", "/v1/configmaps"},
		"pingcap.com/v1alpha1/tc":               {"a short name of its definition", "pingcap.com/v1alpha1/tidbclusters"},
		"pingcap.com/v1/tidbclusters":           {"another version", "pingcap.com/v1alpha1/tidbclusters"},
		"pingcap.com/v1/tidbcluster":            {"and the singular", "pingcap.com/v1alpha1/tidbclusters"},
		"pincap.com/v1alpha1/tidbclusters":      {"a group that is misspelt", "pingcap.com/v1alpha1/tidbclusters"},
		"pincap.com/v1alpha1/tidbclustrs":       {"and the resource as well", "pingcap.com/v1alpha1/tidbclusters"},
		"extensions/v1beta1/ingresses":          {"where it has moved", "networking.k8s.io/v1/ingresses"},
		"networking.k8s.io/v1beta1/ingresses":   {"a version of the past", "networking.k8s.io/v1/ingresses"},
		"apps/v1beta1/deployments":              {"likewise", "apps/v1/deployments"},
		"apps/v1beta2/deployment":               {"likewise", "apps/v1/deployments"},
		"/v1/deployments":                       {"no group", "apps/v1/deployments"},
		"/v1/deploy":                            {"no group, and short", "apps/v1/deployments"},
		"/v1/ing":                               {"likewise", "networking.k8s.io/v1/ingresses"},
		"core/v1/pods":                          {"the core's group has no name", "/v1/pods"},
		"v1/v1/services":                        {"of two, that of Kubernetes itself", "/v1/services"},
		"serving.knative.dv/v1/services":        {"unless the group is like another", "serving.knative.dev/v1/services"},
		"/v1/statefulsets":                      {"of two, that of Kubernetes itself", "apps/v1/statefulsets"},
		"apps/v1/hpa":                           {"short, in another group, the newest", "autoscaling/v2/horizontalpodautoscalers"},
		"autoscaling/v1/hpa":                    {"the version that was asked for", "autoscaling/v1/horizontalpodautoscalers"},
		"autoscaling/v2beta2/hpa":               {"or the newest", "autoscaling/v2/horizontalpodautoscalers"},
		"example.com/v3/things":                 {"the newest is not the last by letters", "example.com/v10/things"},
		"example.org/v1/things":                 {"the group ends differently", "example.com/v10/things"},
		"/v1/cronjob":                           {"the singular in no group", "batch/v1/cronjobs"},
		"/v1/deploymet":                         {"misspelt, and no group", "apps/v1/deployments"},
		"/v1/persistentvolumeclaim":             {"the singular of a long one", "/v1/persistentvolumeclaims"},
		"networking.k8s.io/v1/networkpolicy":    {"the singular that ends otherwise", "networking.k8s.io/v1/networkpolicies"},
		"events.k8s.io/v1beta1/events":          {"the group counts", "events.k8s.io/v1/events"},
		"cert-manager.io/v1/certificates":       {"nothing is like it", ""},
		"fluid.io/v1/deploymets":                {"its CRD may not be there", ""},
		"policy/v1beta1/podsecuritypolicies":    {"what is gone has no other place", ""},
		"/v1/" + strings.Repeat("pods", 10_000): {"no word is so long", ""},
	} {
		got, found := cluster().Closest(gvrOf(text))
		if found != (tc.want != "") || found && got != gvrOf(tc.want) {
			t.Errorf("%.60s: %s: suggested is %v, %v, want %q", text, tc.reason, got, found, tc.want)
		}
	}
}

func TestClosestIsBounded(t *testing.T) {
	many := &listed{}
	for i := range 20_000 {
		many.add(fmt.Sprintf("g%d.example.com/v1/things%d Thing", i, i))
	}
	if got, found := NewCatalog(many).Closest(gvrOf("g1.example.com/v1/thing")); !found || got.Group != "g1.example.com" {
		t.Errorf("among many it is %v, %v", got, found)
	}
}
