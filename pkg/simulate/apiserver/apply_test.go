package apiserver_test

import "testing"

// sized is a Gadget to be applied, with a size and what else is in its metadata.
func sized(size, metadata string) string {
	return `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"` + metadata + `},"spec":{"size":` + size + `}}`
}

func TestApply(t *testing.T) {
	server := gadgets(t)
	const as, by, other, force = apply, "?fieldManager=r", "?fieldManager=o", "&force=true"
	for name, test := range map[string]struct {
		reason string
		calls  []call
	}{
		"to nothing": {
			reason: "it creates",
			calls: []call{{do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 201, want: []string{
				`metadata.generation=1`, `spec={"replicas":1,"size":1}`, `metadata.managedFields.0.operation="Apply"`,
				`metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}}`, `metadata.managedFields.0.time="2026-01-01T00:00:00Z"`,
			}}},
		},
		"again": {
			reason: "the same changes nothing, not even the version",
			calls: []call{
				{do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 201},
				{after: 1e12, do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 200, want: []string{
					`metadata.resourceVersion="1001"`, `metadata.managedFields.0.time="2026-01-01T00:00:00Z"`,
				}},
			},
		},
		"a conflict": {
			reason: "what another manager owns is refused, unless it is forced",
			calls: []call{
				made,
				{do: "PATCH " + one + by, as: as, body: sized("2", ""), status: 409, want: []string{
					`reason="Conflict"`, `details.causes.0.reason="FieldManagerConflict"`, `details.causes.0.field=".spec.size"`,
					`message="Apply failed with 1 conflict: conflict with \"m\" using example.com/v1: .spec.size"`,
				}},
				{do: "PATCH " + one + by + force, as: as, body: sized("2", ""), status: 200, want: []string{
					`spec.size=2`, `metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}}`, `metadata.managedFields.1.fieldsV1={"f:spec":{".":{},"f:replicas":{}}}`,
				}},
			},
		},
		"the same value": {
			reason: "both managers own it",
			calls: []call{
				made,
				{do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 200, want: []string{`metadata.managedFields.length=2`}},
			},
		},
		"given up": {
			reason: "what its last manager leaves out goes, and a default takes its place",
			calls: []call{
				made,
				{do: "PATCH " + one + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x","labels":{"l":"1"}},"spec":{"most":5}}`, status: 200},
				{do: "PATCH " + one + other, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"most":5}}`, status: 200},
				{
					do: "PATCH " + one + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"}}`, status: 200,
					want: []string{`spec.most=5`, `metadata.labels=<absent>`},
				},
				{
					do: "PATCH " + one + other, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"}}`, status: 200,
					want: []string{`spec.most=<absent>`, `metadata.managedFields.length=1`},
				},
			},
		},
		"given up, invalid": {
			reason: "what is required cannot be given up",
			calls: []call{
				{do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 201},
				{do: "PATCH " + one + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"most":1}}`, status: 422},
			},
		},
		"items by key": {
			reason: "managers own the items of a list apart",
			calls: []call{
				{do: "PATCH " + one + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"size":1,"parts":[{"name":"a","weight":1}]}}`, status: 201},
				{
					do: "PATCH " + one + other, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"parts":[{"name":"b"}]}}`, status: 200,
					want: []string{`spec.parts=[{"name":"a","weight":1},{"name":"b"}]`},
				},
				{
					do: "PATCH " + one + by, as: as, body: sized("1", ""), status: 200,
					want: []string{`spec.parts=[{"name":"b"}]`},
				},
			},
		},
		"unknown": {
			reason: "a field that is not in the schema is an error without a reason, as on a real server",
			calls: []call{
				made,
				{
					do: "PATCH " + one + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"other":1}}`, status: 500,
					want: []string{`reason=<absent>`, `message="failed to create typed patch object (/x; example.com/v1, Kind=Gadget): .spec.other: field not declared in schema"`},
				},
			},
		},
		"without a manager": {
			reason: "it has to be named",
			calls:  []call{{do: "PATCH " + one, as: as, body: sized("1", ""), status: 422}},
		},
		"the status": {
			reason: "it has an owner of its own, and is no way to create",
			calls: []call{
				{do: "PATCH " + one + "/status" + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"status":{"phase":"Good"}}`, status: 404},
				made,
				{
					do: "PATCH " + one + "/status" + by, as: as, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"},"status":{"phase":"Good"}}`, status: 200,
					want: []string{`status.phase="Good"`, `metadata.managedFields.0.subresource="status"`, `metadata.managedFields.0.fieldsV1={"f:status":{"f:phase":{}}}`},
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			inNew(server).play(t, test.calls)
		})
	}
}

