package setstatus

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const (
	// maxLines is how many of a kind a message tells.
	maxLines = 10
	// longestLine and longestMessage are in bytes. The API server takes 32768
	// characters for a message.
	longestLine    = 2 << 10
	longestMessage = 32 << 10
)

// message joins lines. The first is what kubectl get has room for.
func message(lines []string) string {
	short := make([]string, len(lines))
	for i, line := range lines {
		short[i] = bounded(line, longestLine)
	}
	return bounded(strings.Join(short, "\n"), longestMessage)
}

// most keeps as many lines as somebody reads, and says how many there are besides.
func most(lines []string) []string {
	if len(lines) <= maxLines {
		return lines
	}
	rest := len(lines) - maxLines
	return append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", rest))
}

// mistakes has a line for each mistake: where it is in the object, what is wrong, and
// what to write instead. The lines of a file that nobody has seen mean nothing.
func mistakes(in Input) []string {
	var lines []string
	for _, one := range in.Mistakes.Of(document.Mistake) {
		line := one.Message
		if one.Path != "" {
			line = one.Path + ": " + line
		}
		if one.Hint != "" {
			line += "; " + one.Hint
		}
		lines = append(lines, line)
	}
	lines = most(lines)
	if len(lines) > 0 && in.LastGood {
		lines = append(lines, "the version before stays in effect")
	}
	return lines
}

// text is the message of an error in one short line, empty for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return bounded(strings.Join(strings.Fields(err.Error()), " "), longestError)
}

// unplaced is the message of an error without the lines of a file that nobody has seen.
func unplaced(err error) string {
	placed, is := errors.AsType[*document.Error](err)
	if !is {
		return err.Error()
	}
	bare := document.Error{Path: placed.Path, Message: placed.Message, Hint: placed.Hint}
	return strings.Replace(err.Error(), placed.Error(), bare.Error(), 1)
}

// count is a number of things.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
