package setstatus

import (
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// longestError is how many bytes of an error are kept.
const longestError = 512

// maxSamples is of how many failing objects of a rule the error is kept.
const maxSamples = 8

// sum is what is known of one rule. Errors counts the entries that fail, of which
// failing has some.
type sum struct {
	matched, writes, errors int64
	failing                 map[engine.Key]string
	shown                   sample
}

// sample is an object on which a rule fails.
type sample struct {
	key  engine.Key
	text string
}

// count moves an object from one state to another.
func (s *sum) count(before, after entry) {
	s.matched += bit(after.matched) - bit(before.matched)
	s.errors += bit(after.failed) - bit(before.failed)
	if s.errors == 0 {
		s.shown = sample{}
	}
}

func bit(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// fails notes the error of an object.
func (s *sum) fails(key engine.Key, text string) {
	if _, known := s.failing[key]; known || len(s.failing) < maxSamples {
		s.failing[key] = text
	}
	_, shows := s.failing[s.shown.key]
	if s.shown.key == key || s.shown.text == "" || !shows {
		s.shown = sample{key, text}
	}
}

// recovers forgets the error of an object. What is shown instead is of another that
// still fails; where none is known, the text stays until there is news.
func (s *sum) recovers(key engine.Key) {
	delete(s.failing, key)
	if s.shown.key != key {
		return
	}
	for other, text := range s.failing {
		s.shown = sample{other, text}
		return
	}
}

// bounded cuts a text to a number of bytes, between two characters, with a mark. It is
// valid UTF-8.
func bounded(text string, limit int) string {
	const mark = "..."
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= limit {
		return text
	}
	cut := max(limit-len(mark), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}
