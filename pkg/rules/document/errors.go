package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Errors are the findings of one or more files: mistakes, and with them warnings and
// notes.
type Errors []*Error

// Error returns one line for each finding.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Render returns every finding as [Error.Render] does, with an empty line
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

// Unwrap lets errors.As find the single ones.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Err returns nil if there is no finding, so that an empty list never becomes a
// non-nil error.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxErrors is how many findings of one severity of a file are reported.
const maxErrors = 100

// Enough reports whether there are so many mistakes that more would be of no use. A
// loop over a document that collects them ends then: what a file may cost is bounded,
// and each of them costs far more than the text it takes. Warnings and notes end
// nothing, or the mistakes behind them would not be found; see [Errors.Bounded].
func (e Errors) Enough() bool { return len(e) > maxErrors && e.EnoughOf(Mistake) }

// EnoughOf is [Errors.Enough] for one severity, for where nothing but that is collected.
func (e Errors) EnoughOf(severity Severity) bool {
	count := 0
	for _, err := range e {
		if err.Severity == severity {
			count++
		}
	}
	return count > maxErrors
}

// Bounded returns the findings or, once they are very many, what [Errors.Sorted] leaves
// of them. A loop that goes on whatever the number of warnings keeps no more than that.
func (e Errors) Bounded() Errors {
	const many = 10 * maxErrors
	if len(e) <= many {
		return e
	}
	return e.Sorted()
}

// Sorted returns the findings by file, line and column, each only once. Where a file has
// too many of one severity, the last of them says so. None of another severity gives way
// for them: a mistake is never lost behind warnings.
func (e Errors) Sorted() Errors {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int { return cmp.Or(compare(a, b), cmp.Compare(a.Severity, b.Severity)) })
	sorted = slices.CompactFunc(sorted, func(a, b *Error) bool { return compare(a, b) == 0 })
	kept := sorted[:0]
	ofFile := map[Severity]int{}
	for i, err := range sorted {
		if i == 0 || err.File != sorted[i-1].File {
			clear(ofFile)
		}
		ofFile[err.Severity]++
		count := ofFile[err.Severity]
		if count > maxErrors+1 {
			continue
		}
		if count > maxErrors {
			err = err.Redacted(fmt.Sprintf("more %ss follow", err.Severity)).Coded(CodeTooMany)
			err.Hint = "correct the others first"
		}
		kept = append(kept, err)
	}
	return kept
}

// compare leaves the path out: a map and its first key start at the same place and would
// report the same twice.
func compare(a, b *Error) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Message, b.Message),
	)
}
