package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/cli"
)

// converter is a conversion webhook that can be stopped, and started at the same address.
type converter struct {
	address string
	server  *httptest.Server
}

func newConverter(t *testing.T) *converter {
	t.Helper()
	c := &converter{address: "127.0.0.1:0"}
	c.start(t)
	t.Cleanup(func() { c.stop() })
	return c
}

func (c *converter) start(t *testing.T) {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", c.address)
	if err != nil {
		t.Fatal(err)
	}
	c.address = listener.Addr().String()
	c.server = httptest.NewUnstartedServer(http.HandlerFunc(convert))
	_ = c.server.Listener.Close()
	c.server.Listener = listener
	c.server.StartTLS()
}

func (c *converter) stop() {
	c.server.CloseClientConnections()
	c.server.Close()
}

// conversion is what a CRD says of it.
func (c *converter) conversion() string {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw})
	return fmt.Sprintf(`{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://%s/convert", caBundle: %s}}}`,
		c.address, base64.StdEncoding.EncodeToString(bundle))
}

// convert says that an object is the same in any version.
func convert(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Response   map[string]any `json:"response"`
		Request    struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.DesiredAPIVersion
	}
	review.Response = map[string]any{
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// TestConversionFails holds that a conversion webhook that is down concerns nothing but
// the rules about its resource, and that these go on when it is back.
func TestConversionFails(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	webhook := newConverter(t)
	d := definition{
		plural: "converts", versions: []version{{name: "v1", store: true, spec: sized}, {name: "v2", spec: sized}},
		conversion: webhook.conversion(),
	}
	d.install(t)
	defer d.remove(t)
	d.thing(t, "v1", namespace, "before", "{}")
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v2")))
	eventually(t, "the rule acts", func() bool { return d.seen(t, namespace, "before") })
	others(t, namespace, "1")

	since := p.now()
	webhook.stop()
	d.thing(t, "v1", namespace, "between", "{}") // It cannot be shown to who watches v2.
	informer := "informer converts.v2." + d.group() + " -n " + namespace
	others(t, namespace, "2")
	// The API server tries for half a minute before it says so.
	p.waits(t, informer, "[!]", "conversion webhook for "+d.group()+"/v1, Kind=Thing failed", "; rules wait for it: life/see")
	broken := p.now()
	lets(t, 5*time.Second)
	p.calm(t, d, since, 6)
	if n := p.lines(broken, d.plural+"."); n > 2 {
		t.Errorf("the log has %d lines about it though nothing has changed", n)
	}

	// A process that starts now says what it waits for, and acts on the rest.
	began := time.Now()
	late := serve(t, "--instance", namespace, "--rules", rulesFile(t, namespace, d.rules("v2")))
	eventually(t, "the log of a start says what it waits for", func() bool {
		return late.lines(0, "cannot list or watch", d.plural+".") > 0
	})
	t.Logf("a start says so after %s", time.Since(began))
	late.wait(t)

	// A run that ends says what it waits for, and ends. So does a dry run.
	for _, command := range []string{"run", "diff"} {
		began, output := time.Now(), &buffer{}
		code := cli.Run(t.Context(), cli.Process{
			Args: []string{
				command, "--kubeconfig", cluster(t).Kubeconfig(), "--rules", rulesFile(t, namespace, d.rules("v2")), "--once", "--force", "--cache-sync-timeout", "10s",
			},
			Stdin: strings.NewReader(""), Stdout: output, Stderr: output, Version: "test", Transport: transport(t),
		})
		told := output.String()
		if code != 2 || time.Since(began) > 30*time.Second || !strings.Contains(told, "it was not listed within 10s") ||
			strings.Count(told, "storage is (re)initializing")+strings.Count(told, "conversion webhook for") < 2 {
			t.Errorf("%s ended with %d after %s:\n%s", command, code, time.Since(began), told)
		}
	}
	others(t, namespace, "3")

	webhook.start(t)
	eventually(t, "the rule acts again", func() bool { return d.seen(t, namespace, "between") })
	p.waits(t, informer, "[+]", "synced")
	p.calm(t, d, since, 12)
}

var apiservices = apischema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// TestAggregatedAPIIsDown holds that an API server of which nothing is heard keeps only
// the rules about its resources waiting, and not the start.
func TestAggregatedAPIIsDown(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "downs"}
	name := "v1." + d.group()
	create(t, apiservices, "", fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %s},
  spec: {group: %s, version: v1, groupPriorityMinimum: 1000, versionPriority: 10, insecureSkipTLSVerify: true, service: {name: away, namespace: %s}}}`,
		name, d.group(), namespace))
	defer func() {
		if err := client(t).Resource(apiservices).Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	eventually(t, "it is known to be away", func() bool {
		return strings.Contains(fmt.Sprint(field(get(t, apiservices, "", name), "status", "conditions")), "ServiceNotFound")
	})
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v1")))
	others(t, namespace, "1")
	if line := p.check(t, "rules"); !strings.HasPrefix(line, "[+]") {
		t.Errorf("when the other rule acts, readiness says %q", line)
	}
	informer := "informer downs.v1." + d.group() + " -n " + namespace
	p.waits(t, informer, "[!]", "; rules wait for it: life/see")
	t.Log(p.check(t, informer))
	lets(t, 5*time.Second)
	p.calm(t, d, 0, 4)
	others(t, namespace, "2")
}
