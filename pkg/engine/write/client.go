package write

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Timeout bounds one write, with the reads that belong to it.
const Timeout = 30 * time.Second

// Result is the answer to one operation.
type Result struct {
	Class Class
	Err   error
	// RetryAfter is how long the API server asked to wait, zero where it did not ask.
	RetryAfter time.Duration
	// Object is the object in the answer, nil where there is none. Of [Taken] it is the object that has the name, and of [Stale] the
	// object as it is there; nil where that cannot be read.
	Object map[string]any
	// Echo is what the caches must show before the object that this was decided for
	// is evaluated again, nil where there is nothing to wait for or that is not
	// known. A failure may have one: a change that the caches have missed, or the part of
	// the operation that was written before it failed.
	Echo *Echo
}

// Client sends operations to the API server. It is safe for concurrent use.
type Client struct {
	api    *live.Reader
	dryRun bool
}

// NewClient returns a client that writes with the rights of config.
func NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next} })
	api, err := live.NewReader(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to write: %w", err)
	}
	return &Client{api: api}, nil
}

// DryRun returns a client whose writes the API server admits and validates but does not store.
func (c *Client) DryRun() *Client { return &Client{api: c.api, dryRun: true} }

// Write carries out one operation. Nothing of it is sent twice. The context's
// cancellation does not cut it short: a write that has begun is finished, within
// [Timeout].
func (c *Client) Write(ctx context.Context, operation plan.Operation) Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	if operation.Orphans() || operation.TakesOver {
		return c.handOver(ctx, operation)
	}
	return c.send(ctx, operation)
}

