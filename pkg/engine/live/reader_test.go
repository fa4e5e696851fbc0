package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestGet(t *testing.T) {
	const one = group + "/namespaces/ns/widgets/a"
	tests := map[string]struct {
		reason          string
		namespace, name string // default: ns, a; "-" for an empty one
		path            string // none: nothing is asked
		answer          string
		want            bool   // there is one
		err             string // empty for none
	}{
		"There":         {reason: "It is there.", path: one, answer: object("ns", "a"), want: true},
		"ClusterScoped": {reason: "So it is without a namespace.", namespace: "-", path: group + "/widgets/a", answer: object("", "a"), want: true},
		"Colon":         {reason: "RBAC has such names.", name: "system:a", path: group + "/namespaces/ns/widgets/system:a", answer: object("ns", "system:a"), want: true},
		"Absent":        {reason: "It is not.", path: one, answer: refusal(404, "NotFound", `"group":"example.com","kind":"widgets","name":"a"`)},
		"NoResource":    {reason: "Of a resource that is not there nothing is known.", path: one, answer: `404 404 page not found`, err: "reading widgets ns/a: "},
		"Forbidden":     {reason: "Nor is of what may not be seen.", path: one, answer: refusal(403, "Forbidden", ""), err: "reading widgets ns/a: "},
		"NoObject": {
			reason: "An answer that is something else is not the absence of an object.",
			path:   one, answer: `{"apiVersion":"v1","kind":"Status","status":"Success"}`, err: "reading widgets ns/a: ",
		},
		"Success": {
			reason: "Nor is one that says so as if all was well.",
			path:   one, answer: `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404}`, err: "reading widgets ns/a: ",
		},
		"NoJSON":       {reason: "Nor is one that cannot be read.", path: one, answer: `<html>`, err: "reading widgets ns/a: "},
		"NoName":       {reason: "An empty name is nobody's: it would be a list.", name: "-"},
		"Path":         {reason: "A name that leads elsewhere is nobody's.", name: "../../secrets/b"},
		"Dots":         {reason: "Nor is this one.", name: ".."},
		"OddNamespace": {reason: "Nothing is in such a namespace.", namespace: "a/b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			namespace, asked := given(tc.namespace, "ns"), given(tc.name, "a")
			r, server := reader(t, map[string][]string{tc.path: {tc.answer}})
			found, err := r.Get(t.Context(), widgets, namespace, asked)
			if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("%s the error is %v", tc.reason, err)
			}
			if (found != nil) != tc.want {
				t.Errorf("%s got %v", tc.reason, found)
			}
			if (len(server.asked) > 0) != (tc.path != "") {
				t.Errorf("%s asked %v", tc.reason, server.asked)
			}
		})
	}
}

func given(text, or string) string {
	switch text {
	case "":
		return or
	case "-":
		return ""
	default:
		return text
	}
}

// TestGetOfTheCoreGroup holds that the resources of Kubernetes' first group have a path of their own.
func TestGetOfTheCoreGroup(t *testing.T) {
	r, _ := reader(t, map[string][]string{"/api/v1/namespaces/ns/pods/a": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns"}}`}})
	found, err := r.Get(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "ns", "a")
	if found == nil || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestGetKeepsIntegers holds that a number is not made a float on the way.
func TestGetKeepsIntegers(t *testing.T) {
	r, _ := reader(t, map[string][]string{group + "/namespaces/ns/widgets/a": {object("ns", "a", `"generation":9007199254740993`)}})
	found, err := r.Get(t.Context(), widgets, "ns", "a")
	if err != nil {
		t.Fatal(err)
	}
	metadata, _ := found["metadata"].(map[string]any)
	if diff := cmp.Diff(any(int64(9007199254740993)), metadata["generation"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadsAreSentOnce holds that the worker does not wait for an API server that
// asks to come back later, and is told when.
func TestReadsAreSentOnce(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		slow := fmt.Sprint(code, " Too many requests, please try again later.")
		r, server := reader(t, map[string][]string{group + "/namespaces/ns/widgets/a": {slow}, group + "/widgets?" + limited: {slow}})
		_, one := r.Get(t.Context(), widgets, "ns", "a")
		_, many := r.Read(t.Context(), plan.Read{From: []plan.Selection{{GVR: widgets}}, By: plan.ByAll})
		for _, err := range []error{one, many} {
			if seconds, later := apierrors.SuggestsClientDelay(err); err == nil || !later || seconds != 3 {
				t.Errorf("%d: got %v, %d s", code, err, seconds)
			}
		}
		if len(server.asked) != 2 {
			t.Errorf("%d: asked %v", code, server.asked)
		}
	}
}

// TestReadsEnd holds that a read ends with its context.
func TestReadsEnd(t *testing.T) {
	arrived := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	r, err := live.NewReader(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := r.Get(ctx, widgets, "ns", "a")
			return err
		},
		func(ctx context.Context) error {
			return r.List(ctx, plan.Selection{GVR: widgets}, func(map[string]any) error { return nil })
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		if err := read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// TestNewReader holds that a configuration that cannot work is refused at once.
func TestNewReader(t *testing.T) {
	if _, err := live.NewReader(&rest.Config{Host: "%"}); err == nil {
		t.Error("it was taken")
	}
}
