//go:build !operator

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/cert"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

const (
	controllerTimeout = 10 * time.Second
	// longestMemory is far above what a controller says of one object or set, in bytes.
	longestMemory = 4 << 20
)

// controller is a running controller that is asked what it remembers.
type controller struct {
	address   string // empty for none
	tokenFile string
	caFile    string
	insecure  bool // its certificate is not verified

	base      *url.URL          // of the address, once that is checked; nil for none
	transport http.RoundTripper // nil for the network
}

func (c *controller) addFlags(p Process, flags *pflag.FlagSet) {
	c.transport = p.Transport
	flags.StringVar(&c.address, "controller", "", "`ADDRESS` of the metrics of a running controller, to be asked what it remembers; https://ADDRESS with --metrics-secure")
	flags.StringVar(&c.tokenFile, "controller-token-file", "", "`FILE` with a bearer token that gives the right to get /explain of the controller")
	flags.StringVar(&c.caFile, "controller-ca-file", "", "`FILE` with the authority of the certificate of the controller")
	flags.BoolVar(&c.insecure, "controller-insecure", false, "take any certificate: whoever answers at the address gets the token")
}

// check finds out where the controller is, and what of the flags cannot be.
func (c *controller) check() (err error) {
	guarded := c.tokenFile != "" || c.caFile != "" || c.insecure
	if c.address == "" {
		if guarded {
			return errors.New("--controller-token-file, --controller-ca-file and --controller-insecure go with --controller")
		}
		return nil
	}
	full := c.address
	if !strings.Contains(full, "://") {
		full = "http://" + full
	}
	c.base, err = url.Parse(full)
	switch {
	case err != nil || c.base.Host == "" || c.base.User != nil || c.base.Scheme != "http" && c.base.Scheme != "https":
		shown := c.address
		if at := strings.LastIndex(shown, "@"); at >= 0 {
			shown = "..." + shown[at:] // Without the password that somebody may have put there.
		}
		return fmt.Errorf("--controller: want an address such as 127.0.0.1:8080 or https://127.0.0.1:8443, have %q", shown)
	case c.base.Scheme == "http" && guarded:
		return fmt.Errorf("--controller: a token and a certificate are for TLS; want https://%s, have %q", c.base.Host, c.address)
	case c.caFile != "" && c.insecure:
		return errors.New("--controller-insecure takes any certificate, so leave out --controller-ca-file")
	default:
		return nil
	}
}

// remembered asks the controller, if there is one to ask, what it remembers of an object.
func (c *controller) remembered(ctx context.Context, object plan.Object) (*trace.Memory, error) {
	if c.base == nil {
		return nil, nil
	}
	var out trace.Memory
	err := c.ask(ctx, url.Values{
		"group": {object.GVR.Group}, "version": {object.GVR.Version}, "resource": {object.GVR.Resource},
		"namespace": {object.Namespace}, "name": {object.Name},
	}, &out)
	return &out, err
}

// version asks the controller which version of a set object is in effect.
func (c *controller) version(ctx context.Context, set source.Key) (out trace.Set, err error) {
	err = c.ask(ctx, url.Values{"kind": {set.Kind}, "namespace": {set.Namespace}, "set": {set.Name}}, &out)
	return out, err
}

// ask reads what /explain of the controller answers.
func (c *controller) ask(ctx context.Context, query url.Values, answer any) error {
	at := c.base.JoinPath("explain")
	at.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, controllerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return internal(fmt.Errorf("asking the controller at %s: %w", c.address, err))
	}
	verify := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.insecure} //nolint:gosec // The user says so.
	if c.caFile != "" {
		if verify.RootCAs, err = cert.NewPool(c.caFile); err != nil {
			return failure{exitUsage, fmt.Errorf("--controller-ca-file: %w", err)}
		}
	}
	if c.tokenFile != "" {
		text, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return failure{exitUsage, fmt.Errorf("--controller-token-file: %w", err)}
		}
		token := strings.TrimSpace(string(text))
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return failure{exitUsage, errors.New("--controller-token-file: want one token, which is one word, and nothing else")}
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := c.transport
	if transport == nil {
		transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: verify}
	}
	client := &http.Client{
		Transport: transport,
		// It never does that, so it is not the controller, and gets no token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return internal(fmt.Errorf("asking the controller at %s: %w", c.address, unreachable(err)))
	}
	defer response.Body.Close()
	if err := refusal(response); err != nil {
		return internal(fmt.Errorf("asking the controller at %s: %w", c.address, err))
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, longestMemory)).Decode(answer); err != nil {
		return internal(fmt.Errorf("asking the controller at %s: reading its answer: %w", c.address, err))
	}
	return nil
}

// unreachable says why a request was not answered.
func unreachable(err error) error {
	if failed, is := errors.AsType[*url.Error](err); is {
		err = failed.Err // The address has been said.
	}
	if _, is := errors.AsType[x509.HostnameError](err); is {
		return fmt.Errorf("%w; give it a certificate for that name too", err)
	}
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return fmt.Errorf("%w; name its authority with --controller-ca-file, or where nobody else can answer, as by kubectl port-forward, take any certificate with --controller-insecure", err)
	}
	return err
}

// refusal says why an answer is not what was asked for, nil where it is.
func refusal(response *http.Response) error {
	plain := response.Request.URL.Scheme == "http"
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound:
		return errors.New("it does not answer /explain: is this the address of its metrics?")
	case plain && code == http.StatusBadRequest:
		return errors.New("it does not understand: with --metrics-secure it is to be named by https://")
	case plain && code == http.StatusForbidden:
		return errors.New("it is to be named localhost, or by a loopback address, and with the port")
	case code == http.StatusServiceUnavailable:
		return errors.New("it cannot ask the API server who asks it; its log says why")
	case code == http.StatusUnauthorized:
		return errors.New("it wants to know who asks; give it a token that the API server accepts with --controller-token-file")
	case code == http.StatusForbidden:
		return errors.New("it refuses to answer; whose token it is needs the right to get /explain, which the ClusterRole dyncontroller-explain-reader gives")
	default:
		return fmt.Errorf("it answers %s", response.Status)
	}
}
