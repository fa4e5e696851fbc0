package openapi

import (
	"maps"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// What our own documents say of the fields of a map, as the Go types of built-in
// kinds have it.
const (
	alwaysExtension = "x-dyncontroller-always"
	zeroExtension   = "x-dyncontroller-zero-is-absent"
)

func (r *Reader) mapOf(s map[string]any) *schema.Map {
	properties, _ := s["properties"].(map[string]any)
	m := &schema.Map{
		Open:   r.dialect == Keeping || flag(s["x-kubernetes-preserve-unknown-fields"]),
		Atomic: s["x-kubernetes-map-type"] == "atomic",
	}
	switch values := s["additionalProperties"].(type) {
	case map[string]any:
		m.Values = r.read(values)
	case bool:
		if values {
			m.Values = schema.Open()
		}
	default:
		m.Open = m.Open || r.dialect == Go && len(properties) == 0
	}
	if len(properties) == 0 {
		return m
	}
	m.Fields = make(map[string]schema.Field, len(properties))
	for name, property := range properties {
		m.Fields[name] = r.field(m, name, property)
	}
	mark(m.Fields, texts(s["required"]), func(f *schema.Field) { f.Required = true })
	mark(m.Fields, texts(s[alwaysExtension]), func(f *schema.Field) { f.Always = true })
	mark(m.Fields, texts(s[zeroExtension]), func(f *schema.Field) { f.ZeroIsAbsent = true })
	m.Sort()
	return m
}

// mark changes some fields. A name that no field has says nothing: what is required
// then is not known.
func mark(fields map[string]schema.Field, names []string, change func(*schema.Field)) {
	for _, name := range names {
		if field, found := fields[name]; found {
			change(&field)
			fields[name] = field
		}
	}
}

// field reads a field that m will have. Its default is set in the end.
func (r *Reader) field(m *schema.Map, name string, property any) schema.Field {
	field := schema.Field{Type: r.read(property)}
	s, _ := property.(map[string]any)
	if written, defaulted := s["default"]; defaulted {
		r.defaults = append(r.defaults, fallback{in: m, name: name, of: field.Type, value: normal(written)})
	}
	return field
}

// fallback is the default of a field.
type fallback struct {
	in    *schema.Map
	name  string
	of    *schema.Type
	value any
}

// set gives the field its default, unless it turns out to be of another kind: documents
// of API servers say {} for whatever is a struct in Go, times too.
func (f fallback) set() {
	field := f.in.Fields[f.name]
	if field.Type == f.of && f.of.Kinds.Has(value.KindOf(f.value)) {
		field.Always, field.Default = true, f.value
		f.in.Fields[f.name] = field
	}
}

// complete adds what is not written in the schema of a whole object, and reports
// whether it is one.
func complete(m *schema.Map, s map[string]any) bool {
	if flag(s["x-kubernetes-embedded-resource"]) {
		m.Fields = maps.Clone(m.Fields)
		identify(m, s, schema.EmbeddedMetadata())
		return true
	}
	_, kinds := s["x-kubernetes-group-version-kind"]
	if !kinds || m.Fields["metadata"].Type != schema.EmbeddedMetadata() {
		return false
	}
	identify(m, s, schema.Metadata())
	return true
}

// identify adds apiVersion, kind and metadata to the fields of a whole object. They
// are not required: whoever writes an object for a resource has them from it.
func identify(m *schema.Map, from any, metadata *schema.Type) {
	if m.Fields == nil {
		m.Fields = map[string]schema.Field{}
	}
	stored := metadata == schema.Metadata()
	text := &schema.Type{Kinds: value.String}
	m.Fields["apiVersion"] = schema.Field{Type: text, Always: stored}
	m.Fields["kind"] = schema.Field{Type: text, Always: stored}
	m.Fields["metadata"] = schema.Field{Type: restricted(metadata, from), Always: stored}
	m.Sort()
}

// restricted returns the metadata with what a schema says of names. It can say
// nothing else of it.
func restricted(metadata *schema.Type, from any) *schema.Type {
	s, _ := from.(map[string]any)
	limits := map[string]*schema.Limits{}
	for _, name := range []string{"name", "generateName"} {
		if limit := limitsOf(at(s, "properties", "metadata", "properties", name)); limit != nil {
			limits[name] = limit
		}
	}
	if len(limits) == 0 {
		return metadata
	}
	t, m := *metadata, *metadata.Map
	m.Fields = maps.Clone(m.Fields)
	for name, limit := range limits {
		field := m.Fields[name]
		limited := *field.Type
		limited.Limit = limit
		field.Type = &limited
		m.Fields[name] = field
	}
	t.Map = &m
	return &t
}

// at returns the map below some keys, nil where there is none.
func at(s map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		s, _ = s[key].(map[string]any)
	}
	return s
}

// texts returns the texts of a list.
func texts(list any) []string {
	elements, _ := list.([]any)
	var out []string
	for _, element := range elements {
		if text, ok := element.(string); ok {
			out = append(out, text)
		}
	}
	return slices.Clip(out)
}

// wellKnown returns the types of components that API servers read and write in ways
// that their schemas do not tell.
func wellKnown(name string) *schema.Type {
	name, ours := strings.CutPrefix(name, "io.k8s.apimachinery.pkg.")
	if !ours {
		return nil
	}
	return machinery[strings.TrimSuffix(name, "_v2")]
}

var machinery = map[string]*schema.Type{
	"api.resource.Quantity":   {Kinds: value.Number | value.String, Format: schema.Quantity},
	"util.intstr.IntOrString": {Kinds: value.Int | value.String, Format: "int-or-string"},
	"apis.meta.v1.Time":       {Kinds: value.String, Format: schema.Time},
	"apis.meta.v1.MicroTime":  {Kinds: value.String, Format: schema.MicroTime},
	"apis.meta.v1.ObjectMeta": schema.EmbeddedMetadata(),
	"apis.meta.v1.FieldsV1":   {Kinds: value.Map, Map: &schema.Map{Open: true}},
	"runtime.RawExtension":    {Kinds: value.Map, Map: &schema.Map{Open: true}},
}

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
