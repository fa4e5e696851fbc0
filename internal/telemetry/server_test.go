package telemetry

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func fetch(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestServerFinishesWhatWasAsked(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	server, err := Serve(t.Context(), TCP, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-goOn
		_, _ = io.WriteString(w, "late")
	}))
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan string)
	go func() {
		body, err := fetch(t.Context(), server.Address())
		if err != nil {
			body = err.Error()
		}
		answer <- body
	}()
	<-asked
	stopped := make(chan error)
	go func() { stopped <- server.Stop(t.Context()) }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped before the answer: %v", err)
	default:
	}
	close(goOn)
	if got := <-answer; got != "late" {
		t.Errorf("the answer was cut off: %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := fetch(t.Context(), server.Address()); err == nil {
		t.Error("a stopped server does not answer")
	}
}

func TestServeTakenAddress(t *testing.T) {
	t.Parallel()
	first, err := Serve(t.Context(), TCP, "127.0.0.1:0", http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := first.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	_, err = Serve(t.Context(), TCP, first.Address(), http.NotFoundHandler())
	if err == nil || !strings.Contains(err.Error(), first.Address()) {
		t.Errorf("the error names the address, got %v", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
