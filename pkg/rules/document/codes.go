package document

import "slices"

// Code names a kind of mistake, for tools that filter and count them. Codes are
// kept: what a tool was told to ignore must not come back under another name.
type Code string

// The codes. A new one needs its row in the table below.
const (
	CodeInvalid         Code = "invalid"
	CodeYAML            Code = "yaml"
	CodeTooMany         Code = "too-many"
	CodeUnknownField    Code = "unknown-field"
	CodeMissingField    Code = "missing-field"
	CodeTypeMismatch    Code = "type-mismatch"
	CodeNotInEnum       Code = "not-in-enum"
	CodeOutOfBounds     Code = "out-of-bounds"
	CodeWrongFormat     Code = "wrong-format"
	CodeNotSupported    Code = "not-supported"
	CodeExpression      Code = "expression"
	CodeUnknownName     Code = "unknown-name"
	CodeMayBeAbsent     Code = "may-be-absent"
	CodeNeverTrue       Code = "never-true"
	CodeParameter       Code = "parameter"
	CodeUnknownResource Code = "unknown-resource"
	CodeNotWatchable    Code = "not-watchable"
	CodeWrongScope      Code = "wrong-scope"
	CodeSubresource     Code = "subresource"
	CodeAtomicList      Code = "atomic-list"
	CodeReplacedList    Code = "replaced-list"
	CodeIdleStamp       Code = "idle-stamp"
	CodeConflict        Code = "conflict"
	CodePruneLoop       Code = "prune-loop"
	CodeUnlimitedDelete Code = "unlimited-delete"
	CodeLiteralNull     Code = "literal-null"
	CodeMissingBraces   Code = "missing-braces"
	CodeRestless        Code = "restless"
	CodeCycle           Code = "cycle"
	CodeUntyped         Code = "untyped"
	CodeUnchecked       Code = "unchecked"
	CodeSensitive       Code = "sensitive"
	CodeUnusedIgnore    Code = "unused-ignore"
)

// Description is a row of the table of codes.
type Description struct {
	Code     Code
	Severity Severity // that it mostly has
	Text     string   // what is wrong, in a sentence
	Advice   string   // what to do, in a sentence
}

// Codes returns the table of codes.
func Codes() []Description {
	return []Description{
		{CodeInvalid, Mistake, "What is written has no meaning here.", "Write what the message says."},
		{CodeYAML, Mistake, "The file is not YAML that all readers understand in the same way.", "Correct the place, or quote the value."},
		{CodeTooMany, Mistake, "A file has so many findings that the rest is not shown.", "Correct the others first."},
		{CodeUnknownField, Mistake, "There is no such field, in the rule language or in the schema of an object.", "Write the field that is meant; with an outdated schema, give the CRD that is installed."},
		{CodeMissingField, Mistake, "A field that must be there is missing.", "Add it."},
		{CodeTypeMismatch, Mistake, "A value is of another type than the one that is wanted.", "Convert it, or write a value of that type."},
		{CodeNotInEnum, Mistake, "A value is none of those that are possible.", "Write one of them."},
		{CodeOutOfBounds, Mistake, "A number, or a length, is above or below what the schema allows.", "Stay within the bounds."},
		{CodeWrongFormat, Mistake, "A text does not have the form that is wanted of it.", "Write it in that form."},
		{CodeNotSupported, Mistake, "It is part of the language, but cannot be carried out yet.", "Leave it out until it can."},
		{CodeExpression, Mistake, "An expression or a template cannot be read.", "Correct it where the caret is."},
		{CodeUnknownName, Mistake, "An expression uses a name or a function that there is not.", "Write one that there is, or define it with let."},
		{CodeMayBeAbsent, Mistake, "An expression goes through, or computes with, what may be absent.", "Use ?. or ??, or ask for it with in or != nil first."},
		{CodeNeverTrue, Mistake, "A comparison has the same answer whatever the object is.", "Compare with a value that can be there."},
		{CodeParameter, Mistake, "A --param replaces nothing, or has the wrong type.", "Name a parameter of a set, and give it a value of the type that it has."},
		{CodeUnknownResource, Mistake, "There is no such resource.", "Write the resource that is meant, or give its CRD with --crds."},
		{CodeNotWatchable, Mistake, "A resource that rules watch or read can be neither listed nor watched.", "Watch another one."},
		{CodeWrongScope, Mistake, "A resource of the cluster is taken for one of a namespace, or the reverse.", "Leave the namespace out, or use a ClusterRuleSet."},
		{CodeSubresource, Mistake, "A field is written where the API server ignores it, such as status without its subresource.", "Name the subresource, or leave it out."},
		{CodeSensitive, Mistake, "Objects are written by which one gains rights or brings a cluster down, and that is not allowed.", "Do without, or run with --allow-sensitive."},
		{CodeAtomicList, Warning, "Server-side apply replaces the whole list, with what others wrote into it.", "Write the list with merge or json, or own all of it."},
		{CodeReplacedList, Warning, "A merge replaces a list as a whole, and its other elements are lost.", "Use apply, or build the list from the one that is there."},
		{CodeIdleStamp, Warning, "A rule waits until a time is old, and stamp() never renews it.", "Write beside the stamp something that changes."},
		{CodeConflict, Warning, "Two rules can write different values to the same field.", "Make their conditions exclude each other, or make them one rule."},
		{CodePruneLoop, Warning, "Whether something is pruned depends on the very thing.", "Let when leave out what the rule itself has made, or depend on other objects."},
		{CodeUnlimitedDelete, Warning, "A rule that deletes has no limits.", "Give it limits."},
		{CodeLiteralNull, Warning, "A null in a patch is lost on its way into a cluster by client-side apply.", "Write \"${nil}\"."},
		{CodeMissingBraces, Warning, "A text looks like an expression, and is written as it is.", "Write ${ } around it; where the text is meant, ${\"...\"}."},
		{CodeRestless, Warning, "A rule changes a field each time that it is evaluated, and never stops.", "Give it a when that is false once the field is as it should be."},
		{CodeUnusedIgnore, Warning, "A comment that ignores a warning has none to ignore.", "Remove it, or correct its code and place."},
		{CodeCycle, Note, "Two rules each read what the other writes. Most settle.", "See in a RuleTest that they do."},
		{CodeUntyped, Note, "No schema is known of a resource, so its fields are not checked.", "Give its CRD with --crds, or a cluster with --context."},
		{CodeUnchecked, Note, "Something was not looked at: mistakes hide it, or it would take too long.", "Correct the mistakes; let fewer rules write the same fields."},
	}
}

// Describe returns the row of a code, that of [CodeInvalid] where it has none.
func Describe(code Code) Description {
	all := Codes()
	i := slices.IndexFunc(all, func(d Description) bool { return d.Code == code })
	return all[max(i, 0)]
}
