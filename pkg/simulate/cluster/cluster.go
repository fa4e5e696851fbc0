package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// tester is the name under which Events are reported, and who changes objects in the steps
// of a test, as a field manager.
const tester = "test"

// Cluster is a simulated cluster. It is for one goroutine.
type Cluster struct {
	server *apiserver.Server
	world  *storage.World
	clock  *clocktesting.FakeClock

	writer   *write.Client
	live     *live.Reader
	recorder *write.Recorder
	caches   *caches
	wire     *wire
	user     dynamic.Interface // of everybody else in the cluster
	// objects are all that there are, in order, at a version of the world. Nothing is stored at version zero.
	objects   []Object
	objectsAt uint64
	// found are the uids of all objects that were put there.
	found map[types.UID]bool
	// strangers are the owners that objects from outside name: a test need not have them.
	strangers map[types.UID]bool
}

var (
	_ engine.Writer   = (*Cluster)(nil)
	_ engine.Recorder = (*Cluster)(nil)
)

// New returns an empty cluster in which it is now.
func New(server *apiserver.Server, now time.Time) (*Cluster, error) {
	clock := clocktesting.NewFakeClock(now)
	world := storage.NewWorld(clock)
	c := &Cluster{server: server, world: world, clock: clock, found: map[types.UID]bool{}, strangers: map[types.UID]bool{}}
	c.wire = &wire{next: server.Transport(world)}
	c.caches = &caches{cluster: c, of: map[informer.Key]stock{}}
	config := &rest.Config{Host: "http://simulated", Transport: c.wire, QPS: -1}
	var err error
	if c.writer, err = write.NewClient(config); err != nil {
		return nil, err
	}
	if c.live, err = live.NewReader(config); err != nil {
		return nil, err
	}
	if c.recorder, err = write.NewRecorder(config, tester, clock); err != nil {
		return nil, err
	}
	if c.user, err = client.Dynamic(config); err != nil {
		return nil, fmt.Errorf("making a client for the steps of a test: %w", err)
	}
	return c, nil
}

// Clock is that of the cluster.
func (c *Cluster) Clock() *clocktesting.FakeClock { return c.clock }

// Live reads past the caches.
func (c *Cluster) Live() *live.Reader { return c.live }

// Caches are those of the one engine that works on the cluster.
func (c *Cluster) Caches(handler informer.Handler) engine.Caches {
	c.caches.handler = handler
	return c.caches
}

// Write implements [engine.Writer]. When it returns, the caches have seen what came of it.
func (c *Cluster) Write(ctx context.Context, operation plan.Operation) write.Result {
	defer c.tell()
	return c.writer.Write(ctx, operation)
}

// Record implements [engine.Recorder].
func (c *Cluster) Record(ctx context.Context, event plan.Event, again bool) error {
	defer c.tell()
	return c.recorder.Record(ctx, event, again)
}

// tell has the caches see what has changed.
func (c *Cluster) tell() { c.caches.see(c.world.Take()) }

// Put stores an object as it was found, of a kind that the server has. Nobody is told:
// it is for a cluster that is being set up. What every stored object has is added.
func (c *Cluster) Put(object map[string]any) error {
	resource, err := c.resourceOf(object)
	if err != nil {
		return err
	}
	at := storage.Change{
		Resource: resource.GVR.GroupResource(), Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name"),
	}
	slashes := slices.Concat(content.IsPathSegmentName(at.Name), content.IsPathSegmentName(at.Namespace))
	if at.Name == "" || (at.Namespace != "") != resource.Namespaced || len(slashes) > 0 {
		return fmt.Errorf("%s: an object needs a name, and a namespace if its kind has them, without a slash", at)
	}
	complete := Stored(object, string(c.world.UID(at)), c.clock.Now())
	delete(complete["metadata"].(map[string]any), "resourceVersion") //nolint:forcetypeassert // It is that of the world.
	data, err := json.Marshal(complete)
	if err != nil {
		return fmt.Errorf("encoding an object: %w", err)
	}
	c.world.Put(at, data)
	c.found[types.UID(plan.Text(complete, "metadata", "uid"))] = true
	c.trust(object)
	return nil
}

func (c *Cluster) resourceOf(object map[string]any) (apiserver.Resource, error) {
	version, kind := plan.Text(object, "apiVersion"), plan.Text(object, "kind")
	gvk := schema.FromAPIVersionAndKind(version, kind)
	if found, known := c.server.OfKind(gvk); known {
		return found, nil
	}
	if err := c.server.Limit(gvk); err != nil {
		return apiserver.Resource{}, err
	}
	return apiserver.Resource{}, fmt.Errorf("the simulated cluster does not know the kind: %s %s", version, kind)
}

// Stored is an object with what every stored one has. The object itself is not changed.
func Stored(object map[string]any, uid string, now time.Time) map[string]any {
	out := maps.Clone(object)
	given, _ := object["metadata"].(map[string]any)
	metadata := map[string]any{}
	maps.Copy(metadata, given)
	for key, value := range map[string]string{"uid": uid, "creationTimestamp": now.UTC().Format(time.RFC3339)} {
		if have, _ := metadata[key].(string); have == "" {
			metadata[key] = value
		}
	}
	out["metadata"] = metadata
	return out
}

