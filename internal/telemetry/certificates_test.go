package telemetry

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
	clocktesting "k8s.io/utils/clock/testing"
)

// issue makes a certificate and its key.
func issue(t *testing.T, host string) (crt, key []byte) {
	t.Helper()
	crt, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return crt, key
}

func put(t *testing.T, folder, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// hosts are the names of the certificate that is given now, or the error.
func hosts(certificates Certificates) string {
	given, err := certificates(nil)
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(given.Leaf.DNSNames, ",")
}

// TestCertificatesIn goes through what becomes of a folder, in order.
func TestCertificatesIn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var log bytes.Buffer
	certificates := CertificatesIn(folder, slog.New(slog.NewTextHandler(&log, nil)))
	a, aKey := issue(t, "a")
	b, bKey := issue(t, "b")
	for _, step := range []struct {
		reason, name string
		data         []byte
		want         string
		said         int
	}{
		{"There is no key yet.", "tls.crt", a, "error: reading the key of a certificate", 0},
		{"Both are there.", "tls.key", aKey, "a", 0},
		{"Only one of both is new.", "tls.crt", b, "a", 1},
		{"It is still so.", "tls.crt", b, "a", 1},
		{"Now both are.", "tls.key", bKey, "b", 1},
		{"It is broken again.", "tls.key", []byte("no key"), "b", 2},
		{"In another way.", "tls.crt", nil, "b", 3},
		{"All is well.", "tls.crt", b, "b", 4},
		{"With its key.", "tls.key", bKey, "b", 4},
	} {
		put(t, folder, step.name, step.data)
		for range 2 {
			if got := hosts(certificates); !strings.HasPrefix(got, step.want) {
				t.Errorf("%s want %s, have %s", step.reason, step.want, got)
			}
		}
		if said := strings.Count(log.String(), "the one from before stays"); said != step.said {
			t.Errorf("%s want %d lines, have:\n%s", step.reason, step.said, &log)
		}
	}
	if strings.Contains(log.String(), "no key") {
		t.Errorf("the key is in the log: %s", &log)
	}
}

// TestSelfSigned holds that a certificate of our own is the same until it comes to its end.
func TestSelfSigned(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Now())
	certificates := SelfSigned(clock)
	give := func() *tls.Certificate {
		given, err := certificates(nil)
		if err != nil {
			t.Fatal(err)
		}
		return given
	}
	first := give()
	if got := first.Leaf; got.VerifyHostname("localhost") != nil || got.VerifyHostname("127.0.0.1") != nil || got.VerifyHostname("::1") != nil {
		t.Errorf("it is for %v, %v", got.DNSNames, got.IPAddresses)
	}
	clock.SetTime(first.Leaf.NotAfter.Add(-renewBefore - time.Nanosecond))
	if give() != first {
		t.Error("it is another one")
	}
	clock.Step(time.Nanosecond)
	if give() == first {
		t.Error("it is the same at the end")
	}
}

// TestSelfSignedByAWrongClock holds that a clock which no certificate can tell is an error of the connection, and that it passes with it.
func TestSelfSignedByAWrongClock(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Date(12000, time.January, 1, 0, 0, 0, 0, time.UTC))
	certificates := SelfSigned(clock)
	if _, err := certificates(nil); err == nil || !strings.Contains(err.Error(), "making a certificate") {
		t.Errorf("the error is %v", err)
	}
	clock.SetTime(time.Now())
	if _, err := certificates(nil); err != nil {
		t.Errorf("when the clock is right: %v", err)
	}
}

// secure serves by TLS, and returns a client that verifies the certificate.
func secure(t *testing.T, log *slog.Logger, handler http.Handler) (*Server, *tls.Config) {
	t.Helper()
	certificates := SelfSigned(clocktesting.NewFakeClock(time.Now()))
	server, err := ServeTLS(t.Context(), TCP, "127.0.0.1:0", handler, certificates, log)
	if err != nil {
		t.Fatal(err)
	}
	given, err := certificates(nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(given.Leaf)
	return server, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10} //nolint:gosec // The server is to refuse it.
}

func TestServeTLS(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*tls.Config)
		fails  string
	}{
		"usual":   {"It is how Prometheus asks.", func(*tls.Config) {}, ""},
		"newest":  {"It is what most speak.", func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }, ""},
		"old":     {"TLS 1.1 is broken.", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11 }, "protocol version"},
		"unknown": {"Who does not know the certificate does not take it.", func(c *tls.Config) { c.RootCAs = nil }, "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, config := secure(t, slog.New(slog.DiscardHandler), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Proto)
			}))
			tc.change(config)
			transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: config}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+server.Address(), nil)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			response, err := transport.RoundTrip(request)
			if err == nil {
				body, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				said = string(body)
			}
			if tc.fails == "" && (err != nil || said != "HTTP/1.1") {
				t.Errorf("%s have %q, %v", tc.reason, said, err)
			}
			if tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("%s have %v", tc.reason, err)
			}
			if err := server.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestServeTLSWithout holds that a server does not start without its certificate.
func TestServeTLSWithout(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	_, err := ServeTLS(t.Context(), TCP, "127.0.0.1:0", http.NotFoundHandler(), CertificatesIn(t.TempDir(), log), log)
	if err == nil || !strings.Contains(err.Error(), "tls.crt") {
		t.Errorf("have %v", err)
	}
}

func TestConnectionLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	to := connectionLog(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	to.Print("http: TLS handshake error from 10.0.0.1:1: EOF")
	to.Print("http: panic serving 10.0.0.1:1: nil map\ngoroutine 1\n")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	levels := []string{"level=DEBUG", "level=WARN"}
	if len(lines) != 2 || slices.ContainsFunc([]int{0, 1}, func(i int) bool { return !strings.Contains(lines[i], levels[i]) }) {
		t.Errorf("scanners are no news, a panic is:\n%s", &log)
	}
}
