package openapi

import (
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// endpoint is a path of a document with what can be done there.
type endpoint struct {
	Get    *request `json:"get"`
	Put    *request `json:"put"`
	Post   *request `json:"post"`
	Patch  *request `json:"patch"`
	Delete *request `json:"delete"`
}

// request is one method of an endpoint.
type request struct {
	Action string                     `json:"x-kubernetes-action"`
	GVK    apischema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	Body   struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			} `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

func (e *endpoint) requests() []*request {
	var all []*request
	for _, one := range []*request{e.Put, e.Post, e.Get, e.Patch, e.Delete} {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// body returns the name of the component that is sent, "" if the document does not
// say.
func (r *request) body() string {
	for _, media := range []string{"*/*", "application/json"} {
		if name, found := strings.CutPrefix(r.Body.Content[media].Schema.Ref, "#/components/schemas/"); found {
			return name
		}
	}
	return ""
}

// served is a resource, or a subresource, as the paths have it.
type served struct {
	gvk          apischema.GroupVersionKind
	body         string // The component that is sent, "" where not known.
	namespaced   bool
	verbs        map[string]bool
	subresources map[string]*served
}

// verbs are how RBAC calls the actions of a document.
var verbs = map[string]string{
	"list":             "list",
	"watch":            "watch",
	"watchlist":        "watch",
	"get":              "get",
	"post":             "create",
	"put":              "update",
	"patch":            "patch",
	"delete":           "delete",
	"deletecollection": "deletecollection",
}

// servedBy gathers the resources of all paths.
func servedBy(paths map[string]endpoint) map[apischema.GroupVersionResource]*served {
	all := map[apischema.GroupVersionResource]*served{}
	tellsWatch := false
	for text, at := range paths {
		p, ok := parsePath(text)
		if !ok {
			continue
		}
		tellsWatch = tellsWatch || p.watch
		if all[p.gvr] == nil {
			all[p.gvr] = &served{verbs: map[string]bool{}, subresources: map[string]*served{}}
		}
		all[p.gvr].add(p, at.requests())
	}
	for gvr, s := range all {
		if s.gvk.Kind == "" {
			delete(all, gvr) // Nothing is known of it but a path.
		}
		// API servers other than Kubernetes' own do not list the paths to watch.
		if s.verbs["list"] && !tellsWatch {
			s.verbs["watch"] = true
		}
	}
	return all
}

// add takes in what one path says.
func (s *served) add(p path, requests []*request) {
	into := s
	if p.subresource != "" {
		if into = s.subresources[p.subresource]; into == nil {
			into = &served{verbs: map[string]bool{}}
			s.subresources[p.subresource] = into
		}
	}
	into.namespaced = into.namespaced || p.namespaced
	for _, r := range requests {
		if verb := verbs[r.Action]; verb != "" {
			into.verbs[verb] = true
		}
		into.describe(r)
	}
}

// describe takes the kind and body from a request. What is written tells more than
// what is read; what deletes sends options.
func (s *served) describe(r *request) {
	writes := r.Action == "put" || r.Action == "post"
	if r.GVK.Kind == "" || !writes && s.gvk.Kind != "" {
		return
	}
	s.gvk = r.GVK
	if writes {
		s.body = r.body()
	}
}

// path is one of a document, taken apart.
type path struct {
	gvr         apischema.GroupVersionResource
	namespaced  bool
	watch       bool
	subresource string
}

// parsePath takes apart the likes of
//
//	/apis/GROUP/VERSION/namespaces/{namespace}/RESOURCE/{name}/SUBRESOURCE
//
// and reports whether that is a path of a resource.
func parsePath(text string) (p path, ok bool) {
	parts := strings.Split(strings.Trim(text, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		p.gvr.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		p.gvr.Group, p.gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return path{}, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		p.watch, parts = true, parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[1] == "{namespace}" {
		p.namespaced, parts = true, parts[2:]
	}
	p.gvr.Resource = parts[0]
	if len(parts) > 2 {
		p.subresource = parts[2]
	}
	return p, p.gvr.Resource != "" && !strings.HasPrefix(p.gvr.Resource, "{")
}
