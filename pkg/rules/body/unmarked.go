package body

import (
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// longestUnmarked is how long a text may be that is taken for a forgotten template.
const longestUnmarked = 200

// Unmarked reports whether a text without ${ } is most likely meant as an expression:
// it can be read as one, and goes to a field of an object or of params. Where a text
// is wrong anyhow, a name alone will do, too.
func Unmarked(text string, scope *expression.Scope, wrong bool) bool {
	if scope == nil || len(text) > longestUnmarked || strings.Contains(text, "${") {
		return false
	}
	if inner := foreign.FindStringSubmatch(text); inner != nil {
		text, wrong = inner[1], false
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

// foreign is what other languages write instead of ${ }, around what begins with a name
// that every rule has.
var foreign = regexp.MustCompile(`(?:\{\{-?|\$\(|^\{)\s*((?:object|params|rule)[.\[][^{}()]*?)\s*(?:-?\}\}|\)|\}$)`)

// Marked writes an expression as a template, in quotes for YAML.
func Marked(text string) string {
	if foreign.MatchString(text) {
		text = foreign.ReplaceAllString(text, "$${$1}")
	} else {
		text = "${" + text + "}"
	}
	quote := `"`
	if strings.Contains(text, quote) {
		quote = "'"
	}
	return quote + text + quote
}
