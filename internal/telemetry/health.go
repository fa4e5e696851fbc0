package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// State is how something that readiness depends on is doing.
type State uint8

// The states, the worst first. Something degraded is known and waited for, and holds up only
// what needs it.
const (
	NotReady State = iota
	Degraded
	Ready
)

// Check is the state of one thing that readiness depends on.
type Check struct {
	Name   string
	State  State
	Detail string // why, in one line; may be empty
}

// String returns the line that `readyz?verbose` shows.
func (c Check) String() string {
	mark := map[State]string{NotReady: "[-]", Degraded: "[!]", Ready: "[+]"}[c.State]
	if c.Detail == "" {
		return mark + c.Name
	}
	return mark + c.Name + ": " + strings.Join(strings.Fields(c.Detail), " ")
}

// Health serves probes: /healthz and /livez answer as long as the process does,
// /readyz once no check is NotReady. With ?verbose, or when not ready, it lists
// the checks, to whoever asks: on a port that others can reach, see [Loopback], they
// should tell no secrets. They are asked at every probe, by several goroutines.
func Health(checks func() []Check) http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") })
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		current := checks()
		code, verdict := http.StatusOK, "ok\n"
		if slices.ContainsFunc(current, func(c Check) bool { return c.State == NotReady }) {
			code, verdict = http.StatusServiceUnavailable, "not ready\n"
		}
		if r.URL.Query().Has("verbose") || code != http.StatusOK {
			var lines strings.Builder
			for _, check := range current {
				fmt.Fprintln(&lines, check)
			}
			verdict = lines.String() + verdict
		}
		answer(w, code, verdict)
	})
	return mux
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	// Whoever asked may have gone; there is nobody else to tell.
	_, _ = io.WriteString(w, text)
}
