package findings

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// github shows findings as commands of GitHub's workflows, which put each beside
// its line in a pull request, and the summary for who reads the log.
func (r *Report) github() string {
	var out strings.Builder
	for _, found := range r.sorted() {
		command := [...]string{"error", "warning", "notice"}[found.Severity]
		fmt.Fprintf(&out, "::%s %s::%s\n", command, r.properties(found), data.Replace(r.sentence(found)))
	}
	out.WriteString(r.summary())
	return out.String()
}

// properties say where it is. GitHub counts the last column too.
func (r *Report) properties(found *document.Error) string {
	var out []string
	add := func(key string, value any) { out = append(out, key+"="+property.Replace(fmt.Sprint(value))) }
	if file := r.file(found); file != "" {
		add("file", filepath.ToSlash(file))
		if found.Line > 0 {
			add("line", found.Line)
			add("col", found.Column)
			add("endColumn", found.Column+max(found.Length, 1)-1)
		}
	}
	add("title", document.Describe(found.Code).Code)
	return strings.Join(out, ",")
}

// What GitHub would take for the end of a message or a property, as its toolkit
// escapes it.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
