package hostile

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"
)

// Kind is what a case is to be read as.
type Kind string

// The kinds, which are also how the archives' names begin.
const (
	Expression Kind = "expression" // The name "object" is an object near the limit of etcd.
	Template   Kind = "template"   // Text with ${ } in it; object is the same.
	Document   Kind = "document"   // A file of rules, which are evaluated on the same object.
	Typed      Kind = "typed"      // A file of rules that are checked against [Schemas] before.
)

// Case is one input.
type Case struct {
	Name       string // ARCHIVE/FILE
	Kind       Kind
	Legitimate bool // It is heavy but must pass.
	text       string
}

//go:embed testdata/*.txtar
var archives embed.FS

// Cases returns the whole corpus in the order of its archives.
func Cases() ([]Case, error) {
	names, err := archives.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		data, err := archives.ReadFile("testdata/" + name.Name())
		if err != nil {
			return nil, err
		}
		archive := strings.TrimSuffix(name.Name(), path.Ext(name.Name()))
		kind, topic, _ := strings.Cut(archive, "-")
		for _, file := range txtar.Parse(data).Files {
			out = append(out, Case{
				Name:       archive + "/" + file.Name,
				Kind:       Kind(kind),
				Legitimate: topic == "legitimate",
				text:       strings.TrimSuffix(string(file.Data), "\n"),
			})
		}
	}
	return out, nil
}

// Find returns the case of that name.
func Find(name string) (Case, error) {
	all, err := Cases()
	if err != nil {
		return Case{}, err
	}
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("there is no case %q", name)
}

// head begins a file of rules, up to its spec's next field.
const head = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: hostile}
spec:
  resources: {things: {group: hostile.test, version: v1, resource: things}}
`

// Text writes the case out.
func (c Case) Text() (string, error) {
	functions := template.FuncMap{
		"add":    func(a, b int) int { return a + b },
		"head":   func() string { return head },
		"repeat": func(count int, text string) string { return strings.Repeat(text, count) },
	}
	parsed, err := template.New(c.Name).Delims("«", "»").Funcs(functions).Parse(c.text)
	if err != nil {
		return "", fmt.Errorf("reading case %q: %w", c.Name, err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("writing case %q out: %w", c.Name, err)
	}
	return out.String(), nil
}
