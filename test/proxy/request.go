package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a request as it arrived, and what became of it so far.
type Request struct {
	// Number counts requests from 1, in the order of their arrival.
	Number int
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; what is not about a resource has the
	// method in lower case.
	Verb string
	// Path is that of the URL, without the query.
	Path string

	Group, Version, Resource, Subresource, Namespace, Name string
	// Manager is the field manager, where the request names one.
	Manager string
	// DryRun is whether the query asks for a dry run. A deletion asks for it in its body, which is not looked at.
	DryRun bool

	// Code is the HTTP status that the API server answered with; 0 if it has not answered, or never saw the request.
	Code int
	// Faulted is whether a [Step] kept the answer of the API server from the client.
	Faulted bool
}

// String is one line for messages of tests.
func (r Request) String() string {
	what := r.Path
	if r.Resource != "" {
		what = strings.Join(slices.DeleteFunc([]string{r.Group, r.Resource, r.Subresource, r.Namespace, r.Name},
			func(part string) bool { return part == "" }), "/")
	}
	line := fmt.Sprintf("#%d %s %s %d", r.Number, r.Verb, what, r.Code)
	if r.Faulted {
		line += " (the client does not know)"
	}
	return line
}

// Watches reports whether the request is a watch.
func (r Request) Watches() bool { return r.Verb == "watch" }

// Writes reports whether the request asks for a change. Dry runs do not, nor do reviews, which are questions though they
// are created.
func (r Request) Writes() bool {
	if r.DryRun || r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io" {
		return false
	}
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// Classify says what a request is about. It has no number.
func Classify(request *http.Request) Request {
	query := request.URL.Query()
	out := Request{
		Path:    request.URL.Path,
		Verb:    strings.ToLower(request.Method),
		Manager: query.Get("fieldManager"),
		DryRun:  query.Has("dryRun"),
	}
	locate(&out, strings.Split(strings.Trim(request.URL.Path, "/"), "/"))
	if out.Resource == "" {
		return out
	}
	switch request.Method {
	case http.MethodPost:
		out.Verb = "create"
	case http.MethodPut:
		out.Verb = "update"
	case http.MethodDelete:
		if out.Name == "" {
			out.Verb = "deletecollection"
		}
	case http.MethodGet:
		switch watch := query.Get("watch"); {
		case watch == "true" || watch == "1":
			out.Verb = "watch"
		case out.Name == "":
			out.Verb = "list"
		}
	}
	return out
}

// locate reads api/VERSION/... and apis/GROUP/VERSION/...; a shorter path is discovery and names no resource.
func locate(r *Request, parts []string) {
	switch {
	case len(parts) > 2 && parts[0] == "api":
		r.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Group, r.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return
	}
	// What follows a namespace is in it, but for the subresources of the namespace itself.
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
}
