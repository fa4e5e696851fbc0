package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const writeLine = `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"wrote","gvr":"g","namespace":"n","name":"basic",` +
	`"rules":["s/pd-quorum","s/team-label"],"changes":["s/pd-quorum: spec.pd.replicas","s/team-label: metadata.labels.team"],"type":"merge"}`

func TestParseRecord(t *testing.T) {
	tests := map[string]struct {
		reason string
		line   string
		want   record
		shown  string
	}{
		"write": {
			"A write says who, what and where.", writeLine,
			record{
				Level: "INFO", Message: "wrote", Namespace: "n", Name: "basic", Type: "merge",
				Rules: []string{"s/pd-quorum", "s/team-label"}, Changes: []string{"s/pd-quorum: spec.pd.replicas", "s/team-label: metadata.labels.team"},
			},
			"wrote basic: spec.pd.replicas by pd-quorum, metadata.labels.team by team-label",
		},
		"one rule": {
			"Of one rule, the changes do not name it again.",
			`{"level":"INFO","msg":"wrote","name":"basic","rules":["s/zone"],"changes":["spec.topologySpreadConstraints"]}`,
			record{Level: "INFO", Message: "wrote", Name: "basic", Rules: []string{"s/zone"}, Changes: []string{"spec.topologySpreadConstraints"}},
			"wrote basic: spec.topologySpreadConstraints by zone",
		},
		"ownership": {
			"An apply may change no value.", `{"level":"INFO","msg":"wrote","name":"basic","rules":["s/zone"],"changes":[]}`,
			record{Level: "INFO", Message: "wrote", Name: "basic", Rules: []string{"s/zone"}, Changes: []string{}},
			"wrote basic: ownership by zone",
		},
		"error": {
			"An error is part of what is shown.", `{"level":"ERROR","msg":"rules are wrong","err":"a.yaml:1:2: no"}`,
			record{Level: "ERROR", Message: "rules are wrong", Err: "a.yaml:1:2: no"},
			"rules are wrong: a.yaml:1:2: no",
		},
		"rule": {
			"A rule that did not act has a reason.",
			`{"level":"WARN","msg":"rule did not act","name":"basic","rule":"s/pd","outcome":"failed","reason":"no such field"}`,
			record{Level: "WARN", Message: "rule did not act", Name: "basic", Rule: "s/pd", Reason: "no such field"},
			"rule did not act on basic: pd: no such field",
		},
		"other types": {
			"Elsewhere, rules is a number.", `{"level":"INFO","msg":"starting","rules":7,"name":"x"}`,
			record{Level: "INFO", Message: "starting", Name: "x"},
			"starting",
		},
		"crash":      {"What is no record is not lost.", "panic: oh no", record{Level: "ERROR", Message: "panic: oh no"}, "panic: oh no"},
		"no message": {"Nor is other JSON.", `{"a":1}`, record{Level: "ERROR", Message: `{"a":1}`}, `{"a":1}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseRecord(tc.line)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if got.String() != tc.shown {
				t.Errorf("shown as %q, want %q", got, tc.shown)
			}
		})
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, seed := range []string{writeLine, "", "{", `{"msg":"wrote","rules":[""]}`, `{"msg":"x","rules":[1]}`, "panic: x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if r := parseRecord(line); line != "" && r.String() == "" {
			t.Errorf("%q is shown as nothing", line)
		}
	})
}

func TestLogbookWaits(t *testing.T) {
	var heard []string
	book := newLogbook(func(r record) { heard = append(heard, r.Message) })
	reader, writer := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		book.follow(reader)
	}()
	got := make(chan error, 1)
	go func() {
		got <- book.wait(t.Context(), func(writes []record) bool { return len(writes) == 2 })
	}()
	for _, line := range []string{writeLine, `{"level":"INFO","msg":"rules changed"}`, writeLine} {
		if _, err := io.WriteString(writer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	<-ended
	if diff := cmp.Diff([]string{"wrote", "rules changed", "wrote"}, heard); diff != "" {
		t.Error(diff)
	}
}

func TestLogbookWaitFails(t *testing.T) {
	never := func([]record) bool { return false }
	t.Run("the log ends", func(t *testing.T) {
		book := newLogbook(nil)
		book.follow(strings.NewReader("panic: oh no\n"))
		if err := book.wait(t.Context(), never); err == nil || !strings.Contains(err.Error(), "panic: oh no") {
			t.Errorf("the error does not tell the end of the log: %v", err)
		}
	})
	t.Run("the time is up", func(t *testing.T) {
		book := newLogbook(nil)
		book.add(parseRecord(`{"level":"WARN","msg":"write failed","err":"forbidden"}`))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := book.wait(ctx, never)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "WARN write failed: forbidden") {
			t.Errorf("the error does not tell why and what was last: %v", err)
		}
	})
	t.Run("a line without end", func(t *testing.T) {
		book := newLogbook(nil)
		reader := io.MultiReader(strings.NewReader(writeLine+"\n"), io.LimitReader(zeros{}, 2<<20))
		book.follow(reader)
		if n := len(book.writes()); n != 1 {
			t.Errorf("%d writes, want the one before", n)
		}
	})
}

// zeros is a reader without lines.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
