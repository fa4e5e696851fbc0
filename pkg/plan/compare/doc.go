// Package compare says field by field how two values differ, each of them a tree of maps,
// lists and scalars:
//
//	Diff(want, have)             "spec.replicas: want 4, have 6"
//	Changes(path, before, after) `containers[name=web].image: "web:1" -> "web:2"`
//	YAML(value)                  the text that files and people get, the same every time
//
// It is pure. Values are shown as JSON in one line, cut where they are long, and cannot
// move the cursor of a terminal.
package compare
