package scenario

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// What stands for a uid or a resourceVersion that guards a write.
const (
	asRead = "(as read)"
	ifNone = "(if there is none)"
)

// writeOf is a request in the form that is shown.
func writeOf(operation plan.Operation, request cluster.Request, result write.Result) Write {
	out := Write{
		Object:      operation.Target.String(),
		Type:        typeOf(request),
		Subresource: operation.Subresource,
		Manager:     request.Query.Get("fieldManager"),
		Force:       request.Query.Get("force") == "true",
		Body:        bodyOf(request),
		Operation:   operation,
		Class:       result.Class,
	}
	for _, rule := range operation.Rules {
		out.Rules = append(out.Rules, rule.String())
	}
	switch {
	case request.Refusal != "":
		out.Answer, out.Failed = string(result.Class)+": "+request.Refusal, true
	case result.Class == write.Unchanged && operation.Type != plan.Delete:
		out.Answer = "nothing changed"
	}
	return out
}

// unsent is an operation that was not sent.
func unsent(operation plan.Operation) Write {
	out := Write{Object: operation.Target.String(), Type: operation.Type, Subresource: operation.Subresource, Operation: operation, Class: write.Audited}
	for _, rule := range operation.Rules {
		out.Rules = append(out.Rules, rule.String())
	}
	request, err := write.NewRequest(operation)
	if err != nil {
		out.Answer = err.Error()
		return out
	}
	out.Manager, out.Force, out.Body = request.Manager, request.Force, unguarded(plain(request.Body))
	return out
}

// decoded is the body of a request, nil where it is no JSON.
func decoded(data []byte) any {
	var body any
	if err := utiljson.Unmarshal(data, &body); err != nil {
		return nil
	}
	return body
}

// typeOf is what a request does, which may be part of an operation of another type.
func typeOf(request cluster.Request) plan.Type {
	switch {
	case request.Method == http.MethodPost:
		return plan.Create
	case request.Method == http.MethodDelete:
		return plan.Delete
	case strings.HasPrefix(request.Type, "application/json-patch"):
		return plan.JSON
	case strings.HasPrefix(request.Type, "application/apply-patch"):
		return plan.Apply
	default:
		return plan.Merge
	}
}

// bodyOf is the body of a request, with words for its guards.
func bodyOf(request cluster.Request) any {
	var body any
	if err := utiljson.Unmarshal(request.Body, &body); err != nil {
		return string(request.Body)
	}
	options, _ := body.(map[string]any)
	if request.Method == http.MethodDelete {
		for _, key := range []string{"apiVersion", "kind", "preconditions"} {
			delete(options, key)
		}
		if len(options) == 0 {
			return nil
		}
	}
	return unguarded(body)
}

// unguarded has words for what guards a request.
func unguarded(body any) any {
	if steps, ok := body.([]any); ok {
		for _, step := range steps {
			fields, _ := step.(map[string]any)
			at, _ := fields["path"].(string)
			if dir, key := path.Split(at); dir == "/metadata/" && isGuard(key) && fields["value"] != nil {
				fields["value"] = asRead
			}
		}
		return steps
	}
	fields, _ := body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	for key, value := range metadata {
		switch {
		case key == "resourceVersion" && value == createOnly:
			metadata[key] = ifNone
		case isGuard(key):
			metadata[key] = asRead
		}
	}
	return body
}

// createOnly is a version that no object has: an apply with it can only make one.
const createOnly = "1"

func isGuard(key string) bool { return key == "uid" || key == "resourceVersion" }

// plain is a body as it would come back from the wire, so that it may be changed.
func plain(body any) any {
	data, err := json.Marshal(body)
	if err != nil {
		return nil // Nothing that JSON does not have leads here.
	}
	return decoded(data)
}
