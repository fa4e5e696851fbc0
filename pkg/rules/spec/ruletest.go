package spec

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
)

// The fields of a RuleTest.
var (
	TestDocument = field.Object("",
		documentFields.Fields[0], documentFields.Fields[1],
		field.Required("metadata", field.Ref("metadata"), "The name of the test."),
		field.Required("spec", field.Any, "What the test says."),
	)
	TestMetadata = &field.Type{Kinds: documentFields.Kinds, Fields: []field.Field{metadataFields.Fields[0], metadataFields.Fields[2], metadataFields.Fields[3]}}
	TestFields   = field.Object("test",
		field.Required("rules", paths, "Files or directories of rules, relative to the test."),
		field.Optional("crds", paths,
			"Files or directories with CustomResourceDefinitions, relative to the test: what they say is checked, defaulted and pruned."),
		field.Optional("now", instant, "The instant at which a case begins, RFC 3339; default 2026-01-01T00:00:00Z."),
		field.Optional("params", &field.Type{Kinds: document.KindMap},
			"Constants that replace those of the rules: NAME, or SET.NAME where several sets have it."),
		field.Optional("wholeObjects", field.Bool, "Goldens have each changed object as a whole, and not what changed of it."),
		field.Optional("reasons", field.Bool, "Goldens have the reason of each rule that does not match, with the text of its conditions."),
		field.Required("cases", field.List(CaseFields), "Each is a cluster of its own, in which the rules act until nothing changes any more."),
	)
	CaseFields = field.Object("case",
		field.Required("name", title, "One line, which names the golden too."),
		field.Required("objects", paths, "Files with one or more objects each, relative to the test: the cluster before, as it is stored."),
		field.Optional("steps", field.List(StepFields), "What happens then, in order. The rules settle after each."),
		field.Optional("golden", field.NotBlank,
			"Default: golden/<name of the case>.yaml beside the test, or none where the case expects something itself."),
		field.Optional("expect", ExpectFields, "What must have happened once the rules have settled, and what must not."),
	)
	// StepFields are what happens to the cluster of a case from outside.
	StepFields = field.Object("step",
		field.Optional("name", title, "What goldens and reports call the step; default: what it does."),
		field.Optional("expect", ExpectFields, "What must have happened since, and what must not."),
		field.Optional("advance", duration, "How far the clock moves on."),
		field.Optional("apply", field.Free(field.Schema{
			"type": []string{"string", "array"}, "minItems": 1, "items": field.Schema{"type": "string", "pattern": `\S`},
		}), "Files with objects that are created, or changed to be so, their status too."),
		field.Optional("patch", StepPatchFields, "Changes an object."),
		field.Optional("delete", StepDeleteFields, "Deletes an object."),
	).With("advance", "apply", "patch", "delete")
	// StepDeleteFields name the object that a step is about.
	StepDeleteFields = field.Object("",
		field.Required("resource", field.NotBlank, "A key of the resources of the rules, or a plural with its group, such as deployments.apps."),
		field.Required("name", objectName, "The name of the object."),
		field.Optional("namespace", field.Label, "Default: that of the one object of the name."),
	)
	StepPatchFields = &field.Type{Name: "stepPatch", Kinds: StepDeleteFields.Kinds, Fields: append(StepDeleteFields.Fields[:3:3],
		field.Optional("subresource", field.Subresource, "Such as status."),
		field.Optional("merge", filled(&field.Type{Kinds: StepDeleteFields.Kinds}), "A merge patch, RFC 7386."),
		field.Optional("json", field.List(StepOperationFields), "A JSON patch, RFC 6902."),
		field.Optional("apply", filled(&field.Type{Kinds: StepDeleteFields.Kinds}), "Server-side apply of just these fields, by force."),
	), OneOf: []string{"merge", "json", "apply"}}
	// StepOperationFields are one of a JSON patch, without templates.
	StepOperationFields = field.Object("stepOperation",
		field.Required("op", field.Words("add", "remove", "replace", "move", "copy", "test"), "What is done."),
		field.Required("path", pointer, "A JSON pointer, such as /spec/replicas; /- is the end of a list."),
		field.Optional("from", pointer, "Of move and copy: a JSON pointer."),
		field.Optional("value", field.Any, "Of add, replace and test: any value."),
	)
	ExpectFields = field.Object("expect",
		field.Optional("has", ExpectedFields, "What there must be, among other things; null stands for a field that must not be there."),
		field.Optional("hasNot", ExpectedFields, "What nothing may be like."),
	)
)

// pointer is a JSON pointer; who applies a patch says what is wrong with it.
var pointer = field.Matching("^/", "a JSON pointer such as /spec/replicas")

// Expectable are the lists of a golden, and the fields of their elements.
var Expectable = []struct {
	List   string
	Fields []string
}{
	{"objects", []string{"object", "now"}},
	{"decisions", []string{"object", "rule", "outcome", "mode", "reason"}},
	{"writes", []string{"object", "rules", "type", "subresource", "manager", "force", "body", "answer"}},
	{"audited", []string{"object", "rules", "type", "subresource", "manager", "force", "body"}},
	{"events", []string{"object", "rule", "type", "reason", "action", "message", "again", "answer"}},
	{"failures", []string{"object", "rules", "error"}},
	{"lookAgainAt", []string{"object", "at"}},
}

// ExpectedFields are parts of those lists.
var ExpectedFields = func() *field.Type {
	out := field.Object("expected")
	for _, each := range Expectable {
		element := filled(field.Object(""))
		for _, name := range each.Fields {
			element.Fields = append(element.Fields, field.Optional(name, field.Any, "As eval -o yaml shows it."))
		}
		out.Fields = append(out.Fields, field.Optional(each.List, field.List(element), "Parts of elements, as eval -o yaml shows them."))
	}
	return out
}()

// paths are relative to the file that names them.
var paths = field.List(field.NotBlank)

// PathErrors are what is wrong with a path, or a list of paths.
func PathErrors(n *document.Node) document.Errors {
	if n.Kind() == document.KindList {
		return paths.Errors(n)
	}
	return field.NotBlank.Errors(n)
}

// longestTitle keeps reports to one line for each case.
const longestTitle = 120

var title = &field.Type{
	Kinds: document.KindString, Pattern: field.NotBlank.Pattern, Message: "this is empty", Most: longestTitle,
	Check: func(n *document.Node) *document.Error {
		text := n.Text()
		switch {
		case strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || len(text) > longestTitle:
			return n.Errorf("", "the name of a case is one line of at most %d bytes", longestTitle)
		case !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			return n.Errorf("", "the name of a case has a letter or a digit, have %q", text)
		default:
			return nil
		}
	},
}

// objectName allows what some kinds do, such as the colons of roles.
var objectName = field.NotBlank.Unless(func(n *document.Node) *document.Error {
	if wrong := content.IsPathSegmentName(n.Text()); len(wrong) > 0 {
		return n.Errorf("", "%q is not the name of an object", n.Text())
	}
	return nil
})

var instant = &field.Type{
	Kinds: document.KindString, Schema: field.Schema{"format": "date-time"},
	Check: func(n *document.Node) *document.Error {
		if _, err := time.Parse(time.RFC3339, n.Text()); err != nil {
			return n.Errorf("", `want a time such as "2026-01-01T00:00:00Z", have %q`, n.Text())
		}
		return nil
	},
}
