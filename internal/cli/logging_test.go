package cli

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestLoggers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		verbosity int
		want      string // the messages that are logged
	}{
		"-v 0":  {reason: "What an operator wants.", verbosity: 0, want: "info k0"},
		"-v 1":  {reason: "Our debugging, but not that of the Kubernetes client.", verbosity: 1, want: "info debug k0"},
		"-v 3":  {reason: "Still not.", verbosity: 3, want: "info debug k0"},
		"-v 4":  {reason: "From here on, the client's too.", verbosity: 4, want: "info debug k0 k4"},
		"-v 6":  {reason: "As far as was asked for.", verbosity: 6, want: "info debug k0 k4 k6"},
		"-v 7":  {reason: "Headers.", verbosity: 7, want: "info debug k0 k4 k6 k7"},
		"-v 8":  {reason: "The client would log the bodies of Secrets.", verbosity: 8, want: "info debug k0 k4 k6 k7"},
		"-v 99": {reason: "However much is asked for.", verbosity: 99, want: "info debug k0 k4 k6 k7"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, inJSON := range []bool{false, true} {
				var out output
				ours, kubernetes := newLoggers(&out, config.Log{Verbosity: tc.verbosity, JSON: inJSON})
				ours.Info("info")
				ours.With("a", "b").WithGroup("g").Debug("debug")
				client := logr.FromSlogHandler(kubernetes.Handler())
				client.Info("k0")
				client.V(4).Info("k4")
				client.V(6).Info("k6")
				client.V(7).Info("k7")
				client.V(8).Info("k8")
				client.V(10).Info("k10")
				if got := strings.Join(messages(t, out.String(), inJSON), " "); got != tc.want {
					t.Errorf("%s\nJSON %v: want %q, got %q", tc.reason, inJSON, tc.want, got)
				}
			}
		})
	}
}

// TestErrorsInLogs holds that an error is a text in a log, whatever else it can be.
func TestErrorsInLogs(t *testing.T) {
	t.Parallel()
	var out output
	log, _ := newLoggers(&out, config.Log{JSON: true})
	log.Error("x", "err", &document.Error{File: "a.yaml", Line: 1, Column: 2, Message: "wrong"})
	log.Error("x", "err", document.Errors{{File: "a.yaml", Line: 1, Column: 2, Message: "wrong"}})
	if got := strings.Count(out.String(), `"err":"a.yaml:1:2: wrong"`); got != 2 {
		t.Errorf("they are not texts:\n%s", out.String())
	}
}

// messages returns the message of each line.
func messages(t *testing.T, text string, inJSON bool) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(text) {
		if !inJSON {
			_, message, _ := strings.Cut(line, slog.MessageKey+"=")
			message, _, _ = strings.Cut(strings.TrimSpace(message), " ")
			out = append(out, message)
			continue
		}
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, record[slog.MessageKey].(string))
	}
	return out
}

// TestKubernetesLogs holds that what the Kubernetes client logs, such as a warning of an API server, is printable with commands that have no log, too.
func TestKubernetesLogs(t *testing.T) {
	t.Parallel()
	var stdout, stderr output
	Run(t.Context(), Process{
		Name: "dyncontroller", Args: []string{"cleanup", "--help"}, Stdout: &stdout, Stderr: &stderr,
		KubernetesLog: func(log *slog.Logger, _ int) { log.Warn("warning: ##[error]forged \u202e") },
	})
	if got := stderr.String(); !strings.Contains(got, `##\u005berror]forged`) || strings.Contains(got, "\u202e") {
		t.Errorf("have %q", got)
	}
}
