package write_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// one is the path of the target, many that of its resource.
	many = "/apis/example.com/v1/namespaces/ns/widgets"
	one  = many + "/a"
	// how are the parameters of each write but a deletion.
	how = "?fieldManager=dyncontroller&fieldValidation=Strict"
)

// widget is the target with more metadata, as JSON.
func widget(metadata string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns",` + metadata + `}}`
}

// refusal is one as the API server words it.
func refusal(reason, details string) string {
	return `{"apiVersion":"v1","kind":"Status","status":"Failure","code":CODE,"reason":"` + reason + `","message":"no","details":{` + details + `}}`
}

const (
	notFound  = `"group":"example.com","kind":"widgets","name":"a"`
	noSuch    = `404 page not found`
	deleted   = `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"a","uid":"u"}}`
	dying     = `"uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z"`
	withGrace = dying + `,"deletionGracePeriodSeconds":30`
)

// at is the target as it came back, or is live.
func at(version string) plan.Object {
	object := target
	object.ResourceVersion = version
	return object
}

func operation(kind plan.Type, body any) plan.Operation {
	out := plan.Operation{Type: kind, Target: target, Manager: plan.FieldManager, Body: body}
	if kind == plan.Delete {
		out.Manager = ""
	}
	return out
}

// TestAnswers holds what is sent for each kind of operation, and what the answer
// means.
func TestAnswers(t *testing.T) {
	merge, remove := operation(plan.Merge, map[string]any{}), operation(plan.Delete, plan.Deletion{})
	create := operation(plan.Create, map[string]any{"metadata": map[string]any{"name": "a"}})
	create.Target = absent(target)
	unnamed := operation(plan.Create, map[string]any{"metadata": map[string]any{"generateName": "b-"}})
	unnamed.Target = plan.Object{GVR: target.GVR, Kind: target.Kind, Namespace: "ns"}
	onStatus := merge
	onStatus.Subresource = "status"
	onNew := operation(plan.Apply, map[string]any{})
	onNew.Target = absent(target)
	patched := "PATCH " + one + how
	tests := map[string]struct {
		reason    string
		operation plan.Operation
		script    []exchange
		want      write.Class
		echo      *write.Echo
		object    bool // the result has one
	}{
		"Merge": {
			"What came back is waited for.", merge,
			[]exchange{{request: patched, body: `{"metadata":{"resourceVersion":"7","uid":"u"}}`, answer: widget(`"uid":"u","resourceVersion":"8"`)}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"Unchanged": {
			"There is nothing to wait for.", merge,
			[]exchange{{request: patched, answer: widget(`"uid":"u","resourceVersion":"7"`)}},
			write.Unchanged, nil, true,
		},
		"NoVersion": {
			"Nor can it be waited for what has no version.", merge,
			[]exchange{{request: patched, answer: widget(`"uid":"u"`)}},
			write.Written, nil, true,
		},
		"OtherKind": {
			"A subresource may answer with another kind, which has the name and the version of the object.",
			plan.Operation{Type: plan.Merge, Target: target, Subresource: "scale", Manager: plan.FieldManager, Body: map[string]any{}},
			[]exchange{{
				request: "PATCH " + one + "/scale" + how,
				answer:  `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}`,
			}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"LastFinalizer": {
			"The end of an object is answered with its old version.", merge,
			[]exchange{{request: patched, answer: widget(dying + `,"resourceVersion":"7"`)}},
			write.Written, &write.Echo{Object: at(""), Gone: true}, true,
		},
		"LastFinalizerNoVersion": {
			"Or with none.", merge,
			[]exchange{{request: patched, answer: widget(dying)}},
			write.Written, &write.Echo{Object: at(""), Gone: true}, true,
		},
		"StillHeld": {
			"Another finalizer keeps it.", merge,
			[]exchange{{request: patched, answer: widget(dying + `,"resourceVersion":"8","finalizers":["x"]`)}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"Stale": {
			"The caches have missed a version.", merge,
			[]exchange{{request: patched, code: 409, answer: refusal("Conflict", notFound)}, {request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"9"`)}},
			write.Stale, &write.Echo{Object: at("9")}, true,
		},
		"StaleGone": {
			"They have missed that it is gone.", merge,
			[]exchange{{request: patched, code: 404, answer: refusal("NotFound", notFound)}, {request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)}},
			write.Stale, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"StaleRecreated": {
			"They have missed that another has its name: the old one is to go.", merge,
			[]exchange{{request: patched, code: 409, answer: refusal("Conflict", notFound)}, {request: "GET " + one, answer: widget(`"uid":"other","resourceVersion":"9"`)}},
			write.Stale, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"StaleUnknown": {
			"What cannot be read is not waited for.", merge,
			[]exchange{{request: patched, code: 409, answer: refusal("Conflict", notFound)}, {request: "GET " + one, code: 403, answer: refusal("Forbidden", notFound)}},
			write.Stale, nil, false,
		},
		"StaleNoResource": {
			"That the resource is gone says nothing of the object.", merge,
			[]exchange{{request: patched, code: 409, answer: refusal("Conflict", notFound)}, {request: "GET " + one, code: 404, answer: noSuch}},
			write.Stale, nil, false,
		},
		"NoSubresource": {
			"A resource without the subresource answers as if the object were missing.", onStatus,
			[]exchange{
				{request: "PATCH " + one + "/status" + how, code: 404, answer: refusal("NotFound", notFound)},
				{request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"7"`)},
			},
			write.Terminal, nil, false,
		},
		"StatusGone": {
			"Here it is the object that is missing.", onStatus,
			[]exchange{
				{request: "PATCH " + one + "/status" + how, code: 404, answer: refusal("NotFound", notFound)},
				{request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)},
			},
			write.Stale, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"StatusUnknown": {
			"Which of them it is cannot be read.", onStatus,
			[]exchange{
				{request: "PATCH " + one + "/status" + how, code: 404, answer: refusal("NotFound", notFound)},
				{request: "GET " + one, code: 403, answer: refusal("Forbidden", notFound)},
			},
			write.Terminal, nil, false,
		},
		"Forbidden": {
			"The object is as it was: it is the request that is not allowed.", merge,
			[]exchange{{request: patched, code: 403, answer: refusal("Forbidden", notFound)}, {request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"7"`)}},
			write.Terminal, nil, false,
		},
		"ForbiddenGone": {
			"A webhook has looked at what is gone.", merge,
			[]exchange{{request: patched, code: 403, answer: refusal("Forbidden", notFound)}, {request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)}},
			write.Stale, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"InvalidChanged": {
			"A step of a JSON patch leads nowhere in the object as it is now, of which the API server says so first.", merge,
			[]exchange{{request: patched, code: 422, answer: refusal("Invalid", notFound)}, {request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"9"`)}},
			write.Stale, &write.Echo{Object: at("9")}, true,
		},
		"ApplyNew": {
			"It made the object.", onNew,
			[]exchange{{
				request: "PATCH " + one + "?fieldManager=dyncontroller&fieldValidation=Strict&force=true", code: 201,
				body:   `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","resourceVersion":"1"}}`,
				answer: widget(`"uid":"u","resourceVersion":"8"`),
			}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"ApplyNewThere": {
			"Something is there, whatever its uid.", onNew,
			[]exchange{
				{request: "PATCH " + one + how + "&force=true", code: 409, answer: refusal("Conflict", notFound)},
				{request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"9"`)},
			},
			write.Stale, &write.Echo{Object: at("9")}, true,
		},
		"ApplyNewWasThere": {
			"Something was there, and the caches know of none.", onNew,
			[]exchange{
				{request: "PATCH " + one + how + "&force=true", code: 409, answer: refusal("Conflict", notFound)},
				{request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)},
			},
			write.Stale, nil, false,
		},
		"Create": {
			"It made the object.", create,
			[]exchange{{request: "POST " + many + how, code: 201, body: `{"metadata":{"name":"a"}}`, answer: widget(`"uid":"u","resourceVersion":"8"`)}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"CreateUnnamed": {
			"The name is in the answer.", unnamed,
			[]exchange{{request: "POST " + many + how, code: 201, answer: widget(`"uid":"u","resourceVersion":"8"`)}},
			write.Written, &write.Echo{Object: at("8")}, true,
		},
		"Taken": {
			"What has the name is told, so that the engine can tell whose it is.", create,
			[]exchange{{request: "POST " + many + how, code: 409, answer: refusal("AlreadyExists", notFound)}, {request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"9"`)}},
			write.Taken, &write.Echo{Object: at("9")}, true,
		},
		"WasTaken": {
			"It is free again.", create,
			[]exchange{{request: "POST " + many + how, code: 409, answer: refusal("AlreadyExists", notFound)}, {request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)}},
			write.Taken, nil, false,
		},
		"NoNameFree": {
			"The API server found no name, and wants to be asked again.", unnamed,
			[]exchange{{request: "POST " + many + how, code: 409, answer: refusal("AlreadyExists", `"name":"b-x","retryAfterSeconds":1`)}},
			write.Overloaded, nil, false,
		},
		"NoNamespace": {
			"No fresh snapshot brings the namespace.", create,
			[]exchange{{request: "POST " + many + how, code: 404, answer: refusal("NotFound", `"kind":"namespaces","name":"ns"`)}},
			write.Terminal, nil, false,
		},
		"ApplyNoNamespace": {
			"So it is for an apply.", onNew,
			[]exchange{{request: "PATCH " + one + how + "&force=true", code: 404, answer: refusal("NotFound", `"kind":"namespaces","name":"ns"`)}},
			write.Terminal, nil, false,
		},
		"CreateLost": {
			"It may have been made.", create,
			[]exchange{{request: "POST " + many + how, code: 504, answer: refusal("Timeout", notFound)}},
			write.Ambiguous, nil, false,
		},
		"Delete": {
			"It is gone.", remove,
			[]exchange{{
				request: "DELETE " + one, answer: deleted,
				body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"}}`,
			}},
			write.Written, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"DeleteLastSeen": {
			"It is gone: the answer is the object as it was.", remove,
			[]exchange{{request: "DELETE " + one, answer: widget(`"uid":"u","resourceVersion":"7"`)}},
			write.Written, &write.Echo{Object: at(""), Gone: true}, true,
		},
		"DeleteAtOnce": {
			"It was on its way, and is gone.", remove,
			[]exchange{{request: "DELETE " + one, answer: widget(dying + `,"deletionGracePeriodSeconds":0,"resourceVersion":"8"`)}},
			write.Written, &write.Echo{Object: at(""), Gone: true}, true,
		},
		"DeleteHeld": {
			"A finalizer delays its end. The version says that the caches have seen the deletion.", remove,
			[]exchange{{request: "DELETE " + one, answer: widget(dying + `,"resourceVersion":"8","finalizers":["x"]`)}},
			write.Written, &write.Echo{Object: at("8"), Gone: true}, true,
		},
		"DeleteGracefully": {
			"Its grace delays its end.", remove,
			[]exchange{{request: "DELETE " + one, code: 202, answer: widget(withGrace + `,"resourceVersion":"8"`)}},
			write.Written, &write.Echo{Object: at("8"), Gone: true}, true,
		},
		"DeleteGone": {
			"What was wanted is so; the caches have to notice.", remove,
			[]exchange{{request: "DELETE " + one, code: 404, answer: refusal("NotFound", notFound)}},
			write.Unchanged, &write.Echo{Object: at(""), Gone: true}, false,
		},
		"DeleteNoResource": {
			"Nothing is known of the object.", remove,
			[]exchange{{request: "DELETE " + one, code: 404, answer: noSuch}, {request: "GET " + one, code: 404, answer: noSuch}},
			write.Terminal, nil, false,
		},
		"DeleteStale": {
			"A precondition does not hold.", remove,
			[]exchange{{request: "DELETE " + one, code: 409, answer: refusal("Conflict", notFound)}, {request: "GET " + one, answer: widget(`"uid":"u","resourceVersion":"9"`)}},
			write.Stale, &write.Echo{Object: at("9")}, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := serve(t, write.NewClient, tc.script...).Write(t.Context(), tc.operation)
			if result.Class != tc.want || (result.Err != nil) != tc.want.Failed() {
				t.Errorf("%s got %q, want %q: %v", tc.reason, result.Class, tc.want, result.Err)
			}
			if diff := cmp.Diff(tc.echo, result.Echo); diff != "" {
				t.Errorf("%s echo (-want +got):\n%s", tc.reason, diff)
			}
			if (result.Object != nil) != tc.object {
				t.Errorf("%s the object is %v", tc.reason, result.Object)
			}
		})
	}
}

// TestServerDryRuns holds that each kind of write says that it is one. A deletion has
// to say it in its body: with one, its parameters are not read.
func TestServerDryRuns(t *testing.T) {
	created := operation(plan.Create, map[string]any{"metadata": map[string]any{"name": "a"}})
	created.Target = absent(target)
	const dry = "?dryRun=All&fieldManager=dyncontroller&fieldValidation=Strict"
	for name, tc := range map[string]struct {
		operation plan.Operation
		sent      exchange
	}{
		"Merge":  {operation(plan.Merge, map[string]any{}), exchange{request: "PATCH " + one + dry}},
		"Create": {created, exchange{request: "POST " + many + dry}},
		"Delete": {operation(plan.Delete, plan.Deletion{}), exchange{
			request: "DELETE " + one,
			body:    `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"},"dryRun":["All"]}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.sent.answer = widget(dying + `,"resourceVersion":"8"`)
			result := serve(t, newDryRun, tc.sent).Write(t.Context(), tc.operation)
			if result.Class != write.Simulated || result.Echo != nil || result.Err != nil {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestClientDryRuns holds that every kind of operation can be predicted.
func TestClientDryRuns(t *testing.T) {
	for _, each := range []plan.Operation{
		operation(plan.Merge, map[string]any{}),
		operation(plan.JSON, []any{}),
		operation(plan.Apply, map[string]any{}),
		operation(plan.Delete, plan.Deletion{}),
		{Type: plan.Create, Target: absent(target), Body: map[string]any{"metadata": map[string]any{"name": "a"}}},
	} {
		each.Predicted = map[string]any{"kind": "Widget"}
		result := write.ClientDryRun{}.Write(t.Context(), each)
		if result.Class != write.Simulated || result.Object["kind"] != "Widget" || result.Echo != nil {
			t.Errorf("%s: got %+v", each.Type, result)
		}
	}
}

// TestUnsendable holds that a name that would not stay in its place of a path is
// refused before it is sent.
func TestUnsendable(t *testing.T) {
	for name, change := range map[string]func(*plan.Object){
		"Name":      func(o *plan.Object) { o.Name = "../../secrets/b" },
		"Namespace": func(o *plan.Object) { o.Namespace = ".." },
		"Value":     func(*plan.Object) {},
	} {
		t.Run(name, func(t *testing.T) {
			each := operation(plan.Merge, map[string]any{})
			if change(&each.Target); each.Target == target {
				each.Body = map[string]any{"spec": make(chan int)}
			}
			if result := serve(t, write.NewClient).Write(t.Context(), each); result.Class != write.Terminal || result.Err == nil {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestClusterScoped holds where objects without a namespace, and those of the core
// group, are written.
func TestClusterScoped(t *testing.T) {
	each := operation(plan.Merge, map[string]any{})
	each.Target = plan.Object{GVR: target.GVR.GroupVersion().WithResource("nodes"), Kind: "Node", Name: "a", UID: "u", ResourceVersion: "7"}
	each.Target.GVR.Group = ""
	client := serve(t, write.NewClient, exchange{
		request: http.MethodPatch + " /api/v1/nodes/a" + how,
		answer:  `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u","resourceVersion":"8"}}`,
	})
	if result := client.Write(t.Context(), each); result.Class != write.Written {
		t.Errorf("got %+v", result)
	}
}
