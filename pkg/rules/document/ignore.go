package document

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ignoring is a comment that says which finding is meant to be, and why. The second part is empty where that is not said.
var ignoring = regexp.MustCompile(`(?:^|\s)(#\s*dyncontroller:ignore)\b(?:\s+([\w-]+):\s*\S)?`)

// Ignore leaves out the warnings and notes that a comment in the files calls meant:
//
//	# dyncontroller:ignore CODE: reason
//
// A comment beside something is about its line. One on a line of its own is about what begins below it, with all that is
// indented further. A comment that leaves nothing out is a warning itself, as long as everything was checked.
func Ignore(files []File, found Errors) Errors {
	out, unused := slices.Clone(found), Errors{}
	for _, file := range files {
		source, err := newSource(file)
		if err != nil || !strings.Contains(source.text, "dyncontroller:ignore") {
			continue
		}
		lines := strings.Split(source.text, "\n") // lines[1] is the user's first.
		checked := !slices.ContainsFunc(found, func(e *Error) bool {
			return e.Severity == Mistake || e.File == file.Name && (e.Code == CodeUntyped || e.Code == CodeUnchecked)
		})
		below := extents{lines: lines}
		for number, line := range slices.Backward(lines) {
			match := ignoring.FindStringSubmatchIndex(line)
			if match == nil || quoted(line[:match[2]]) {
				continue
			}
			code := ""
			if match[4] >= 0 {
				code = line[match[4]:match[5]]
			}
			first, last := number, number
			if strings.TrimSpace(line[:match[2]]) == "" {
				first, last = below.of(number)
			}
			before := len(out)
			out = slices.DeleteFunc(out, func(e *Error) bool {
				return e.Severity != Mistake && string(e.Code) == code && e.File == file.Name && first <= e.Line && e.Line <= last
			})
			message, hint := whyIdle(code, len(out) < before, checked)
			if message != "" {
				unused = append(unused, (&Error{
					File: file.Name, Line: number, Column: utf8.RuneCountInString(line[:match[2]]) + 1, Length: utf8.RuneCountInString(line[match[2]:]),
					Message: message, Hint: hint, Code: CodeUnusedIgnore, source: source, offset: source.lines[number] + match[2],
				}).Warn())
			}
		}
	}
	return append(out, unused...).Sorted()
}

// quoted reports whether a text ends within quotes, so that what follows is no comment.
func quoted(text string) bool {
	within := rune(0)
	for _, r := range text {
		switch {
		case within == 0 && (r == '"' || r == '\''):
			within = r
		case r == within:
			within = 0
		}
	}
	return within != 0
}

// whyIdle says why a comment leaves nothing out, empty where it does, or where that is not known.
func whyIdle(code string, used, checked bool) (message, hint string) {
	known := Describe(Code(code))
	switch {
	case used:
		return "", ""
	case code == "":
		return "the comment ignores nothing", "write # dyncontroller:ignore CODE: and why; the code is in brackets at the end of a warning"
	case string(known.Code) != code:
		var all []string
		for _, each := range Codes() {
			all = append(all, string(each.Code))
		}
		if near := Suggest(code, all); near != "" {
			return "there is no warning " + quote(code), "did you mean " + near + "?"
		}
		return "there is no warning " + quote(code), "the code is in brackets at the end of a warning"
	case known.Severity == Mistake:
		return quote(code) + " is a mistake, which cannot be ignored", "correct it, and remove the comment"
	case !checked:
		return "", ""
	default:
		return "there is no warning " + quote(code) + " to ignore here", "remove the comment"
	}
}

// extents finds what begins below comments: all that is indented further, and the elements of a list below its key. It is asked from the
// last line to the first.
type extents struct {
	lines       []string
	asked       int // the line asked for last, 0 for none
	first, last int // of what begins below that
}

// of is the first and the last line of what begins below a comment.
func (e *extents) of(comment int) (first, last int) {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	blank := func(line string) bool {
		text := strings.TrimSpace(line)
		return text == "" || strings.HasPrefix(text, "#")
	}
	first = comment + 1
	for first < len(e.lines) && first != e.asked && blank(e.lines[first]) {
		first++
	}
	if first == e.asked && first > 0 { // Another comment about the same.
		e.asked = comment
		return e.first, e.last
	}
	last = first
	if first == len(e.lines) {
		last = comment // There is nothing.
	} else {
		margin, element := indent(e.lines[first]), strings.HasPrefix(strings.TrimSpace(e.lines[first]), "- ")
		for number := first + 1; number < len(e.lines); number++ {
			line := e.lines[number]
			below := indent(line) > margin || indent(line) == margin && !element && strings.HasPrefix(strings.TrimSpace(line), "- ")
			if !blank(line) && !below {
				break
			}
			if !blank(line) {
				last = number
			}
		}
	}
	e.asked, e.first, e.last = comment, first, last
	return first, last
}
