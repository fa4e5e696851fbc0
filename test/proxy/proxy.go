package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

const loopback = "127.0.0.1"

// Options say how a proxy behaves. The zero value passes everything, over plain HTTP.
type Options struct {
	// Fault is the first fault; nil for none. See [Proxy.SetFault].
	Fault Fault
	// TLS serves HTTPS with a certificate of the proxy's own, and with it HTTP/2, as API servers do. A broken connection
	// is then a stream that is reset.
	TLS bool
	// Host, if it is not empty, is the name of a proxy without a network, for a bubble of testing/synctest. The transport of
	// [Proxy.RESTConfig] reaches it.
	Host string
}

// Proxy is a running proxy. Its methods may be called concurrently.
type Proxy struct {
	config *rest.Config // of its clients
	pass   *httputil.ReverseProxy
	server *http.Server
	cancel context.CancelFunc
	active sync.WaitGroup // the server, and what it has under way

	mu       sync.Mutex
	stopped  bool      // guarded by mu, as are those below
	fault    Fault     // may be nil
	requests []Request // at index number - 1
}

// Start starts a proxy to the API server, which it reaches as upstream says. It works until Stop is called or the context
// ends; Stop must be called in the end.
func Start(ctx context.Context, upstream *rest.Config, o Options) (*Proxy, error) {
	p := &Proxy{fault: o.Fault}
	if err := p.connect(upstream); err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", upstream.Host, err)
	}
	if err := p.listen(ctx, o); err != nil {
		return nil, fmt.Errorf("starting a proxy for %s: %w", upstream.Host, err)
	}
	return p, nil
}

// connect prepares the way to the API server.
func (p *Proxy) connect(upstream *rest.Config) error {
	to, _, err := rest.DefaultServerUrlFor(upstream)
	if err != nil {
		return err
	}
	transport, err := rest.TransportFor(upstream)
	if err != nil {
		return err
	}
	p.pass = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:      transport,
		FlushInterval:  -1, // Each part at once, or a watch would wait for the next event.
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: p.answered,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) },
	}
	return nil
}

func (p *Proxy) listen(ctx context.Context, o Options) (err error) {
	var listener net.Listener
	if o.Host != "" {
		inMemory := NewListener(o.Host)
		listener = inMemory
		p.config = &rest.Config{Host: "http://" + o.Host, Transport: &http.Transport{DialContext: inMemory.Dial}, QPS: -1}
	} else {
		var config net.ListenConfig
		if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0")); err != nil {
			return err
		}
		p.config = &rest.Config{Host: "http://" + listener.Addr().String(), QPS: -1}
	}
	ctx, p.cancel = context.WithCancel(ctx)
	p.server = &http.Server{
		Handler:     p,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	serve := func() { _ = p.server.Serve(listener) }
	if o.TLS {
		if serve, err = p.secure(listener); err != nil {
			p.cancel()
			_ = listener.Close()
			return err
		}
	}
	p.active.Go(serve)
	context.AfterFunc(ctx, func() { _ = p.server.Close() })
	return nil
}

// secure makes a certificate that clients are told to trust.
func (p *Proxy) secure(listener net.Listener) (serve func(), err error) {
	public, private, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	p.config.Host, p.config.CAData = "https://"+listener.Addr().String(), public
	p.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return func() { _ = p.server.ServeTLS(listener, "", "") }, nil
}

// Stop breaks all connections and waits until nothing is under way any more. It may be called again.
func (p *Proxy) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.cancel()
	_ = p.server.Close()
	p.active.Wait()
}

// RESTConfig reaches the API server through the proxy, without a limit on the rate of requests. The caller may change
// it, such as to act as somebody else.
func (p *Proxy) RESTConfig() *rest.Config { return rest.CopyConfig(p.config) }

// WriteKubeconfig writes a file that says the same as RESTConfig, for command lines.
func (p *Proxy) WriteKubeconfig(path string) error {
	const name = "proxy"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: p.config.Host, CertificateAuthorityData: p.config.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing a kubeconfig for the proxy: %w", err)
	}
	return nil
}

// SetFault says what is to be done with the requests to come; nil lets them pass. What is under way is not changed.
func (p *Proxy) SetFault(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Requests is the log, in the order of the numbers.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Since are the requests with a higher number that match.
func (p *Proxy) Since(number int, matches func(Request) bool) []Request {
	return slices.DeleteFunc(p.Requests(), func(r Request) bool { return r.Number <= number || !matches(r) })
}

// Count is how many requests match so far.
func (p *Proxy) Count(matches func(Request) bool) int { return len(p.Since(0, matches)) }

// Last is the highest number so far.
func (p *Proxy) Last() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}
