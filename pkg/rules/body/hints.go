package body

import (
	"cmp"
	"regexp"
	"strconv"
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
	const quotes = "put it in quotes: "
	hint := v.Hint
	switch {
	case v.Code == document.CodeUnknownField && at.Text() == "forEach":
		hint = "a template has none: write ${map(list, {{...}})} for a list, and flatten(map(...)) for one of lists"
	case v.Code == document.CodeUnknownField:
		hint = cmp.Or(nested(at.Text()), hint)
	case v.Code != document.CodeTypeMismatch:
	case at.Kind() == document.KindString && Unmarked(at.Text(), d.context.Scope, true):
		hint = "write " + Marked(at.Text())
	case at.Kind() == document.KindBool && strings.HasPrefix(hint, quotes):
		hint = quotes + strconv.Quote(at.Text()) // True is as a rule not meant to be true.
	}
	return at.Errorf(hint, "%s", v.Message).Coded(v.Code)
}

// nested writes a path in the place of a key as maps, and is "" for other keys.
func nested(key string) string {
	first, rest, _ := strings.Cut(key, ".")
	if first != "spec" && first != "status" && first != "metadata" || rest == "" || len(key) > longestUnmarked {
		return ""
	}
	keys := strings.Split(rest, ".")
	return "write " + first + ": {" + strings.Join(keys, ": {") + ": ..." + strings.Repeat("}", len(keys))
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
	if !wrong && !suspicious(text) {
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

func suspicious(text string) bool { return path.MatchString(text) }

// foreign is what other languages write instead of ${ }, around what begins with a name that every rule has, or with what Kyverno and
// Helm call it.
var foreign = regexp.MustCompile(`(?:\{\{-?|\$\(|^\{)\s*((?:(?:object|params|rule|request\.object)[.\[]|request\.namespace\b|\.Values\.)` +
	`[^{}()]*?)\s*(?:-?\}\}|\)|\}$)`)

// meant is how rules call it.
var meant = strings.NewReplacer("request.object", "object", "request.namespace", "object.metadata.namespace", ".Values.", "params.")

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
