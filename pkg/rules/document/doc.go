// Package document reads strict YAML and keeps, for every value, where it was
// written, so that whatever later finds a mistake can point at it.
//
//	File -> Parse -> Node (one per document) -> field.Type.Read
//	                   \-> Errorf, ErrorAt -> Error -> Render: line, caret, hint
//	text -> ParseData -> value of fromYAML
//	File -> ParseManifests -> Node, for objects, which are read as kubectl reads them
//
// Strict means that nothing is guessed: what YAML 1.1 and 1.2 readers
// understand differently, duplicate keys, tags, anchors and unknown fields are
// errors that say what to write instead. All mistakes of a file are reported
// together; only of a syntax error there is one per file, since what follows it
// cannot be trusted.
//
// The package knows nothing of rules: it does no input or output, evaluates no
// expression and has no opinion on what a field means.
package document
