package printable

import (
	"bytes"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer escapes what is written through it: what a terminal would obey, and what makes a line a command of a CI
// system. Text that was made with [Line] is not changed. Each write has whole characters. It is safe for concurrent use.
type Writer struct {
	out io.Writer
	// styles are passed on. commands says that lines may be commands of GitHub's workflows, of our own.
	styles   [][]byte
	commands bool

	mu    sync.Mutex
	state // guarded by mu
}

// state is what is known of the line that is being written.
type state struct {
	inside bool // There is something else than white space in it.
	colon  bool // There is a colon, and nothing but white space before it.
	// hashes counts those before the next character. After two, it stays for letters: ##[ and ##vso[ begin commands.
	hashes int
}

// NewWriter returns a Writer that passes on styles, escapes of a terminal that the program uses itself.
func NewWriter(out io.Writer, styles ...string) *Writer {
	w := &Writer{out: out}
	for _, style := range styles {
		w.styles = append(w.styles, []byte(style))
	}
	return w
}

// Commands returns a Writer to the same place, of whose lines those that begin with :: stay commands.
func (w *Writer) Commands() *Writer { return &Writer{out: w.out, commands: true} }

// Unwrap returns where it writes to.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write implements [io.Writer].
func (w *Writer) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]byte, 0, len(data)+len(data)/8)
next:
	for i := 0; i < len(data); {
		for _, style := range w.styles {
			if bytes.HasPrefix(data[i:], style) {
				out = append(out, style...)
				i += len(style)
				continue next
			}
		}
		r, size := utf8.DecodeRune(data[i:])
		i += size
		if hostile(r) || w.begins(r) {
			out = appendEscape(out, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	if _, err := w.out.Write(out); err != nil {
		return 0, err //nolint:wrapcheck // It is the error of the other writer.
	}
	return len(data), nil
}

// begins reports whether the next character would make the line a command, and takes it in.
func (w *Writer) begins(r rune) bool {
	command := r == ':' && w.colon && !w.commands || r == '[' && w.hashes >= 2
	switch {
	case r == '\n':
		w.state = state{}
		return false
	case r == '#':
		w.hashes++
	case w.hashes < 2 || !unicode.IsLetter(r):
		w.hashes = 0
	}
	w.colon = r == ':' && !w.inside
	w.inside = w.inside || !unicode.IsSpace(r)
	return command
}
