package up

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"
)

const (
	probeInterval = 50 * time.Millisecond
	probeTimeout  = 2 * time.Second
)

// probe is a URL that answers 200 when a component is ready; the zero probe is satisfied at once. The token is for a
// kube-apiserver that was told to refuse anonymous requests.
type probe struct {
	url, token string
}

func newClient(ca []byte) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("the certificate authority cannot be read")
	}
	return &http.Client{
		Timeout:   probeTimeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}},
	}, nil
}

// wait asks until the answer is 200, or a component has failed.
func (p probe) wait(ctx context.Context, client *http.Client, failed <-chan error) error {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for p.url != "" && !p.ask(ctx, client) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-tick.C:
		}
	}
	return nil
}

func (p probe) ask(ctx context.Context, client *http.Client) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, http.NoBody)
	if err != nil {
		return false
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
