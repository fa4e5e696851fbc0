package template

import (
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
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
	case IsNil(at):
		hint = `write "${nil}"`
	case at.Kind() == document.KindString && Unmarked(at.Text(), d.context.Scope, true):
		hint = "write " + Marked(at.Text())
	case len(at.Entries()) == 1: // {object.spec.size} is a map for YAML.
		if only := at.Entries()[0]; only.Value.Kind() == document.KindNull && Unmarked(only.Key.Text(), d.context.Scope, true) {
			hint = "write " + Marked(only.Key.Text())
		}
	}
	return at.Errorf(hint, "%s", v.Message).Coded(v.Code)
}

// IsNil reports whether a value is the word nil without quotes, which YAML takes for a text.
func IsNil(n *document.Node) bool {
	return n.Kind() == document.KindString && n.Plain() && n.Text() == "nil"
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

// Slip warns of a text that looks like the expression that it is.
func Slip(n *document.Node, hint string) *document.Error {
	return n.Errorf(hint, "this is written as it is, and looks like an expression").Coded(document.CodeMissingBraces).Warn()
}

// withSlips returns what is wrong with a body, or else warnings of its texts that are expressions by the types of the names in them.
func (d *draft) withSlips(b *Body) document.Errors {
	if len(d.errs) == 0 {
		d.slips(b.node)
	}
	return d.errs
}

func (d *draft) slips(n *document.Node) {
	if text := n.Text(); n.Kind() == document.KindString && d.isExpression(text) {
		d.errs = append(d.errs, Slip(n, "write "+Marked(text)))
	}
	for _, element := range n.Elements() {
		d.slips(element)
	}
	for _, entry := range n.Entries() {
		if !HoldsExpression(entry.Key.Text()) {
			d.slips(entry.Value)
		}
	}
}

// HoldsExpression reports whether a field is for expressions of Kubernetes, which go to object, too.
func HoldsExpression(key string) bool { return strings.HasSuffix(strings.ToLower(key), "expression") }

// access is how an expression reads a part of what a name stands for.
var access = regexp.MustCompile(`(?:^|[( ,!-])([A-Za-z_][A-Za-z0-9_]*)(?:\?\.|\.|\[)`)

// isExpression reports whether a text reads something that there is by the type of a name. Of a name without a type nothing is certain: the
// text may be the name of a host. Where [Unmarked] needs no types, it is none of ours.
func (d *draft) isExpression(text string) bool {
	scope := d.context.Scope
	if !strings.ContainsAny(text, ".[") || scope == nil || len(text) > longestUnmarked || Unmarked(text, scope, false) {
		return false
	}
	names := access.FindStringSubmatch(text)
	if names == nil {
		return false
	}
	if _, known := scope.Slot(names[1]); !known {
		return false
	}
	program, err := expression.Compile(everywhere.ReplaceAllString(text, "$1?.$2$3"), scope) // What may be absent is no mistake here.
	if err != nil {
		return false
	}
	given, wrong := check.Program(program, d.context.Names, d.context.Facts)
	return given.Known() && len(wrong) == 0
}

// everywhere is each access that could be an optional one.
var everywhere = regexp.MustCompile(`([A-Za-z0-9_)\]])(?:\.([A-Za-z_])|(\[))`)

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
