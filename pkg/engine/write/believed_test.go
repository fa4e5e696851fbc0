package write_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestOtherObjects holds that no answer counts as a write, or as a version that caches have to show, unless it is the object that was
// written.
func TestOtherObjects(t *testing.T) {
	const right = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}`
	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}`
	merge, remove, create := operation(plan.Merge, map[string]any{}), operation(plan.Delete, plan.Deletion{}), operation(plan.Create, map[string]any{"metadata": map[string]any{"name": "a"}})
	create.Target = absent(target)
	create.Target.Name = ""
	apply := operation(plan.Apply, map[string]any{})
	apply.Target = absent(target)
	scaled := merge
	scaled.Subresource = "scale"
	for name, tc := range map[string]struct {
		operation plan.Operation
		answer    string
		field     string // "" for an answer that is believed
	}{
		"merge":                {merge, right, ""},
		"merge, group":         {merge, strings.Replace(right, "example.com/v1", "example.org/v1", 1), "apiVersion"},
		"merge, version":       {merge, strings.Replace(right, "example.com/v1", "example.com/v2", 1), "apiVersion"},
		"merge, kind":          {merge, strings.Replace(right, "Widget", "Gadget", 1), "kind"},
		"merge, list":          {merge, strings.Replace(right, "Widget", "WidgetList", 1), "kind"},
		"merge, namespace":     {merge, strings.Replace(right, `"ns"`, `"other"`, 1), "metadata.namespace"},
		"merge, no namespace":  {merge, strings.Replace(right, `"namespace":"ns",`, "", 1), "metadata.namespace"},
		"merge, name":          {merge, strings.Replace(right, `"a"`, `"b"`, 1), "metadata.name"},
		"merge, no name":       {merge, strings.Replace(right, `"name":"a",`, "", 1), "metadata.name"},
		"merge, uid":           {merge, strings.Replace(right, `"u"`, `"v"`, 1), "metadata.uid"},
		"merge, no uid":        {merge, strings.Replace(right, `"uid":"u",`, "", 1), "metadata.uid"},
		"merge, Scale":         {merge, scale, "apiVersion"},
		"merge, Status":        {merge, deleted, "apiVersion"},
		"merge, no metadata":   {merge, `{"apiVersion":"example.com/v1","kind":"Widget"}`, "metadata.namespace"},
		"merge, odd metadata":  {merge, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":[1]}`, "metadata.namespace"},
		"scale":                {scaled, scale, ""},
		"scale, uid":           {scaled, strings.Replace(scale, `"u"`, `"v"`, 1), "metadata.uid"},
		"scale, another group": {scaled, strings.Replace(scale, "autoscaling/v1", "example.com/v1", 1), "apiVersion"},
		"apply":                {apply, right, ""},
		"apply, name":          {apply, strings.Replace(right, `"a"`, `"b"`, 1), "metadata.name"},
		"create":               {create, right, ""},
		"create, name":         {create, strings.Replace(right, `"a"`, `"b"`, 1), "metadata.name"},
		"create, namespace":    {create, strings.Replace(right, `"ns"`, `"kube-system"`, 1), "metadata.namespace"},
		"delete":               {remove, right, ""},
		"delete, Status":       {remove, deleted, ""},
		"delete, name":         {remove, strings.Replace(right, `"a"`, `"b"`, 1), "metadata.name"},
		"delete, kind":         {remove, strings.Replace(right, "Widget", "Gadget", 1), "kind"},
	} {
		for mode, newClient := range map[string]func(*rest.Config) (*write.Client, error){"run": write.NewClient, "dry run": newDryRun} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(tc.answer))
			}))
			c, err := newClient(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			result := c.Write(t.Context(), tc.operation)
			server.Close()
			other, is := errors.AsType[*live.OtherObjectError](result.Err)
			switch {
			case tc.field == "" && result.Class.Failed():
				t.Errorf("%s, %s: got %s, %v", name, mode, result.Class, result.Err)
			case tc.field != "" && (!is || other.Field != tc.field || result.Class != write.Ambiguous || result.Echo != nil || result.Object != nil):
				t.Errorf("%s, %s: got %+v", name, mode, result)
			}
		}
	}
}

