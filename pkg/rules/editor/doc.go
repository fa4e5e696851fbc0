// Package editor describes rule files to editors, as a draft-07 JSON schema.
//
//	the language, and names -> schema.Resource -> Schema -> JSON
//
// The language part is written down here, and the tests hold it against the
// decoders of rules: a field, a value or a requirement that only one of them knows
// is a failure. Where a name under resources stands for a resource whose fields are
// known, the bodies that are written to it are described as well.
//
// A schema cannot follow expressions, so it is not what decides whether rules are
// right. It refuses nothing that may be right.
package editor
