package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// TestKubernetes holds that what the client counts is served beside our own, and of the
// rest of its registry nothing, least of all twice.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	if _, err := client.Resource(pods).Namespace("a-namespace").Get(t.Context(), "a-name", metav1.GetOptions{}); err == nil {
		t.Fatal("there is nothing to get")
	}
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "of-a-test"})
	queue.Add("a")
	queue.Add("b")
	queue.ShutDown()
	metrics := NewMetrics("v1", full)
	metrics.Leading("one", true)
	metrics.Leading("other", true)
	metrics.Leading("other", false)
	metrics.SlowPath("one")
	_, body := get(t, metrics.Handler(), "/metrics")
	host := strings.TrimPrefix(server.URL, "http://")
	for _, want := range []string{
		`leader_election_master_status{name="one"} 1`,
		`leader_election_master_status{name="other"} 0`,
		`leader_election_slowpath_total{name="one"} 1`,
		`workqueue_depth{name="of-a-test"} 2`,
		`workqueue_adds_total{name="of-a-test"} 2`,
		`rest_client_requests_total{code="404",host="` + host + `",method="GET"} 1`,
		`rest_client_request_duration_seconds_count{host="` + host + `",verb="GET"} 1`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("want %s in:\n%s", want, body)
		}
	}
	for _, unwanted := range []string{"a-namespace", "a-name", "apiserver_", "kubernetes_build_info"} {
		if strings.Contains(body, unwanted) {
			t.Errorf("%s is no concern of who scrapes:\n%s", unwanted, body)
		}
	}
	for _, once := range []string{"# TYPE go_goroutines ", "# TYPE process_start_time_seconds "} {
		if count := strings.Count(body, once); count != 1 {
			t.Errorf("%s is there %d times", once, count)
		}
	}
}
