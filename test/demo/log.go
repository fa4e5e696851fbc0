package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// record is a line that dyncontroller logs with --logging-format=json.
type record struct {
	Level     string   `json:"level"`
	Message   string   `json:"msg"`
	Err       string   `json:"err"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Rules     []string `json:"rules"`
	Rule      string   `json:"rule"`
	Reason    string   `json:"reason"`
	// Changes are "set/rule: field", or "field" where there is one rule.
	Changes []string `json:"changes"`
}

// parseRecord takes a line that is no record, such as of a crash, for a message.
func parseRecord(line string) record {
	var out record
	// Other messages have other attributes by the same names; such are left empty.
	_ = json.Unmarshal([]byte(line), &out)
	if out.Message == "" {
		return record{Level: "ERROR", Message: line}
	}
	return out
}

// isWrite says whether a request changed an object.
func (r record) isWrite() bool { return r.Message == "wrote" || r.Message == "deleted" }

func (r record) String() string {
	parts := []string{r.Message}
	switch {
	case r.isWrite():
		parts = []string{r.Message + " " + r.Name, strings.Join(r.shown(), ", ")}
	case r.Rule != "":
		parts = []string{r.Message + " on " + r.Name, withoutSet(r.Rule)}
	}
	for _, why := range []string{r.Reason, r.Err} {
		if why != "" {
			parts = append(parts, why)
		}
	}
	return strings.Join(parts, ": ")
}

// shown are the changes, or the rules where only the ownership of fields changed.
func (r record) shown() []string {
	var out []string
	for _, c := range r.changed() {
		out = append(out, c.field+" by "+c.rule)
	}
	if out != nil {
		return out
	}
	for _, rule := range r.Rules {
		out = append(out, "ownership by "+withoutSet(rule))
	}
	return out
}

// changed are the changes without their values, which a log does not have.
func (r record) changed() []change {
	var out []change
	for _, text := range r.Changes {
		rule, field, several := strings.Cut(text, ": ")
		if !several && len(r.Rules) == 1 {
			rule, field = r.Rules[0], text
		}
		out = append(out, change{rule: withoutSet(rule), field: field})
	}
	return out
}

// withoutSet leaves out the set, which is the same for all rules of the demo.
func withoutSet(rule string) string { return rule[strings.LastIndexByte(rule, '/')+1:] }

// logbook collects records. Its methods may be called concurrently.
type logbook struct {
	mu      sync.Mutex
	records []record
	// more is closed when there are further records, or none will come.
	more   chan struct{}
	closed bool
	// listener is told each record, if not nil.
	listener func(record)
}

func newLogbook(listener func(record)) *logbook {
	return &logbook{more: make(chan struct{}), listener: listener}
}

// follow reads until the end of the log.
func (l *logbook) follow(log io.Reader) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.add(parseRecord(lines.Text()))
	}
	_, _ = io.Copy(io.Discard, log) // A line too long must not block who writes it.
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	close(l.more)
}

func (l *logbook) add(r record) {
	if l.listener != nil {
		l.listener(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
	close(l.more)
	l.more = make(chan struct{})
}

// writes are the records of requests that changed something.
func (l *logbook) writes() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.records), func(r record) bool { return !r.isWrite() })
}

// tail is the end of the log, for error messages.
func (l *logbook) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out strings.Builder
	for _, r := range l.records[max(0, len(l.records)-10):] {
		fmt.Fprintf(&out, "\n  %s %s", r.Level, r)
	}
	return out.String()
}

// wait returns when the writes are as wanted.
func (l *logbook) wait(ctx context.Context, wanted func([]record) bool) error {
	for {
		l.mu.Lock()
		more, closed := l.more, l.closed
		l.mu.Unlock()
		switch {
		case wanted(l.writes()):
			return nil
		case closed:
			return fmt.Errorf("dyncontroller ended:%s", l.tail())
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the log of dyncontroller: %w%s", context.Cause(ctx), l.tail())
		}
	}
}
