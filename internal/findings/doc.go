// Package findings shows what checking rules has found: to people, and to the
// tools that keep, filter and display it.
//
//	Report -> Write: text, JSON, SARIF 2.1.0, GitHub's workflow commands
//
// A report says the same in every format; what is a finding is decided elsewhere.
package findings
