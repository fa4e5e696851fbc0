package write_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// owning is the target with an entry of the rule "ours" in managedFields that has the
// fields, for a subresource, behind one of somebody else's.
func owning(version, fields, subresource string) string {
	if subresource != "" {
		subresource = `,"subresource":"` + subresource + `"`
	}
	entries := `{"manager":"kubectl","operation":"Update"}`
	if fields != "" {
		entries += `,{"manager":"ours","operation":"Apply","fieldsV1":{"f:spec":` + fields + `}` + subresource + `}`
	}
	return widget(`"uid":"u","resourceVersion":"` + version + `","managedFields":[` + entries + `]`)
}

// TestGivingUp holds that the values of applied fields that are given up stay: the
// manager lets go of them before it applies without them, or does not apply.
func TestGivingUp(t *testing.T) {
	const (
		both, kept = `{"f:a":{},"f:b":{}}`, `{"f:b":{}}`
		guardsOf7  = `{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"replace","path":"/metadata/uid","value":"u"}`
		tests      = `{"op":"test","path":"/metadata/managedFields/1/manager","value":"ours"},{"op":"test","path":"/metadata/managedFields/1/operation","value":"Apply"}`
		lessens    = `[` + guardsOf7 + `,` + tests + `,{"op":"replace","path":"/metadata/managedFields/1/fieldsV1","value":{"f:spec":{"f:b":{}}}}]`
		drops      = `[` + guardsOf7 + `,` + tests + `,{"op":"remove","path":"/metadata/managedFields/1"}]`
		onTop      = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","resourceVersion":"8","uid":"u"},"spec":{"b":1}}`
		asIs       = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","resourceVersion":"7","uid":"u"},"spec":{"b":1}}`
		applied    = "PATCH " + one + "?fieldManager=ours&fieldValidation=Strict&force=false"
		patched    = "PATCH " + one + how
	)
	look := exchange{request: "GET " + one, answer: owning("7", both, "")}
	release := exchange{request: patched, body: lessens, answer: owning("8", kept, "")}
	absentNow := exchange{request: "GET " + one, code: 404, answer: refusal("NotFound", notFound)}
	cases := map[string]struct {
		reason      string
		body        map[string]any // default: {spec: {b: 1}}
		subresource string
		script      []exchange
		want        write.Class
		echo        *write.Echo
	}{
		"Both": {
			reason: "The apply is guarded with the version that the release brought.",
			script: []exchange{look, release, {request: applied, body: onTop, answer: owning("9", kept, "")}},
			want:   write.Written, echo: &write.Echo{Object: at("9")},
		},
		"OnlyGivesUp": {
			reason: "Where the apply changed nothing more, the release did.",
			script: []exchange{look, release, {request: applied, body: onTop, answer: owning("8", kept, "")}},
			want:   write.Written, echo: &write.Echo{Object: at("8")},
		},
		"All": {
			reason: "Who applies nothing need not ask for it.",
			body:   map[string]any{},
			script: []exchange{look, {request: patched, body: drops, answer: owning("8", "", "")}},
			want:   write.Written, echo: &write.Echo{Object: at("8")},
		},
		"GivenUpBefore": {
			reason: "An earlier attempt has let go of it.",
			script: []exchange{
				{request: "GET " + one, answer: owning("7", kept, "")},
				{request: applied, body: asIs, answer: owning("8", kept, "")},
			},
			want: write.Written, echo: &write.Echo{Object: at("8")},
		},
		"Subresource": {
			reason:      "The object itself has all entries of managedFields.",
			subresource: "status",
			script: []exchange{
				{request: "GET " + one, answer: owning("7", both, "status")},
				{request: patched, body: lessens, answer: owning("8", kept, "status")},
				{request: strings.Replace(applied, "?", "/status?", 1), body: onTop, answer: owning("9", kept, "status")},
			},
			want: write.Written, echo: &write.Echo{Object: at("9")},
		},
		"OtherEntry": {
			reason:      "What the rule applied to the object itself is not given up with its status.",
			subresource: "status",
			script: []exchange{
				look,
				{request: strings.Replace(applied, "?", "/status?", 1), body: asIs, answer: owning("8", both, "")},
			},
			want: write.Written, echo: &write.Echo{Object: at("8")},
		},
		"Changed": {
			reason: "The plan was made from another version.",
			script: []exchange{{request: "GET " + one, answer: owning("9", both, "")}, {request: "GET " + one, answer: owning("9", both, "")}},
			want:   write.Stale, echo: &write.Echo{Object: at("9")},
		},
		"Gone": {
			reason: "The object is gone.",
			script: []exchange{absentNow, absentNow},
			want:   write.Stale, echo: &write.Echo{Object: at(""), Gone: true},
		},
		"GoneStatus": {
			reason:      "So it is where a subresource is meant: it was the object that was looked for.",
			subresource: "status",
			script:      []exchange{absentNow, absentNow},
			want:        write.Stale, echo: &write.Echo{Object: at(""), Gone: true},
		},
		"Unreadable": {
			reason: "Who may not look does not apply.",
			script: slices.Repeat([]exchange{{request: "GET " + one, code: 403, answer: refusal("Forbidden", notFound)}}, 2),
			want:   write.Terminal,
		},
		"ReleaseStale": {
			reason: "Somebody was faster.",
			script: []exchange{
				look,
				{request: patched, body: lessens, code: 409, answer: refusal("Conflict", notFound)},
				{request: "GET " + one, answer: owning("9", both, "")},
			},
			want: write.Stale, echo: &write.Echo{Object: at("9")},
		},
		"ReleaseLost": {
			reason: "It may have been given up: a fresh look will tell.",
			script: []exchange{look, {request: patched, body: lessens, code: 500, answer: refusal("InternalError", notFound)}},
			want:   write.Ambiguous,
		},
		"ReleaseIneffective": {
			reason: "Nothing was given up, so nothing is applied.",
			script: []exchange{look, {request: patched, body: lessens, answer: owning("7", both, "")}},
			want:   write.Unchanged,
		},
		"ReleaseUndone": {
			reason: "Somebody has put the entry back: the apply would remove the value.",
			script: []exchange{look, {request: patched, body: lessens, answer: owning("8", both, "")}},
			want:   write.Terminal, echo: &write.Echo{Object: at("8")},
		},
		"ApplyRefused": {
			reason: "What was released has to be seen, even if the rest fails.",
			script: []exchange{
				look, release,
				{request: applied, body: onTop, code: 422, answer: refusal("Invalid", notFound)},
				{request: "GET " + one, answer: owning("8", both, "")},
			},
			want: write.Terminal, echo: &write.Echo{Object: at("8")},
		},
		"ApplyLost": {
			reason: "Or may have.",
			script: []exchange{look, release, {request: applied, body: onTop, code: 503, answer: refusal("ServiceUnavailable", notFound)}},
			want:   write.Ambiguous, echo: &write.Echo{Object: at("8")},
		},
		"ApplyStale": {
			reason: "Somebody wrote in between.",
			script: []exchange{
				look, release,
				{request: applied, body: onTop, code: 409, answer: refusal("Conflict", notFound)},
				{request: "GET " + one, answer: owning("9", kept, "")},
			},
			want: write.Stale, echo: &write.Echo{Object: at("9")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			result := serve(t, write.NewClient, tc.script...).Write(t.Context(), givingUp(tc.body, tc.subresource))
			if result.Class != tc.want || (result.Err != nil) != tc.want.Failed() {
				t.Errorf("%s got %q, want %q: %v", tc.reason, result.Class, tc.want, result.Err)
			}
			if diff := cmp.Diff(tc.echo, result.Echo); diff != "" {
				t.Errorf("%s echo (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func givingUp(body map[string]any, subresource string) plan.Operation {
	if body == nil {
		body = map[string]any{"spec": map[string]any{"b": int64(1)}}
	}
	return plan.Operation{
		Type: plan.Apply, Target: target, Subresource: subresource, Manager: "ours", Body: body,
		Release: plan.OrphanFields, GivesUp: true,
	}
}

// TestGivingUpInADryRun holds that a dry run ends where it would be told of fields
// that go.
func TestGivingUpInADryRun(t *testing.T) {
	client := serve(t, newDryRun,
		exchange{request: "GET " + one, answer: owning("7", `{"f:a":{},"f:b":{}}`, "")},
		exchange{request: "PATCH " + one + "?dryRun=All&fieldManager=dyncontroller&fieldValidation=Strict", answer: owning("7", `{"f:b":{}}`, "")})
	if result := client.Write(t.Context(), givingUp(nil, "")); result.Class != write.Simulated || result.Echo != nil {
		t.Errorf("got %+v", result)
	}
	if result := (write.ClientDryRun{}).Write(t.Context(), givingUp(nil, "")); result.Class != write.Simulated {
		t.Errorf("got %+v", result)
	}
}

// TestGivingUpWaits holds that a look that is refused for now says for how long.
func TestGivingUpWaits(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	client, err := write.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	result := client.Write(t.Context(), givingUp(nil, ""))
	if result.Class != write.Overloaded || result.RetryAfter != 7*time.Second || requests != 1 {
		t.Errorf("got %+v after %d requests", result, requests)
	}
}

// TestGivingUpWantsGuards holds that nothing is read for what cannot be written.
func TestGivingUpWantsGuards(t *testing.T) {
	unguarded := givingUp(nil, "")
	unguarded.Target.ResourceVersion = ""
	if result := serve(t, write.NewClient).Write(t.Context(), unguarded); result.Class != write.Terminal {
		t.Errorf("got %+v", result)
	}
}
