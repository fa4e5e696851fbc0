package apiserver_test

import (
	"testing"
	"time"
)

const (
	all  = "/apis/example.com/v1/namespaces/a/gadgets"
	one  = all + "/x"
	dull = `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":1}}`
)

// made is the first call of most cases.
var made = call{do: "POST " + all + "?fieldManager=m", body: dull, status: 201}

func TestCustom(t *testing.T) {
	server := gadgets(t)
	for name, test := range map[string]struct {
		reason string
		calls  []call
	}{
		"created": {
			reason: "what every object has comes from the world; defaults are set, what nobody defines is pruned, the status is not the client's",
			calls: []call{{
				do: "POST " + all + "?fieldManager=m", status: 201,
				body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":1,"other":2,"free":{"y":1}},"status":{"replicas":3}}`,
				want: []string{
					`metadata.generation=1`, `metadata.resourceVersion="1001"`, `metadata.creationTimestamp="2026-01-01T00:00:00Z"`,
					`metadata.managedFields.0.time="2026-01-01T00:00:00Z"`, `metadata.managedFields.0.manager="m"`, `metadata.managedFields.0.operation="Update"`,
					`spec={"free":{"y":1},"replicas":1,"size":1}`, `status=<absent>`,
				},
			}},
		},
		"created twice": {
			reason: "as any API server says",
			calls:  []call{made, {do: made.do, body: dull, status: 409, want: []string{`reason="AlreadyExists"`, `message="gadgets.example.com \"x\" already exists"`}}},
		},
		"refused by its schema": {
			reason: "minimum, enum, required and validation rules speak as in a cluster",
			calls: []call{
				{
					do: made.do, status: 422, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":-1,"colour":"blue"}}`,
					want: []string{`reason="Invalid"`, `details.causes.length=3`},
				},
				{
					do: made.do, status: 422, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{}}`,
					want: []string{`details.causes.0.field="spec.size"`, `details.causes.0.reason="FieldValueRequired"`},
				},
				{
					do: made.do, status: 422, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":3,"most":2}}`,
					want: []string{`message="Gadget.example.com \"x\" is invalid: spec: Invalid value: size is more than most"`},
				},
			},
		},
		"refused by a rule about what was": {
			reason: "transition rules see the object before",
			calls: []call{
				{do: made.do, status: 201, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":1,"colour":"red"}}`},
				{
					do: "PATCH " + one, as: merge, body: `{"spec":{"colour":"green"}}`, status: 422,
					want: []string{`message="Gadget.example.com \"x\" is invalid: spec.colour: Invalid value: \"green\": colour stays"`},
				},
			},
		},
		"merged": {
			reason: "the spec is a new generation; null removes, and a default comes back without one",
			calls: []call{
				made,
				{do: "PATCH " + one, as: merge, body: `{"spec":{"size":2}}`, status: 200, want: []string{`metadata.generation=2`, `metadata.resourceVersion="1002"`}},
				{do: "PATCH " + one, as: merge, body: `{"spec":{"size":2}}`, status: 200, want: []string{`metadata.generation=2`, `metadata.resourceVersion="1002"`}},
				{do: "PATCH " + one, as: merge, body: `{"spec":{"replicas":null}}`, status: 200, want: []string{`metadata.resourceVersion="1002"`, `spec.replicas=1`}},
				{do: "PATCH " + one, as: merge, body: `{"spec":{"other":1}}`, status: 200, want: []string{`metadata.resourceVersion="1002"`, `spec.other=<absent>`}},
				{do: "PATCH " + one, as: merge, body: `{"metadata":{"labels":{"l":"1"}}}`, status: 200, want: []string{`metadata.generation=2`, `metadata.resourceVersion="1003"`}},
				{do: "PATCH " + one, as: merge, body: `{"status":{"phase":"Good"}}`, status: 200, want: []string{`metadata.resourceVersion="1003"`, `status=<absent>`}},
				{do: "PATCH " + all + "/y", as: merge, body: `{"spec":{"size":2}}`, status: 404, want: []string{`message="gadgets.example.com \"y\" not found"`}},
				{do: "PATCH " + one, as: strategic, body: `{}`, status: 415, want: []string{`reason="UnsupportedMediaType"`}},
				{do: "PATCH " + one, as: merge, body: `[`, status: 400},
			},
		},
		"asked strictly": {
			reason: "fieldValidation=Strict turns pruning into a refusal",
			calls: []call{
				made,
				{do: "PATCH " + one + "?fieldValidation=Strict", as: merge, body: `{"spec":{"other":1}}`, status: 422, want: []string{`details.causes.0.field="patch"`}},
			},
		},
		"patched by JSON": {
			reason: "operations are carried out in order, all or none",
			calls: []call{
				made,
				{do: "PATCH " + one, as: jsonPatch, status: 200, body: `[{"op":"test","path":"/spec/size","value":1},{"op":"replace","path":"/spec/size","value":2}]`, want: []string{`spec.size=2`}},
				{
					do: "PATCH " + one, as: jsonPatch, status: 422, body: `[{"op":"replace","path":"/spec/size","value":3},{"op":"test","path":"/spec/size","value":1}]`,
					want: []string{`details={}`, `reason="Invalid"`},
				},
				{do: "PATCH " + one, as: jsonPatch, status: 422, body: `[{"op":"remove","path":"/spec/none"}]`},
				{do: "GET " + one, status: 200, want: []string{`spec.size=2`}},
			},
		},
		"the status": {
			reason: "it is written apart, does not touch the spec, and is no new generation",
			calls: []call{
				made,
				{
					do: "PATCH " + one + "/status", as: merge, body: `{"status":{"phase":"Good"},"spec":{"size":9},"metadata":{"labels":{"l":"1"}}}`, status: 200,
					want: []string{`status.phase="Good"`, `spec.size=1`, `metadata.generation=1`, `metadata.labels=<absent>`, `metadata.managedFields.1.subresource="status"`},
				},
				{do: "PATCH " + one + "/status", as: merge, body: `{"status":{"phase":"Ugly"}}`, status: 422},
				{do: "PATCH /apis/example.com/v1/sites/x/status", as: merge, body: `{}`, status: 404},
			},
		},
		"scale": {
			reason: "the paths of the definition are read and written",
			calls: []call{
				made,
				{do: "GET " + one + "/scale", status: 200, want: []string{`kind="Scale"`, `spec.replicas=1`}},
				{do: "PATCH " + one + "/scale", as: merge, body: `{"spec":{"replicas":4}}`, status: 200, want: []string{`spec.replicas=4`}},
				{do: "GET " + one, status: 200, want: []string{`spec.replicas=4`, `metadata.generation=2`}},
			},
		},
		"versions": {
			reason: "all served versions show the same object; one that is not served is no path",
			calls: []call{
				made,
				{do: "GET /apis/example.com/v1beta1/namespaces/a/gadgets/x", status: 200, want: []string{`apiVersion="example.com/v1beta1"`, `spec.size=1`}},
				{do: "PATCH /apis/example.com/v1beta1/namespaces/a/gadgets/x", as: merge, body: `{"spec":{"size":5}}`, status: 200, want: []string{`apiVersion="example.com/v1beta1"`}},
				{do: "GET " + one, status: 200, want: []string{`apiVersion="example.com/v1"`, `spec.size=5`}},
				{do: "GET /apis/example.com/v1alpha1/namespaces/a/gadgets/x", status: 404},
			},
		},
		"no namespaces": {
			reason: "a cluster-scoped object is not below one",
			calls: []call{
				{do: "POST /apis/example.com/v1/sites", body: `{"apiVersion":"example.com/v1","kind":"Site","metadata":{"name":"x"},"spec":{"size":1}}`, status: 201},
				{do: "PATCH /apis/example.com/v1/sites/x", as: merge, body: `{"status":{"phase":"Good"}}`, status: 200, want: []string{`metadata.generation=2`, `status.phase="Good"`}},
				{do: "GET /apis/example.com/v1/namespaces/a/sites/x", status: 404},
				{do: "GET /apis/example.com/v1/gadgets/x", status: 404},
			},
		},
		"not defined": {
			reason: "and what nobody watches: answers, not a panic",
			calls: []call{
				{do: "GET /apis/example.com/v1/namespaces/a/things", status: 404, want: []string{`message="the server could not find the requested resource"`}},
				{do: "GET /apis/example.com/v1", status: 404},
				{do: "GET /apis/example.com", status: 404},
				{do: "GET /apis", status: 200, want: []string{`kind="APIGroupDiscoveryList"`}},
				{do: "GET /", status: 404},
				{do: "GET " + all + "?watch=true", status: 500},
				{do: "GET " + one + "/none", status: 404},
				{do: "BREW " + one, status: 405},
			},
		},
		"time goes on": {
			reason: "an entry of managedFields has the time of its last change, by the clock of the world",
			calls: []call{
				made,
				{after: time.Hour, do: "PATCH " + one + "?fieldManager=n", as: merge, body: `{"spec":{"size":2}}`, status: 200, want: []string{
					`metadata.creationTimestamp="2026-01-01T00:00:00Z"`,
					`metadata.managedFields.0.manager="m"`, `metadata.managedFields.0.time="2026-01-01T00:00:00Z"`,
					`metadata.managedFields.1.manager="n"`, `metadata.managedFields.1.time="2026-01-01T01:00:00Z"`,
				}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			inNew(server).play(t, test.calls)
		})
	}
}
