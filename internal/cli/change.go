package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// widest bounds a value in a summary, in characters.
const widest = 100

// hidden stands for a value of a Secret.
const hidden = "***"

// describeWrite shows a request: the object, the fields with their rules, and
// with body what is sent.
func describeWrite(operation plan.Operation, class write.Class, body bool) string {
	var b strings.Builder
	kind := string(operation.Type)
	if operation.Subresource != "" {
		kind += ", " + operation.Subresource
	}
	fmt.Fprintf(&b, "%s %s (%s)%s\n", verb(operation, class), operation.Target, kind, remark(operation, class))
	secret := operation.Target.IsSecret()
	for _, change := range operation.Changes {
		fmt.Fprintf(&b, "  %s: %s: %s -> %s\n", change.Rule, change.Path, shown(change.Before, secret), shown(change.After, secret))
	}
	if body {
		sent := operation.Body
		if secret {
			sent = masked(sent)
		}
		fmt.Fprintf(&b, "  body: %s\n", compact(sent))
	}
	return b.String()
}

// verb says what is done to the object. An apply to what has no uid makes it.
func verb(operation plan.Operation, class write.Class) string {
	would, did := "patch", "patched"
	switch {
	case operation.Type == plan.Delete:
		would, did = "delete", "deleted"
	case operation.Type == plan.Create, operation.Target.UID == "":
		would, did = "create", "created"
	}
	if class == write.Simulated || class == write.Audited {
		return "would " + would
	}
	return did
}

// remark says what is odd about an accepted write. Where a resource has the
// status subresource, the API server drops what a plain patch says of status.
func remark(operation plan.Operation, class write.Class) string {
	switch class {
	case write.Audited:
		return ": in mode Audit, so not sent"
	case write.Unchanged:
	default:
		return ""
	}
	aboutStatus := slices.ContainsFunc(operation.Changes, func(c plan.Change) bool { return c.Path[0] == "status" })
	if aboutStatus && operation.Subresource == "" {
		return ": accepted, but nothing changed; a status may need subresource: status"
	}
	if operation.Type == plan.Delete {
		return ": it was gone already"
	}
	return ": accepted, but nothing changed"
}

// shown is one value on one line; nil is a field that is not there.
func shown(value any, secret bool) string {
	switch {
	case value == nil:
		return "none"
	case secret:
		return hidden
	}
	text := []rune(compact(value))
	if len(text) > widest {
		return string(text[:widest]) + "..."
	}
	return string(text)
}

// compact is JSON that a person can read and a terminal shows as it is.
func compact(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("(cannot be shown: %v)", err)
	}
	return printable(strings.TrimSuffix(b.String(), "\n"))
}

// printable replaces what a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || r == '\n' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// masked hides every value but null, which removes a field. Of a step of a JSON
// patch, only what it is about stays.
func masked(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = masked(element)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = maskedStep(element)
		}
		return out
	default:
		return hidden
	}
}

func maskedStep(element any) any {
	out := masked(element)
	step, _ := element.(map[string]any)
	fields, ok := out.(map[string]any)
	if !ok || step["op"] == nil {
		return out
	}
	for _, key := range []string{"op", "path", "from"} {
		if step[key] != nil {
			fields[key] = step[key]
		}
	}
	return fields
}
