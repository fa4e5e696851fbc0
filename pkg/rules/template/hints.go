package template

import (
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// locate finds what a violation is about, or what it is in where an expression wrote it, and says what to write instead.
func (d *draft) locate(n *document.Node, v schema.Violation) *document.Error {
	at := document.At(n, v.Path...)
	if v.Code == document.CodeUnknownField {
		at = document.KeyAt(n, v.Path...)
	}
	hint := v.Hint
	switch {
	case v.Code == document.CodeUnknownField && at.Text() == "forEach":
		hint = "a template has none: write ${map(list, {{...}})} for a list, and flatten(map(...)) for one of lists"
	case v.Code == document.CodeUnknownField && strings.Contains(at.Text(), ".") && at.Kind() == document.KindString:
		hint = "write a map for each part of the path, as in spec: {replicas: 3}"
	case v.Code != document.CodeTypeMismatch:
	case at.Kind() == document.KindString && Unmarked(at.Text(), d.context.Scope, true):
		hint = "write " + Marked(at.Text())
	}
	return at.Errorf(hint, "%s", v.Message).Coded(v.Code)
}

// longestUnmarked is how long a text may be that is taken for a forgotten template.
const longestUnmarked = 200

// Unmarked reports whether a text without ${ } is most likely meant as an expression: it can be read as one, and goes to a field of an
// object or of params. Where a text is wrong anyhow, a name alone will do, too.
func Unmarked(text string, scope *expression.Scope, wrong bool) bool {
	if scope == nil || len(text) > longestUnmarked || strings.Contains(text, "${") {
		return false
	}
	if inner := foreign.FindStringSubmatch(text); inner != nil {
		text, wrong = meant.Replace(inner[1]), false
	}
	if !wrong && !path.MatchString(text) {
		return false
	}
	program, err := expression.Compile(text, scope)
	return err == nil && len(program.Names()) > 0
}

// path is how an expression goes to a field: from a name that every rule has, or
// from another object.
var path = regexp.MustCompile(`(^|[^A-Za-z0-9_.#"'/-])(` +
	`object\.[A-Za-z]|params(\.[A-Za-z_]|\[)|rule\.(name|set)$|` +
	`[A-Za-z_][A-Za-z0-9_]*(\[0\])?(\.metadata|\.spec|\.status|\.data)\b)`)

// foreign is what other languages write instead of ${ }, around what begins with a name that every rule has, or with what Kyverno and
// Helm call it.
var foreign = regexp.MustCompile(`(?:\{\{-?|\$\(|^\{)\s*((?:(?:object|params|rule|request\.object)[.\[]|request\.namespace\b|\.Values\.)` +
	`[^{}()]*?)\s*(?:-?\}\}|\)|\}$)`)

// meant is how rules call it.
var meant = strings.NewReplacer("request.object", "object", "request.namespace", "object.metadata.namespace", ".Values.", "params.")

// HintFor is the hint for a text that is wrong: how it is written here if it is in the braces of another language, as {{ request.object.x }} of
// Kyverno, and otherwise the given one.
func HintFor(text, hint string) string {
	if foreign.MatchString(text) {
		return "write " + Marked(text)
	}
	return hint
}

// Marked writes an expression as a template, in quotes for YAML.
func Marked(text string) string {
	if foreign.MatchString(text) {
		text = foreign.ReplaceAllStringFunc(text, func(braces string) string {
			return "${" + meant.Replace(foreign.FindStringSubmatch(braces)[1]) + "}"
		})
	} else {
		text = "${" + text + "}"
	}
	quote := `"`
	if strings.Contains(text, quote) {
		quote = "'"
	}
	return quote + text + quote
}
