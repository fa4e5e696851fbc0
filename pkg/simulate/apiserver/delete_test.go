package apiserver_test

import (
	"testing"
	"time"
)

func TestDelete(t *testing.T) {
	server := gadgets(t)
	const (
		held   = `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x","finalizers":["example.com/f"]},"spec":{"size":1}}`
		pods   = "/api/v1/namespaces/a/pods"
		pod    = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i"}]}}`
		heldPo = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","finalizers":["example.com/f"]},"spec":{"nodeName":"n","terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i"}]}}`
	)
	for name, test := range map[string]struct {
		reason string
		calls  []call
	}{
		"at once": {
			reason: "nothing holds it: it is gone, and what comes after it is another object",
			calls: []call{
				made,
				{do: "DELETE " + one, status: 200, want: []string{`kind="Status"`, `details.uid="97900b3b-3365-500b-b4e3-10ce07c32549"`}},
				{do: "GET " + one, status: 404},
				{do: "DELETE " + one, status: 404},
				{do: made.do, body: dull, status: 201, want: []string{`metadata.uid="7d769ee4-6009-5bcb-aecd-ae09a719642c"`, `metadata.resourceVersion="1003"`}},
			},
		},
		"held": {
			reason: "a finalizer keeps it, a second DELETE changes nothing, and it goes with its last finalizer",
			calls: []call{
				{do: made.do, body: held, status: 201},
				{after: time.Minute, do: "DELETE " + one, status: 200, want: []string{
					`metadata.deletionTimestamp="2026-01-01T00:01:00Z"`, `metadata.deletionGracePeriodSeconds=0`, `metadata.generation=2`, `metadata.resourceVersion="1002"`,
				}},
				{after: time.Minute, do: "DELETE " + one, status: 200, want: []string{`metadata.deletionTimestamp="2026-01-01T00:01:00Z"`, `metadata.resourceVersion="1002"`}},
				{do: "PATCH " + one, as: merge, body: `{"metadata":{"finalizers":["example.com/f","example.com/g"]}}`, status: 422},
				{do: "PATCH " + one, as: merge, body: `{"metadata":{"finalizers":null}}`, status: 200, want: []string{`metadata.resourceVersion="1002"`}},
				{do: "GET " + one, status: 404},
			},
		},
		"preconditions": {
			reason: "another uid or version is a conflict",
			calls: []call{
				made,
				{do: "DELETE " + one, body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"1"}}`, status: 409, want: []string{`reason="Conflict"`}},
				{do: "DELETE " + one, body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1000"}}`, status: 409},
				{do: "DELETE " + one, body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1001"}}`, status: 200},
			},
		},
		"in the foreground, and orphaning": {
			reason: "a finalizer of Kubernetes' own stands for what the cluster is to do",
			calls: []call{
				made,
				{do: "DELETE " + one, body: `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}`, status: 200, want: []string{`metadata.finalizers=["foregroundDeletion"]`}},
				{do: "DELETE " + one, body: `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"}`, status: 200, want: []string{`metadata.finalizers=["orphan"]`}},
			},
		},
		"a collection": {
			reason: "all that the selector has",
			calls: []call{
				made,
				{do: made.do, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"y","labels":{"l":"1"}},"spec":{"size":1}}`, status: 201},
				{do: "DELETE " + all + "?labelSelector=l%3D1", status: 200},
				{do: "GET " + all, status: 200, want: []string{`items.length=1`, `items.0.metadata.name="x"`}},
			},
		},
		"a Pod": {
			reason: "it has its grace by the clock of the world; it can be shortened and is never in the past",
			calls: []call{
				{do: "POST " + pods, body: pod, status: 201},
				{do: "DELETE " + pods + "/x", status: 200, want: []string{`metadata.deletionTimestamp="2026-01-01T00:00:30Z"`, `metadata.deletionGracePeriodSeconds=30`}},
				{after: time.Second, do: "DELETE " + pods + "/x", status: 200, want: []string{`metadata.deletionTimestamp="2026-01-01T00:00:30Z"`}},
				{do: "DELETE " + pods + "/x?gracePeriodSeconds=60", status: 200, want: []string{`metadata.deletionTimestamp="2026-01-01T00:00:30Z"`}},
				{do: "DELETE " + pods + "/x?gracePeriodSeconds=0", status: 200},
				{do: "GET " + pods + "/x", status: 404},
			},
		},
		"a Pod that is held": {
			reason: "forced, it is to be gone now, by the clock of the world",
			calls: []call{
				{do: "POST " + pods, body: heldPo, status: 201},
				{do: "DELETE " + pods + "/x", status: 200, want: []string{`metadata.deletionTimestamp="2026-01-01T00:00:30Z"`}},
				{after: 5 * time.Second, do: "DELETE " + pods + "/x?gracePeriodSeconds=0", status: 200, want: []string{
					`metadata.deletionTimestamp="2026-01-01T00:00:05Z"`, `metadata.deletionGracePeriodSeconds=0`,
				}},
			},
		},
		"a namespace that is going": {
			reason: "nothing new comes in, by any way; what is there can be changed and deleted",
			calls: []call{
				{do: "POST /api/v1/namespaces", body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}`, status: 201},
				made,
				{do: "DELETE /api/v1/namespaces/a", status: 200, want: []string{`status.phase="Terminating"`, `metadata.deletionTimestamp="2026-01-01T00:00:00Z"`}},
				{do: "POST " + all, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"y"},"spec":{"size":1}}`, status: 403, want: []string{
					`reason="Forbidden"`, `details.causes.0.reason="NamespaceTerminating"`,
					`message="gadgets.example.com \"y\" is forbidden: unable to create new content in namespace a because it is being terminated"`,
				}},
				{do: "PATCH " + all + "/y?fieldManager=m", as: apply, body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"y"},"spec":{"size":1}}`, status: 403},
				{do: "POST /api/v1/namespaces/a/configmaps", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y"}}`, status: 403},
				{do: "PATCH " + one, as: merge, body: `{"spec":{"size":2}}`, status: 200},
				{do: "POST /apis/example.com/v1/namespaces/b/gadgets", body: dull, status: 201},
				{do: "DELETE " + one, status: 200},
			},
		},
		"the cluster's own namespaces": {
			reason: "they stay",
			calls: []call{
				{do: "POST /api/v1/namespaces", body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`, status: 201},
				{do: "DELETE /api/v1/namespaces/default", status: 403, want: []string{`message="namespaces \"default\" is forbidden: this namespace may not be deleted"`}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			inNew(server).play(t, test.calls)
		})
	}
}
