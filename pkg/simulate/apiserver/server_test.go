package apiserver_test

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

const clusters = "/apis/pingcap.com/v1alpha1/namespaces/a/tidbclusters"

// tidb is a server of a real definition.
func tidb(t testing.TB) *apiserver.Server {
	t.Helper()
	server, err := apiserver.New(definitions(t, "../../../test/schemas/tidbclusters.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func tidbCluster(replicas int) string {
	return fmt.Sprintf(`{"apiVersion":"pingcap.com/v1alpha1","kind":"TidbCluster","metadata":{"name":"x"},"spec":{"pd":{"replicas":%d}}}`, replicas)
}

// It has no status subresource, so its status is a field as any other.
func TestTidbCluster(t *testing.T) {
	inNew(tidb(t)).play(t, []call{
		{do: "POST " + clusters + "?fieldManager=m", body: tidbCluster(2), status: 201, want: []string{`metadata.generation=1`, `spec.pd.replicas=2`}},
		{do: "PATCH " + clusters + "/x?fieldManager=dyncontroller", as: merge, body: `{"spec":{"pd":{"replicas":3}}}`, status: 200, want: []string{`metadata.generation=2`}},
		{do: "PATCH " + clusters + "/x?fieldManager=r", as: apply, body: tidbCluster(5), status: 409, want: []string{
			`message="Apply failed with 1 conflict: conflict with \"dyncontroller\" using pingcap.com/v1alpha1: .spec.pd.replicas"`,
		}},
		{do: "PATCH " + clusters + "/x?fieldManager=r&force=true", as: apply, body: tidbCluster(5), status: 200, want: []string{`metadata.generation=3`}},
		{do: "GET " + clusters + "/x/status", status: 404},
	})
}

// The same requests about two worlds of one server do not meet.
func TestWorldsOfOneServer(t *testing.T) {
	server := gadgets(t)
	first, second := inNew(server), inNew(server)
	first.play(t, []call{made})
	second.play(t, []call{{do: "GET " + one, status: 404}, made, {do: "DELETE " + one, status: 200}})
	first.play(t, []call{{do: "GET " + one, status: 200, want: []string{`metadata.resourceVersion="1001"`}}})
}

// Many at once, the first of which have the server read its definition.
func TestTogether(t *testing.T) {
	server := gadgets(t)
	shared := inNew(server)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			own := inNew(server)
			own.play(t, []call{made, {do: "PATCH " + one, as: merge, body: `{"spec":{"size":7}}`, status: 200, want: []string{`metadata.resourceVersion="1002"`}}})
			body := fmt.Sprintf(`{"metadata":{"labels":{"l%d":"1"}}}`, i)
			status, _ := shared.send(t, call{do: made.do, body: dull})
			if status != http.StatusCreated && status != http.StatusConflict {
				t.Errorf("create: %d", status)
			}
			shared.play(t, []call{{do: "PATCH " + one, as: merge, body: body, status: 200}})
		})
	}
	all.Wait()
	shared.play(t, []call{{do: "GET " + one, status: 200, want: []string{
		`metadata.labels={"l0":"1","l1":"1","l2":"1","l3":"1","l4":"1","l5":"1","l6":"1","l7":"1"}`, `metadata.resourceVersion="1009"`,
	}}})
}

// A server leaves nothing behind that is not collected with it: no goroutines, and nothing
// in the registry of metrics, which is the process's.
func TestNothingStays(t *testing.T) {
	known := definitions(t, "testdata/gadgets.yaml")
	serve := func() {
		server, err := apiserver.New(known)
		if err != nil {
			t.Fatal(err)
		}
		inNew(server).play(t, []call{{do: "GET " + all, status: 200}})
	}
	serve() // What there is once for a process is there now.
	goroutines, series := runtime.NumGoroutine(), seriesOf(t)
	for range 20 {
		serve()
	}
	if now := runtime.NumGoroutine(); now > goroutines+3 {
		t.Errorf("%d goroutines after 20 servers, %d before", now, goroutines)
	}
	if now := seriesOf(t); now != series {
		t.Errorf("%d series of metrics after 20 servers, %d before", now, series)
	}
}

func seriesOf(t *testing.T) int {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out int
	for _, family := range families {
		out += len(family.GetMetric())
	}
	return out
}