// TestSubresourcesThatAreNoObjects holds that no request is sent to a subresource that an API server may connect to something else, and
// that none leaves the path of its resource, whatever a plan or an inventory says.
func TestSubresourcesThatAreNoObjects(t *testing.T) {
	pod := target
	pod.GVR.Group, pod.GVR.Resource, pod.Kind = "", "pods", "Pod"
	change := func(change func(*plan.Operation)) plan.Operation {
		out := plan.Operation{Type: plan.Merge, Target: pod, Manager: plan.FieldManager, Body: map[string]any{}}
		change(&out)
		return out
	}
	operations := map[string]plan.Operation{}
	for _, name := range []string{
		"proxy", "exec", "attach", "portforward", "log", "binding", "eviction", "token", "finalize", "approval", "anything", "Status", "STATUS", "status/", "status/x",
		"proxy/x", "status/../proxy", "..", ".", "%2e%2e", "status?x", " status", "status\n",
	} {
		operations["subresource "+name] = change(func(o *plan.Operation) { o.Subresource = name })
	}
	for _, part := range []string{"..", ".", "a/b", "../x", "a%2fb", "a/../../b", "/a", "%2e%2e"} {
		operations["name "+part] = change(func(o *plan.Operation) { o.Target.Name = part })
		operations["namespace "+part] = change(func(o *plan.Operation) { o.Target.Namespace = part })
		operations["group "+part] = change(func(o *plan.Operation) { o.Target.GVR.Group = part })
		operations["version "+part] = change(func(o *plan.Operation) { o.Target.GVR.Version = part })
		operations["resource "+part] = change(func(o *plan.Operation) { o.Target.GVR.Resource = part })
	}
	operations["resource with a subresource"] = change(func(o *plan.Operation) { o.Target.GVR.Resource = "pods/proxy" })
	operations["deletion"] = change(func(o *plan.Operation) { o.Type, o.Subresource, o.Body = plan.Delete, "proxy", plan.Deletion{} })
	operations["apply"] = change(func(o *plan.Operation) { o.Type, o.Subresource = plan.Apply, "proxy" })
	operations["giving up"] = change(func(o *plan.Operation) { o.Type, o.Subresource, o.GivesUp = plan.Apply, "proxy", true })
	for name, operation := range operations {
		for _, newClient := range []func(*rest.Config) (*write.Client, error){write.NewClient, newDryRun} {
			if result := serve(t, newClient).Write(t.Context(), operation); result.Class != write.Terminal || result.Err == nil {
				t.Errorf("%s: got %s, %v", name, result.Class, result.Err)
			}
		}
	}
	if result := (write.ClientDryRun{}).Write(t.Context(), operations["subresource proxy"]); result.Class != write.Terminal {
		t.Errorf("a dry run that sends nothing got %s", result.Class)
	}
}

// TestRedirectedWrite holds that a redirect is not followed, and not tried again as long as nothing changes.
func TestRedirectedWrite(t *testing.T) {
	redirect := httptest.NewServer(http.RedirectHandler("http://other.example/?token=hidden", http.StatusTemporaryRedirect))
	t.Cleanup(redirect.Close)
	c, err := write.NewClient(&rest.Config{Host: redirect.URL, BearerToken: "t"})
	if err != nil {
		t.Fatal(err)
	}
	result := c.Write(t.Context(), operation(plan.Merge, map[string]any{}))
	if _, is := errors.AsType[*client.RedirectError](result.Err); !is || result.Class != write.Terminal || strings.Contains(result.Err.Error(), "hidden") {
		t.Errorf("got %s, %v", result.Class, result.Err)
	}
}
