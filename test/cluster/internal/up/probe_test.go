package up

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

func TestProbe(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 || r.Header.Get("Authorization") != "Bearer T1" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	client, err := newClient(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	died := make(chan error, 2)
	died <- errors.New("died")
	died <- errors.New("died")
	tests := []struct {
		reason   string
		canceled bool
		failed   <-chan error
		probe    probe
		want     string
	}{
		{"An answer other than 200 is asked again.", false, nil, probe{server.URL, "T1"}, ""},
		{"Nothing to ask is healthy.", false, nil, probe{}, ""},
		{"A URL that nobody can ask never answers.", false, died, probe{url: "://"}, "died"},
		{"A component that died will never be healthy.", false, died, probe{url: "https://127.0.0.1:1"}, "died"},
		{"Nobody waits any more.", true, nil, probe{url: "https://127.0.0.1:1"}, "context canceled"},
	}
	for _, tc := range tests {
		err := tc.probe.wait(contextFor(t, tc.canceled), client, tc.failed)
		if got := errorText(err); got != tc.want {
			t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
		}
	}
	if asked.Load() != 3 {
		t.Errorf("asked %d times, want 3", asked.Load())
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestNewClientRefusesGarbage(t *testing.T) {
	if _, err := newClient([]byte("no certificate")); err == nil {
		t.Error("no error for an authority without a certificate")
	}
}
