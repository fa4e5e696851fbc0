package document

import (
	"regexp"
	"slices"
	"strings"
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
		source, err := newSource(file, strict)
		if err != nil || !strings.Contains(source.text, "dyncontroller:ignore") {
			continue
		}
		checked := !slices.ContainsFunc(found, func(e *Error) bool {
			return e.Severity == Mistake || e.File == file.Name && (e.Code == CodeUntyped || e.Code == CodeUnchecked)
		})
		lines := strings.Split(source.text, "\n")
		ends := map[int]int{} // of what begins on a line: many comments may be about the same
		below := len(lines)   // the first line below that is not empty
		for i, line := range slices.Backward(lines) {
			if i+1 < len(lines) && !isEmpty(lines[i+1]) {
				below = i + 1
			}
			match := ignoring.FindStringSubmatchIndex(line)
			if match == nil || quoted(line[:match[2]]) {
				continue
			}
			code := ""
			if match[4] >= 0 {
				code = line[match[4]:match[5]]
			}
			first, end := i, i+1
			if strings.TrimSpace(line[:match[2]]) == "" {
				if ends[below] == 0 {
					ends[below] = endOf(lines, below)
				}
				first, end = below, ends[below]
			}
			before := len(out)
			out = slices.DeleteFunc(out, func(e *Error) bool {
				return e.Severity != Mistake && string(e.Code) == code && e.File == file.Name && first < e.Line && e.Line <= end
			})
			if message, hint := whyIdle(code, len(out) < before, checked); message != "" {
				at := source.lines[i] + match[2]
				unused = append(unused, source.errorBetween(at, source.lines[i]+len(line), hint, "%s", message).Coded(CodeUnusedIgnore).Warn())
			}
		}
	}
	return append(out, unused...).Sorted()
}

// isEmpty reports whether a line has nothing but a comment.
func isEmpty(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || strings.HasPrefix(text, "#")
}

// endOf returns the line behind what begins on a line: all that is indented further, and the elements of a list below its key.
func endOf(lines []string, first int) int {
	isElement := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "- ") }
	end := first + 1
	for i := end; i < len(lines); i++ {
		margin, deeper := indent(lines[first]), indent(lines[i])
		switch {
		case isEmpty(lines[i]):
		case deeper > margin, deeper == margin && isElement(lines[i]) && !isElement(lines[first]):
			end = i + 1
		default:
			return end
		}
	}
	return end
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
		return "there is no warning " + quote(code), "the code is in brackets at the end of a warning"
	case known.Severity == Mistake:
		return quote(code) + " is a mistake, which cannot be ignored", "correct it, and remove the comment"
	case !checked:
		return "", ""
	default:
		return "there is no warning " + quote(code) + " to ignore here", "remove the comment"
	}
}