// handOver carries out an apply before which it is to be changed who owns fields, in a patch of managedFields: the manager gives up
// what the API server would remove otherwise, or takes over what it would leave. That list is not in the caches as it is on the server,
// so it is read for the purpose.
//
// A dry run of giving up ends with that patch. The patch is not stored, so a dry run of the apply would show the fields removed.
func (c *Client) handOver(ctx context.Context, operation plan.Operation) Result {
	request, err := NewRequest(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	target, whole := operation.Target, live.Keeping(ctx, nil)
	stored, err := c.api.Get(whole, target.GVR, target.Namespace, target.Name)
	if err == nil && (stored == nil || identity(target, &unstructured.Unstructured{Object: stored}) != target) {
		err = apierrors.NewConflict(target.GVR.GroupResource(), target.Name, errors.New("the object has changed"))
	}
	if err != nil {
		request.Subresource = "" // The object itself was read.
		return c.refused(ctx, request, err)
	}
	body, _ := operation.Body.(map[string]any)
	steps := operation.TakeOver(stored)
	if operation.Orphans() {
		steps = operation.GiveUp(stored)
	} else if c.dryRun { // The former manager would remove the same.
		operation.Manager, steps = cmp.Or(operation.Former(stored), operation.Manager), nil
	}
	if len(steps) == 0 {
		return c.send(ctx, operation)
	}
	released := c.send(whole, plan.Operation{Type: plan.JSON, Target: target, Manager: plan.FieldManager, Body: steps})
	switch {
	case operation.TakesOver && released.Class == Unchanged:
		return c.send(ctx, operation)
	case released.Class != Written || released.Echo == nil || released.Echo.Gone:
		return released
	case operation.Orphans() && len(operation.GiveUp(released.Object)) > 0:
		released.Class, released.Err = Terminal, &Error{Request: request, cause: errStillOwned}
		return released
	case len(body) == 0:
		return released
	}
	operation.Target.ResourceVersion = released.Echo.Object.ResourceVersion
	result := c.send(ctx, operation)
	if result.Class == Unchanged {
		result.Class = Written
	}
	result.Echo = cmp.Or(result.Echo, released.Echo)
	return result
}

var errStillOwned = errors.New("the API server did not let go of the fields that the rule gives up, and would remove them")

// mostRemoved bounds how many removed versions the entries of one object are moved from: each answer names one.
const mostRemoved = 5

// send sends an operation and interprets the answer. An apply is refused for as long as an entry of managedFields, whoever made it, names
// a version that the CRD has no more: the API server cannot convert the object for it. The API server drops such entries of built-in
// resources. Here, they get the version of the apply first, and whoever made them owns what it owned.
func (c *Client) send(ctx context.Context, operation plan.Operation) Result {
	result := c.sendOnce(ctx, operation)
	for range mostRemoved {
		target, version := operation.Target, removedVersionOf(result.Err)
		if version == "" || operation.Type != plan.Apply || target.UID == "" || c.dryRun {
			break
		}
		whole := live.Keeping(ctx, nil)
		stored, err := c.api.Get(whole, target.GVR, target.Namespace, target.Name)
		steps := plan.Reversion(stored, version, target.GVR.GroupVersion().String())
		if err != nil || len(steps) == 0 || identity(target, &unstructured.Unstructured{Object: stored}) != target {
			break
		}
		moved := c.sendOnce(whole, plan.Operation{Type: plan.JSON, Target: target, Manager: plan.FieldManager, Body: steps})
		if moved.Class != Written || moved.Echo == nil || moved.Echo.Gone {
			return moved
		}
		operation.Target.ResourceVersion = moved.Echo.Object.ResourceVersion
		if result = c.sendOnce(ctx, operation); result.Class == Unchanged {
			result.Class = Written
		}
		result.Echo = cmp.Or(result.Echo, moved.Echo)
	}
	return result
}

// sendOnce sends one request and interprets the answer.
func (c *Client) sendOnce(ctx context.Context, operation plan.Operation) Result {
	request, prepared, err := c.prepare(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	if isNamespace(request.Target) || c.dryRun { // People see all of a dry run, and a Namespace has finalizers in its spec.
		ctx = live.Keeping(ctx, nil)
	}
	answer, err := live.Decode(ctx, prepared.Do(ctx))
	if err == nil {
		err = request.checkAnswer(answer)
	}
	if err != nil {
		return c.refused(ctx, request, err)
	}
	target, result := request.Target, Result{Class: Written, Object: answer.Object}
	switch {
	case c.dryRun:
		result.Class = Simulated
	case request.Type == plan.Delete && answer.GetDeletionTimestamp() != nil && held(target, answer):
		result.Echo = &Echo{Object: identity(target, answer), Gone: true}
	case request.Type == plan.Delete || Ended(target, answer):
		result.Echo = gone(target)
	case target.ResourceVersion != "" && target.ResourceVersion == answer.GetResourceVersion():
		result.Class = Unchanged
	default:
		result.Echo = echo(target, answer)
	}
	return result
}

// prepare makes the HTTP request of an operation.
func (c *Client) prepare(operation plan.Operation) (Request, *rest.Request, error) {
	request, err := NewRequest(operation)
	if err != nil {
		return request, nil, err
	}
	if options, is := request.Body.(metav1.DeleteOptions); is && c.dryRun { // A deletion with a body ignores the parameters.
		options.DryRun = []string{metav1.DryRunAll}
		request.Body = options
	}
	data, err := json.Marshal(request.Body)
	if err != nil {
		return request, nil, fmt.Errorf("%s: encoding the request: %w", request.action(), err)
	}
	if request.Type == plan.Apply {
		data = YAML(data)
	}
	verb := verbs[request.Type]
	to, err := c.api.At(verb.method, request.Target.GVR, request.Target.Namespace)
	if err != nil {
		return request, nil, fmt.Errorf("%s: %w", request.action(), err)
	}
	to = to.SetHeader("Content-Type", verb.contentType).Body(data)
	if request.Type != plan.Create {
		to = to.Name(request.Target.Name)
	}
	if request.Subresource != "" {
		to = to.SubResource(request.Subresource)
	}
	if request.Type == plan.Apply {
		to = to.Param("force", strconv.FormatBool(request.Force))
	}
	if request.Type != plan.Delete {
		// A field unknown to the schema would be pruned and written again for ever.
		// Strict validation refuses it by name.
		to = to.Param("fieldManager", request.Manager).Param("fieldValidation", metav1.FieldValidationStrict)
		if c.dryRun {
			to = to.Param("dryRun", metav1.DryRunAll)
		}
	}
	if err := to.Error(); err != nil {
		return request, nil, fmt.Errorf("%s: %w", request.action(), err)
	}
	return request, to, nil
}

// refused interprets an error, and asks what the caches have missed where that may be why.
func (c *Client) refused(ctx context.Context, request Request, err error) Result {
	target, result := request.Target, Result{Class: request.classify(err), Err: &Error{Request: request, cause: err}}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	result.RetryAfter = time.Duration(seconds) * time.Second
	switch result.Class {
	case Terminal:
		if target.UID == "" {
			break
		}
		// The API server has judged the object as it is now. If that is another object than that of the
		// snapshot, or another version of it, another request may be right.
		if echo, there := c.missed(ctx, target); echo != nil && echo.Object != target {
			result.Class = Stale
			result.shows(echo, there)
		}
	case Stale:
		result.shows(c.missed(ctx, target))
	case Taken:
		result.Echo, result.Object = c.missed(ctx, target)
	case Unchanged:
		result.Echo, result.Err = gone(target), nil
	default:
	}
	return result
}

// shows says how the object is there, which tells which caches have to show it.
func (r *Result) shows(echo *Echo, there map[string]any) {
	if r.Echo = echo; echo != nil && !echo.Gone {
		r.Object = there
	}
}

// missed reads what the caches have missed of an object. It returns no echo where that
// cannot be told, or where nothing was missed.
func (c *Client) missed(ctx context.Context, target plan.Object) (*Echo, map[string]any) {
	stored, err := c.api.Get(ctx, target.GVR, target.Namespace, target.Name)
	if err != nil {
		return nil, nil
	}
	return EchoOf(target, stored), stored
}

// Request is an operation as it is sent: its body carries the guards.
type Request struct{ plan.Operation }

// verbs are how the operations that can be sent are sent.
var verbs = map[plan.Type]struct{ method, contentType string }{
	plan.Create: {http.MethodPost, runtime.ContentTypeJSON},
	plan.Merge:  {http.MethodPatch, string(types.MergePatchType)},
	plan.JSON:   {http.MethodPatch, string(types.JSONPatchType)},
	plan.Apply:  {http.MethodPatch, string(types.ApplyPatchType)},
	plan.Delete: {http.MethodDelete, runtime.ContentTypeJSON},
}

// NewRequest adds the uid and the resourceVersion of the snapshot to an operation. Only a
// create, and an apply to a target without a uid, have none: they can only make an object. It
// is an error to write any other without both, and to write a subresource other than those of [plan.MayWrite].
func NewRequest(operation plan.Operation) (Request, error) {
	request := Request{operation}
	// A request that can only create takes nothing from anybody. Without force, an apply would
	// be answered with the owners of fields of the existing object, not with its existence.
	request.Force = request.Force || request.creates()
	err := errUnguarded
	switch target := request.Target; {
	case !plan.MayWrite(target.GVR.GroupResource(), request.Subresource):
		err = errNoObject
	case request.creates() == (target.UID == "") && request.creates() == (target.ResourceVersion == ""):
		request.Body, err = request.guarded()
	}
	if err != nil {
		return Request{}, fmt.Errorf("%s: %w", request.action(), err)
	}
	return request, nil
}

// errNoObject is of subresources that an API server may connect to something else: it would get the request, and could answer anything.
var errNoObject = errors.New("rules may not write this subresource, since it is no object that the API server stores")

var errUnguarded = errors.New("what exists is written with its uid and resourceVersion, and what is new has neither")

// creates reports whether a request can only make an object.
func (r Request) creates() bool {
	return r.Type == plan.Create || r.Type == plan.Apply && r.Target.UID == ""
}

// neverCurrent is a resourceVersion that no object has: the revision of an empty
// store. An apply with it makes an object, and conflicts with one that exists.
const neverCurrent = "1"

// guarded returns the body with the guards. The body of the operation is not changed.
func (r Request) guarded() (any, error) {
	target := r.Target
	guards := map[string]any{"uid": string(target.UID), "resourceVersion": target.ResourceVersion}
	fields, _ := r.Body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	switch r.Type {
	case plan.Create:
		return fields, nil
	case plan.Merge:
		return with(fields, map[string]any{"metadata": with(metadata, guards)}), nil
	case plan.JSON:
		steps, _ := r.Body.([]any)
		// A replaced resourceVersion that is stale is answered as a conflict, a failed test as an invalid request.
		return append([]any{
			map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": target.ResourceVersion},
			map[string]any{"op": "replace", "path": "/metadata/uid", "value": string(target.UID)},
		}, steps...), nil
	case plan.Apply:
		if target.UID == "" {
			guards = map[string]any{"resourceVersion": neverCurrent}
		}
		guards["name"] = target.Name
		if target.Namespace != "" {
			guards["namespace"] = target.Namespace
		}
		return with(fields, map[string]any{
			"apiVersion": target.GVR.GroupVersion().String(), "kind": target.Kind, "metadata": with(metadata, guards),
		}), nil
	case plan.Delete:
		deletion, _ := r.Body.(plan.Deletion)
		options := metav1.DeleteOptions{
			TypeMeta:           metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			GracePeriodSeconds: deletion.GracePeriodSeconds,
			Preconditions:      &metav1.Preconditions{UID: &target.UID, ResourceVersion: &target.ResourceVersion},
		}
		if policy := metav1.DeletionPropagation(deletion.PropagationPolicy); policy != "" {
			options.PropagationPolicy = &policy
		}
		return options, nil
	default:
		return nil, fmt.Errorf("an operation of type %q cannot be sent", r.Type)
	}
}

// with returns a copy of fields with others added or replaced.
func with(fields, others map[string]any) map[string]any {
	out := make(map[string]any, len(fields)+len(others))
	maps.Copy(out, fields)
	maps.Copy(out, others)
	return out
}

// action begins messages about the request, such as "deleting pods ns/a".
func (r Request) action() string {
	target := r.Target
	switch {
	case r.creates():
		target.Name = cmp.Or(target.Name, "(a new one)")
		return "creating " + target.String()
	case r.Type == plan.Delete:
		return "deleting " + target.String()
	case r.Subresource != "":
		return fmt.Sprintf("writing %s of %s", r.Subresource, target)
	default:
		return "writing " + target.String()
	}
}

// Echo is what the caches must show of a write before the object that it was
// decided for is evaluated again.
type Echo struct {
	// Object is the object in the answer: with name, uid and resourceVersion.
	// The version is empty where the object does not exist any more.
	Object plan.Object
	// Gone means that the caches must not have the object any more, or have another of its name, or, where
	// there is a version, have it in that version and with a deletionTimestamp.
	Gone bool
}

// EchoOf is the echo of an object as it was read, nil for none: what the caches have to show. The target is gone where
// whatever has its name is another one.
func EchoOf(target plan.Object, stored map[string]any) *Echo {
	there := &unstructured.Unstructured{Object: stored}
	if target.UID != "" && (stored == nil || identity(target, there).UID != target.UID) {
		return gone(target)
	}
	return echo(target, there)
}

// echo returns nil where the answer has no version to wait for.
func echo(target plan.Object, answer *unstructured.Unstructured) *Echo {
	if answer.GetResourceVersion() == "" {
		return nil
	}
	return &Echo{Object: identity(target, answer)}
}

// gone returns the echo of an object that does not exist any more.
func gone(target plan.Object) *Echo {
	target.ResourceVersion = ""
	return &Echo{Object: target, Gone: true}
}

// identity returns the target with the metadata of the answer. Some subresources answer with an object of
// another kind, which has the name, uid and version of the target.
func identity(target plan.Object, answer *unstructured.Unstructured) plan.Object {
	target.Namespace = cmp.Or(answer.GetNamespace(), target.Namespace)
	target.Name = cmp.Or(answer.GetName(), target.Name)
	target.UID = cmp.Or(answer.GetUID(), target.UID)
	target.ResourceVersion = cmp.Or(answer.GetResourceVersion(), target.ResourceVersion)
	return target
}

// Ended reports whether a patch was the end of an object that was being deleted. The
// API server then answers with the object that it would have stored, under the version that it
// found. So a patch that removed the last finalizer looks like one that changed nothing.
func Ended(target plan.Object, answer *unstructured.Unstructured) bool {
	stored := answer.GetResourceVersion()
	return answer.GetDeletionTimestamp() != nil && !held(target, answer) && (stored == "" || stored == target.ResourceVersion)
}

// held reports whether finalizers or a grace period keep an object from being removed. A Namespace has
// finalizers in its spec too.
func held(target plan.Object, answer *unstructured.Unstructured) bool {
	var inSpec []any
	if isNamespace(target) {
		inSpec, _, _ = unstructured.NestedSlice(answer.Object, "spec", "finalizers")
	}
	grace := answer.GetDeletionGracePeriodSeconds()
	return len(answer.GetFinalizers())+len(inSpec) > 0 || grace != nil && *grace != 0
}

func isNamespace(target plan.Object) bool {
	return target.GVR.Group == "" && target.GVR.Resource == "namespaces"
}

// whileKey is the key of the context for [While].
type whileKey struct{}

// While returns a context in which a write is sent only while valid returns true. It is called
// right before the request is sent. A write that is not sent is [Unreachable].
func While(ctx context.Context, valid func() bool) context.Context {
	return context.WithValue(ctx, whileKey{}, valid)
}

// Valid reports whether a write may still be sent, as far as [While] says.
func Valid(ctx context.Context) bool {
	valid, limited := ctx.Value(whileKey{}).(func() bool)
	return !limited || valid()
}

var errLate = errors.New("it took too long until it could be sent, so it is decided anew")

// transport holds back requests by [While]: only it knows when the rate limiter has let them pass.
type transport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	// A read after a write tells its result, however late.
	if request.Method != http.MethodGet && !Valid(request.Context()) {
		return nil, errLate
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport that can be closed.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// ClientDryRun sends nothing.
type ClientDryRun struct {
	// Get reads the object that may already have the name of one that is to be made, where the rules do not see it. Nil is for none.
	Get func(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
}

// Write answers what the operation is predicted to do.
func (c ClientDryRun) Write(ctx context.Context, operation plan.Operation) Result {
	request, err := NewRequest(operation)
	if err != nil {
		return Result{Class: Terminal, Err: err}
	}
	if target := request.Target; c.Get != nil && request.creates() && operation.Unseen != nil {
		if there, err := c.Get(ctx, target.GVR, target.Namespace, target.Name); err != nil || there != nil {
			return Result{Class: Stale, Err: &Error{Request: request, cause: cmp.Or(err, errors.New("it is there already"))}}
		}
	}
	return Result{Class: Simulated, Object: operation.Predicted}
}

// Record records nothing.
func (ClientDryRun) Record(context.Context, plan.Event, bool) error { return nil }
