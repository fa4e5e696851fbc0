package setstatus

import (
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// longestError is how many bytes of an error are kept.
const longestError = 512

// maxSamples is of how many failing objects of a rule the error is kept.
const maxSamples = 8

// sum is what is known of one rule. Failing has some of the objects on which it fails
// now, with the errors; LastError is that of the object shown.
type sum struct {
	Counts

	set     plan.Rule // without the name of a rule
	failing map[engine.Key]string
	shown   engine.Key
	gone    bool // the rule is not followed any more
	marked  bool // while the rules of an object are compared: it was among them before
}

// fails notes the error of an object, which is counted unless the sum is marked, and
// reports whether the counts have changed.
func (s *sum) fails(key engine.Key, text string) (changed bool) {
	before := s.Counts
	if !s.marked {
		s.Errors++
	}
	s.marked = false
	if _, known := s.failing[key]; known || len(s.failing) < maxSamples {
		s.failing[key] = text
	}
	_, shows := s.failing[s.shown]
	if s.shown == key || s.LastError == "" || !shows {
		s.shown, s.LastError = key, text
	}
	return s.Counts != before
}

// recovers forgets the error of an object. What is shown instead is of another that
// still fails; where none is known, the text stays until there is news.
func (s *sum) recovers(key engine.Key) {
	s.Errors--
	delete(s.failing, key)
	if s.Errors == 0 {
		s.shown, s.LastError = engine.Key{}, ""
	}
	if s.shown != key {
		return
	}
	for other, text := range s.failing {
		s.shown, s.LastError = other, text
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
