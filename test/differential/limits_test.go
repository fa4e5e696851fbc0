package differential

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestLimits holds that the simulated API server says that a real one has something exactly where it does: of every built-in resource
// and of every subresource that one of them has.
func TestLimits(t *testing.T) {
	served := servedPaths(t)
	below := []string{""}
	for _, name := range builtin.Source().Resources() {
		for subresource := range builtin.Source().Resource(name.GroupVersionResource).Subresources {
			below = append(below, subresource)
		}
	}
	slices.Sort(below)
	below = slices.Compact(below)
	simulated := &http.Client{Transport: shared.server.Transport(storage.NewWorld(clocktesting.NewFakeClock(time.Now())))}
	limits := 0
	for _, name := range builtin.Source().Resources() {
		of := &kind{Resource: builtin.Source().Resource(name.GroupVersionResource)}
		side := newSide(simulated, "http://simulated", of, "default", "none")
		for _, subresource := range below {
			answer, err := side.do(t.Context(), operation{method: http.MethodPatch, below: subresource, kind: typeMerge, body: map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			message := simulatedMessage(answer)
			says, missing := strings.Contains(message, "a real API server has"), answer.Code == http.StatusNotFound && !strings.Contains(message, `"none"`)
			isServed := served[servedPath(name.GroupVersionResource, subresource)]
			if says != (missing && isServed) {
				t.Errorf("%s, which a real API server serves (%t), is answered with %d %s", servedPath(name.GroupVersionResource, subresource), isServed, answer.Code, message)
			}
			if says {
				limits++
			}
		}
	}
	t.Logf("%d limits", limits)
	if limits < 20 {
		t.Error("that proves little")
	}
}

func simulatedMessage(a answer) string {
	body, _ := a.Body.(map[string]any)
	message, _ := body["message"].(string)
	return message
}

func servedPath(of apischema.GroupVersionResource, subresource string) string {
	path := of.GroupVersion().String() + " " + of.Resource
	if subresource != "" {
		path += "/" + subresource
	}
	return path
}

// servedPaths are the resources and subresources that the real API server says that it serves.
func servedPaths(t *testing.T) map[string]bool {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(control.RESTConfig()))
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			out[list.GroupVersion+" "+resource.Name] = true
		}
	}
	return out
}
