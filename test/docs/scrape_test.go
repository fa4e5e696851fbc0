package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// podMonitor is what we write of one.
type podMonitor struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		Selector            struct{ MatchLabels map[string]string }
		PodMetricsEndpoints []struct {
			Port, Path, Scheme string
			Authorization      struct {
				Type        string
				Credentials struct{ Name, Key string }
			}
			TLSConfig struct{ InsecureSkipVerify bool } `json:"tlsConfig"`
		}
	}
}

// TestPodMonitor says that what scrapes finds what is deployed, with a token that is there.
func TestPodMonitor(t *testing.T) {
	var monitor podMonitor
	deployed(t, "podmonitor.yaml", &monitor)
	var deployment appsv1.Deployment
	data, err := os.ReadFile(filepath.Join(root, "deploy", "base", "deployment.yaml"))
	if err == nil {
		err = yaml.UnmarshalStrict(data, &deployment)
	}
	if err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template
	if diff := cmp.Diff(pod.Labels, monitor.Spec.Selector.MatchLabels); diff != "" || monitor.Metadata.Namespace != deployment.Namespace {
		t.Errorf("it selects other Pods, in %s (-want +got):\n%s", monitor.Metadata.Namespace, diff)
	}
	container := pod.Spec.Containers[0]
	for _, endpoint := range monitor.Spec.PodMetricsEndpoints {
		named := func(port corev1.ContainerPort) bool { return port.Name == endpoint.Port && port.ContainerPort == 8443 }
		if !slices.ContainsFunc(container.Ports, named) || endpoint.Path != "/metrics" || endpoint.Scheme != "https" {
			t.Errorf("nothing answers %+v", endpoint)
		}
		if endpoint.Authorization.Type != "Bearer" || endpoint.Authorization.Credentials.Name != "dyncontroller-scraper" || endpoint.Authorization.Credentials.Key != corev1.ServiceAccountTokenKey {
			t.Errorf("it has no token: %+v", endpoint.Authorization)
		}
		if !endpoint.TLSConfig.InsecureSkipVerify {
			t.Error("nobody can verify the certificate that each Pod makes for itself")
		}
	}
	var together struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
	}
	deployed(t, "kustomization.yaml", &together)
	if together.Namespace != monitor.Metadata.Namespace {
		t.Errorf("the alerts go to the namespace %q", together.Namespace)
	}
	if len(monitor.Spec.PodMetricsEndpoints) != 1 {
		t.Error("nothing is scraped")
	}
}
