package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Errors are the mistakes of one or more files.
type Errors []*Error

// Error returns one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Render returns every mistake as [Error.Render] does, with an empty line
// between them.
func (e Errors) Render() string {
	blocks := make([]string, len(e))
	for i, err := range e {
		blocks[i] = err.Render()
	}
	return strings.Join(blocks, "\n")
}

// Of returns those of one severity.
func (e Errors) Of(severity Severity) Errors {
	var out Errors
	for _, err := range e {
		if err.Severity == severity {
			out = append(out, err)
		}
	}
	return out
}

// Unwrap lets errors.As find the single mistakes.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Err returns nil if there is no mistake, so that an empty list never becomes a
// non-nil error.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxErrors is how many mistakes of a file are reported.
const maxErrors = 100

// Enough reports whether there are so many that more would be of no use. A
// loop over a document that collects mistakes ends then: what a file may cost
// is bounded, and each of them costs far more than the text it takes.
func (e Errors) Enough() bool { return len(e) > maxErrors }

// Sorted returns the mistakes by file, line and column, each only once. Where a
// file has too many, the last says so.
func (e Errors) Sorted() Errors {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, compare)
	sorted = slices.CompactFunc(sorted, func(a, b *Error) bool { return compare(a, b) == 0 })
	kept, ofFile := sorted[:0], 0
	for i, err := range sorted {
		if i == 0 || err.File != sorted[i-1].File {
			ofFile = 0
		}
		ofFile++
		if ofFile > maxErrors+1 {
			continue
		}
		if ofFile > maxErrors {
			err = err.Redacted(fmt.Sprintf("more %ss follow", err.Severity)).Coded(CodeTooMany)
			err.Hint = "correct the others first"
		}
		kept = append(kept, err)
	}
	return kept
}

// compare leaves the path out: a map and its first key start at the same place
// and would report the same mistake twice.
func compare(a, b *Error) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Message, b.Message),
	)
}