// What keeps a write from reaching another object, or another version of it, than was
// looked at: the table of the architecture.
func TestGuards(t *testing.T) {
	server := gadgets(t)
	const (
		uid   = `,"uid":"97900b3b-3365-500b-b4e3-10ce07c32549"`
		wrong = `,"uid":"11111111-1111-1111-1111-111111111111"`
		stale = `,"resourceVersion":"1000"`
		as    = apply
		by    = "?fieldManager=m&force=true"
	)
	patch := func(metadata string) string { return `{"metadata":{"labels":{"l":"1"}` + metadata + `}}` }
	for name, test := range map[string]struct {
		missing bool // or else it exists, in version 1001
		call    call
	}{
		"merge, stale":              {call: call{as: merge, body: patch(stale), status: 409}},
		"merge, fresh":              {call: call{as: merge, body: patch(uid + `,"resourceVersion":"1001"`), status: 200}},
		"merge, wrong uid":          {call: call{as: merge, body: patch(wrong), status: 422}},
		"merge, wrong uid, fresh":   {call: call{as: merge, body: patch(wrong + `,"resourceVersion":"1001"`), status: 422}},
		"status, wrong uid":         {call: call{do: "/status", as: merge, body: `{"metadata":{"uid":"1"},"status":{"phase":"Bad"}}`, status: 200, want: []string{`status.phase="Bad"`}}},
		"apply, stale":              {call: call{do: by, as: as, body: sized("2", stale), status: 409}},
		"apply, wrong uid":          {call: call{do: by, as: as, body: sized("2", wrong), status: 422}},
		"apply to nothing, version": {missing: true, call: call{do: by, as: as, body: sized("2", stale), status: 201}},
		"apply to nothing, uid":     {missing: true, call: call{do: by, as: as, body: sized("2", uid), status: 409}},
		"create only, nothing":      {missing: true, call: call{do: by, as: as, body: sized("2", `,"resourceVersion":"1"`), status: 201}},
		"create only, there":        {call: call{do: by, as: as, body: sized("2", `,"resourceVersion":"1"`), status: 409}},
		"empty version":             {call: call{as: merge, body: patch(`,"resourceVersion":""`), status: 422}},
		"zero version":              {call: call{as: merge, body: patch(`,"resourceVersion":"0"`), status: 422}},
		"JSON, stale":               {call: call{as: jsonPatch, body: `[{"op":"replace","path":"/metadata/resourceVersion","value":"1000"},{"op":"replace","path":"/spec/size","value":2}]`, status: 409}},
		"JSON, stale, status":       {call: call{do: "/status", as: jsonPatch, body: `[{"op":"replace","path":"/metadata/resourceVersion","value":"1000"},{"op":"add","path":"/status","value":{}}]`, status: 409}},
		"JSON, failed test":         {call: call{as: jsonPatch, body: `[{"op":"test","path":"/metadata/uid","value":"1"}]`, status: 422, want: []string{`details={}`}}},
		"conflict before staleness": {call: call{do: "?fieldManager=o", as: as, body: sized("2", stale), status: 409, want: []string{`details.causes.0.reason="FieldManagerConflict"`}}},
		"a default removed":         {call: call{as: merge, body: `{"spec":{"replicas":null}}`, status: 200, want: []string{`metadata.resourceVersion="1001"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := inNew(server)
			if !test.missing {
				c.play(t, []call{made})
			}
			test.call.do = "PATCH " + one + test.call.do
			c.play(t, []call{test.call})
		})
	}
}
