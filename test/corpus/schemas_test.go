package corpus

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// keywords are all that the schemas of the corpus say, and what the reader of schemas does with it. One that is not here
// may be one that it silently ignores.
var keywords = map[string]string{
	"type": "kinds", "properties": "fields", "additionalProperties": "values", "items": "elements", "required": "required", "nullable": "kinds", "default": "always",
	"enum": "limit", "pattern": "limit", "minLength": "limit", "maxLength": "limit", "minimum": "limit", "maximum": "limit", "exclusiveMaximum": "limit",
	"minItems": "limit", "maxItems": "limit", "minProperties": "limit", "maxProperties": "limit", "format": "format",
	"x-kubernetes-int-or-string": "kinds", "x-kubernetes-preserve-unknown-fields": "open", "x-kubernetes-embedded-resource": "object",
	"x-kubernetes-list-type": "list", "x-kubernetes-list-map-keys": "list", "x-kubernetes-map-type": "map",

	// What is left, and why nothing is lost that a rule could be told for sure.
	"description":              "for readers",
	"example":                  "for readers",
	"x-kubernetes-validations": "CEL about other fields and old values; the API server says",
	"anyOf":                    "beside x-kubernetes-int-or-string it repeats the type; else it limits, and the API server says",
	"oneOf":                    "it limits, and the API server says",
	"allOf":                    "it limits, and the API server says",
}

// corpus is what a project's files hold.
type corpus struct {
	source  *schema.Index
	crds    int
	reading time.Duration
	written map[string]map[string]any
}

func load(t *testing.T, project Project) corpus {
	t.Helper()
	files, err := Files(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	c := corpus{written: map[string]map[string]any{}}
	c.source, c.crds, c.reading = read(t, files)
	for _, f := range files {
		schemas, err := Schemas(f.Data)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		maps.Copy(c.written, schemas)
	}
	return c
}

// read reads the files as the program does.
func read(t *testing.T, files []document.File) (source *schema.Index, crds int, took time.Duration) {
	t.Helper()
	start := time.Now()
	var definitions []*crd.Definition
	for _, f := range files {
		read, err := crd.Read(f.Name, f.Data)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		definitions = append(definitions, read...)
	}
	source = crd.NewSource(definitions)
	for _, name := range source.Resources() {
		source.Resource(name.GroupVersionResource)
	}
	return source, len(definitions), time.Since(start)
}

// TestProjects holds that every CRD of every project is read, that nothing is lost of what its schema says, and that
// rules about each of its resources are judged rightly.
func TestProjects(t *testing.T) {
	projects := Projects()
	if len(projects) < 15 {
		t.Errorf("there are %d projects, want at least 15", len(projects))
	}
	s, all := &survey{keywords: map[string]int{}}, newTally()
	for _, project := range projects {
		t.Run(project.Name, func(t *testing.T) {
			c := load(t, project)
			s.add(t, project, c)
			for _, name := range c.source.Resources() {
				holdSamples(t, c.source.Resource(name.GroupVersionResource))
			}
			all.add(c.rules(t))
		})
	}
	t.Logf("\n%s%s", s, all)
	for _, keyword := range sortedKeys(s.keywords) {
		if keywords[keyword] == "" {
			t.Errorf("nobody knows what becomes of %s, which is written %d times", keyword, s.keywords[keyword])
		}
	}
}

// survey counts what the schemas of the projects hold.
type survey struct {
	keywords                    map[string]int
	crds, versions, nodes, open int
	table                       strings.Builder
}

func (s *survey) add(t *testing.T, project Project, c corpus) {
	t.Helper()
	if c.crds != project.CRDs {
		t.Errorf("there are %d CRDs, want %d", c.crds, project.CRDs)
	}
	if known := len(c.source.Resources()); known != len(c.written) {
		t.Errorf("the source has %d resources, %d are written", known, len(c.written))
	}
	nodes, open := 0, 0
	for _, name := range sortedKeys(c.written) {
		found := c.compare(t, name)
		Keywords(c.written[name], s.keywords)
		nodes, open = nodes+found.Nodes, open+found.Open
	}
	s.row(project.Name, project.Version(), c.crds, len(c.written), nodes, open, c.reading.Round(time.Millisecond))
	s.crds, s.versions, s.nodes, s.open = s.crds+c.crds, s.versions+len(c.written), s.nodes+nodes, s.open+open
}

func (s *survey) row(columns ...any) {
	fmt.Fprintf(&s.table, "%-26v%-10v%6v%10v%8v%6v%9v\n", columns...)
}

// String is the table with its head and its sums.
func (s *survey) String() string {
	table := s.table.String()
	s.table.Reset()
	s.row("project", "version", "CRDs", "versions", "nodes", "open", "time")
	s.table.WriteString(table)
	s.row("all", "", s.crds, s.versions, s.nodes, s.open, "")
	return s.table.String()
}

func (c corpus) compare(t *testing.T, name string) *Comparison {
	t.Helper()
	resource := c.source.Resource(gvr(name))
	if resource == nil {
		t.Errorf("%s is not known", name)
		return &Comparison{}
	}
	found := Compare(c.written[name], resource.Type)
	for _, difference := range found.Differences {
		t.Errorf("%s: %s", name, difference)
	}
	return found
}

// gvr is the resource of a name as those of [Schemas].
func gvr(name string) apischema.GroupVersionResource {
	group, rest, _ := strings.Cut(name, "/")
	version, resource, _ := strings.Cut(rest, "/")
	return apischema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}
