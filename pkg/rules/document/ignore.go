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
	out := slices.Clone(found)
	for _, file := range files {
		source, err := newSource(file)
		if err != nil || !strings.Contains(source.text, "dyncontroller:ignore") {
			continue
		}
		lines := strings.Split(source.text, "\n") // lines[1] is the user's first.
		checked := !slices.ContainsFunc(found, func(e *Error) bool {
			return e.Severity == Mistake || e.File == file.Name && (e.Code == CodeUntyped || e.Code == CodeUnchecked)
		})
		for number, line := range lines {
			match := ignoring.FindStringSubmatchIndex(line)
			if match == nil {
				continue
			}
			code := ""
			if match[4] >= 0 {
				code = line[match[4]:match[5]]
			}
			first, last := number, number
			if strings.TrimSpace(line[:match[2]]) == "" {
				first, last = extent(lines, number)
			}
			before := len(out)
			out = slices.DeleteFunc(out, func(e *Error) bool {
				return e.Severity != Mistake && string(e.Code) == code && e.File == file.Name && first <= e.Line && e.Line <= last
			})
			message, hint := whyIdle(code, len(out) < before, checked)
			if message != "" {
				out = append(out, (&Error{
					File: file.Name, Line: number, Column: utf8.RuneCountInString(line[:match[2]]) + 1, Length: utf8.RuneCountInString(line[match[2]:]),
					Message: message, Hint: hint, Code: CodeUnusedIgnore, source: source, offset: source.lines[number] + match[2],
				}).Warn())
			}
		}
	}
	return out.Sorted()
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

// extent is the first and the last line of what begins below a comment: all that is indented further, and the elements of a list
// below its key.
func extent(lines []string, comment int) (first, last int) {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	blank := func(line string) bool {
		text := strings.TrimSpace(line)
		return text == "" || strings.HasPrefix(text, "#")
	}
	first = comment + 1
	for first < len(lines) && blank(lines[first]) {
		first++
	}
	if first == len(lines) {
		return first, comment // There is nothing.
	}
	margin, element := indent(lines[first]), strings.HasPrefix(strings.TrimSpace(lines[first]), "- ")
	last = first
	for number := first + 1; number < len(lines); number++ {
		line := lines[number]
		below := indent(line) > margin || indent(line) == margin && !element && strings.HasPrefix(strings.TrimSpace(line), "- ")
		switch {
		case blank(line):
		case below:
			last = number
		default:
			return first, last
		}
	}
	return first, last
}
