package hostile

import (
	"strings"
	"time"
)

// Outcome is what became of a case.
type Outcome string

// The outcomes.
const (
	Refused Outcome = "refused" // When it was loaded.
	Stopped Outcome = "stopped" // When it was evaluated.
	Passed  Outcome = "passed"
)

// Result is what a case came to.
type Result struct {
	Outcome Outcome
	Message string  // Of the first error.
	Load    Figures // Up to the refusal, or until it is compiled.
	Run     Figures // The evaluation of what is not refused.
	// Yardstick is work that is always the same, done right after the case.
	Yardstick Figures
}

// Figures are what something cost.
type Figures struct {
	CPU       time.Duration
	Peak      int // The most memory above that of the idle process, in KiB.
	Allocated int // All memory that was ever allocated, in KiB.
}

// Shorten makes one short line of a message.
func Shorten(message string) string {
	const most = 160
	line := []rune(strings.Join(strings.Fields(message), " "))
	if len(line) > most {
		return string(line[:most-1]) + "…"
	}
	return string(line)
}