// trust takes it that the owners are somewhere that an object from outside names.
func (c *Cluster) trust(object map[string]any) {
	for _, r := range (&unstructured.Unstructured{Object: object}).GetOwnerReferences() {
		c.strangers[r.UID] = true
	}
}

// Object is an object and the resource that it is of. It is shared: read only.
type Object struct {
	*unstructured.Unstructured
	GVR schema.GroupVersionResource
}

// Objects lists everything in the cluster, in the order of resources, namespaces and names. What has not been
// written since is not read again: that would be most of what a cluster is asked for.
func (c *Cluster) Objects(ctx context.Context) ([]Object, error) {
	if c.objectsAt == c.world.Version() {
		return c.objects, nil
	}
	type key struct {
		gvr                      schema.GroupVersionResource
		namespace, name, version string
	}
	known := make(map[key]Object, len(c.objects))
	for _, o := range c.objects {
		known[key{o.GVR, o.GetNamespace(), o.GetName(), o.GetResourceVersion()}] = o
	}
	var all []Object
	for _, at := range c.world.Stored() {
		gvr := c.server.Preferred(at.Resource)
		if o, is := known[key{gvr, at.Namespace, at.Name, fmt.Sprint(at.Version)}]; is {
			all = append(all, o)
			continue
		}
		fields, err := c.live.Get(ctx, gvr, at.Namespace, at.Name)
		if err != nil {
			return nil, fmt.Errorf("reading what is stored: %w", err)
		}
		all = append(all, Object{&unstructured.Unstructured{Object: fields}, gvr})
	}
	c.objects, c.objectsAt = all, c.world.Version()
	return all, nil
}

// Apply makes an object be as given, as `kubectl apply --server-side` would, its status
// too. The error is that of the API server.
func (c *Cluster) Apply(ctx context.Context, object map[string]any) error {
	defer c.tell()
	resource, err := c.resourceOf(object)
	if err != nil {
		return err
	}
	c.trust(object)
	body := (&unstructured.Unstructured{Object: object}).DeepCopy()
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} { // Only the API server writes these.
		unstructured.RemoveNestedField(body.Object, "metadata", key)
	}
	data, err := json.Marshal(body.Object)
	if err != nil {
		return fmt.Errorf("encoding an object: %w", err)
	}
	at := plan.Object{GVR: resource.GVR, Namespace: body.GetNamespace(), Name: body.GetName()}
	if err := c.Patch(ctx, at, "", types.ApplyPatchType, data); err != nil || object["status"] == nil || !resource.Status {
		return err
	}
	return c.Patch(ctx, at, "status", types.ApplyPatchType, data)
}

// Patch changes an object. The error is that of the API server.
func (c *Cluster) Patch(ctx context.Context, at plan.Object, subresource string, kind types.PatchType, body []byte) error {
	defer c.tell()
	options := metav1.PatchOptions{FieldManager: tester}
	if kind == types.ApplyPatchType {
		options.Force = new(true)
		body = write.YAML(body)
	}
	var below []string
	if subresource != "" {
		below = []string{subresource}
	}
	_, err := c.user.Resource(at.GVR).Namespace(at.Namespace).Patch(ctx, at.Name, kind, body, options, below...)
	return err
}

// Delete deletes an object as kubectl does, in the background: kinds that would leave what
// belongs to them do not. The error is that of the API server.
func (c *Cluster) Delete(ctx context.Context, at plan.Object) error {
	defer c.tell()
	options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	return c.user.Resource(at.GVR).Namespace(at.Namespace).Delete(ctx, at.Name, options)
}

// Version changes with every change of an object.
func (c *Cluster) Version() uint64 { return c.world.Version() }

// Namespaces are those that have an object of the name, in order.
func (c *Cluster) Namespaces(resource schema.GroupResource, name string) []string {
	var out []string
	for _, at := range c.world.Stored() {
		if at.Resource == resource && at.Name == name {
			out = append(out, at.Namespace)
		}
	}
	return out
}

// Request is a request that would change something, as it was sent.
type Request struct {
	Method string
	Path   string // without the query
	Query  url.Values
	Type   string // of the content
	Body   []byte
	Status int // of the answer
	// Refusal is what the API server said if it did not do what was asked, "" if it did.
	Refusal string
}

// Requests takes what has been sent since it was called last, in order; reads are not
// among it.
func (c *Cluster) Requests() []Request {
	out := c.wire.sent
	c.wire.sent = nil
	return out
}

// wire notes what passes.
type wire struct {
	next http.RoundTripper
	sent []Request
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return w.next.RoundTrip(r)
	}
	request := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Type: r.Header.Get("Content-Type")}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("reading the body of a request: %w", err)
		}
		request.Body = body
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if request.Status = answer.StatusCode; request.Status >= http.StatusBadRequest {
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, fmt.Errorf("reading the answer to a request: %w", err)
		}
		answer.Body = io.NopCloser(bytes.NewReader(body))
		said := metav1.Status{Message: http.StatusText(request.Status)}
		_ = json.Unmarshal(body, &said) // What is no Status has no message.
		request.Refusal = said.Message
	}
	w.sent = append(w.sent, request)
	return answer, nil
}
