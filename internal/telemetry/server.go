package telemetry

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
	"k8s.io/utils/clock"
)

// Bounds on how long a client may keep a connection busy, and on how long
// stopping waits for the last answers.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	stopTimeout   = 5 * time.Second
)

// Bounds on the memory that strangers may fill: of the headers of a request, in bytes, of
// which a token has 16 KiB at most, and of connections by TLS, which anybody may open.
const (
	longestHeader   = 64 << 10
	mostConnections = 256
)

// Server is an HTTP server that listens already.
type Server struct {
	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// Listen listens on an address, such as [TCP].
type Listen func(ctx context.Context, address string) (net.Listener, error)

// TCP listens on the network.
func TCP(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address) //nolint:wrapcheck // See serve.
}

// Serve listens on the address and answers with the handler until Stop.
func Serve(ctx context.Context, listen Listen, address string, handler http.Handler) (*Server, error) {
	return serve(ctx, listen, address, &http.Server{Handler: handler})
}

// ServeTLS does the same by TLS, with HTTP/1.1 alone: a connection of HTTP/2 lets a stranger
// ask for much at once. What goes wrong with a connection is told to the log.
func ServeTLS(ctx context.Context, listen Listen, address string, handler http.Handler, certificates Certificates, log *slog.Logger) (*Server, error) {
	if _, err := certificates(nil); err != nil {
		return nil, err
	}
	return serve(ctx, listen, address, &http.Server{
		Handler: handler, ErrorLog: connectionLog(log),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: certificates},
	})
}

// serve completes a server, and starts it.
func serve(ctx context.Context, listen Listen, address string, server *http.Server) (*Server, error) {
	listener, err := listen(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("serving on %s: %w", address, err)
	}
	server.ReadHeaderTimeout, server.ReadTimeout = headerTimeout, readTimeout
	server.WriteTimeout, server.IdleTimeout = writeTimeout, idleTimeout
	server.MaxHeaderBytes = longestHeader
	if server.TLSConfig != nil {
		listener = tls.NewListener(netutil.LimitListener(listener, mostConnections), server.TLSConfig)
	}
	s := &Server{listener: listener, http: server, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		// It ends when it is stopped; no other end of an open listener is
		// known.
		_ = s.http.Serve(listener)
	}()
	return s, nil
}

// Address is where the server listens, with the port that the system chose.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Stop answers what has been asked, then closes. That the context is done does
// not cut it short: it has its own, short time.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	if err != nil {
		return fmt.Errorf("stopping the server on %s: %w", s.Address(), err)
	}
	return nil
}

// Loopback reports whether a server on the address, as HOST:PORT, can be reached only from
// the same host, or the same Pod. No host means every interface; of names, only localhost
// is taken for one of the loopback interface.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Certificates gives the certificate for a connection that begins. It is safe for concurrent
// use.
type Certificates func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// CertificatesIn are tls.crt and tls.key of a folder, as a Secret of type kubernetes.io/tls has
// them. They are read for each connection. While they are wrong, as when one of both has been
// replaced, those from before stay in use, which the log tells once.
func CertificatesIn(folder string, log *slog.Logger) Certificates {
	var mu sync.Mutex
	var crt, key []byte      // what now was made of; guarded by mu
	var now *tls.Certificate // nil before there is one; guarded by mu
	said := ""               // guarded by mu
	read := func() error {
		nextCrt, err := os.ReadFile(filepath.Join(folder, "tls.crt")) //nolint:gosec // The user names it.
		if err != nil {
			return fmt.Errorf("reading a certificate: %w", err)
		}
		nextKey, err := os.ReadFile(filepath.Join(folder, "tls.key")) //nolint:gosec // The user names it.
		if err != nil {
			return fmt.Errorf("reading the key of a certificate: %w", err)
		}
		if now != nil && bytes.Equal(crt, nextCrt) && bytes.Equal(key, nextKey) {
			return nil
		}
		next, err := tls.X509KeyPair(nextCrt, nextKey)
		if err != nil {
			return fmt.Errorf("using tls.crt and tls.key in %s: %w", folder, err)
		}
		crt, key, now = nextCrt, nextKey, &next
		return nil
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		switch err := read(); {
		case err == nil:
			said = ""
		case now == nil:
			return nil, err
		case said != err.Error():
			said = err.Error()
			log.Warn("a certificate cannot be used, the one from before stays", "err", err)
		}
		return now, nil
	}
}

// renewBefore is how long before its end a certificate of our own is replaced.
const renewBefore = 30 * 24 * time.Hour

// SelfSigned is a certificate of our own for localhost, another one after some months. Nobody
// can tell it from that of somebody else.
func SelfSigned(clock clock.PassiveClock) Certificates {
	var mu sync.Mutex
	var now *tls.Certificate // guarded by mu
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if now != nil && clock.Now().Before(now.Leaf.NotAfter.Add(-renewBefore)) {
			return now, nil
		}
		made, err := sign(clock.Now())
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		now = made
		return now, nil
	}
}

// sign makes a certificate that is its own authority, for a year. Its key is of the kind that
// costs a server the least, since strangers may have it used.
func sign(now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	said := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "dyncontroller"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), // Clocks differ.
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, said, said, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(signed)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key, Leaf: leaf}, nil
}

// connectionLog has a server log to ours.
func connectionLog(to *slog.Logger) *log.Logger { return log.New(connectionWriter{to}, "", 0) }

type connectionWriter struct{ log *slog.Logger }

// Write implements [io.Writer] for one message.
func (w connectionWriter) Write(message []byte) (int, error) {
	text := string(bytes.TrimSpace(message))
	if strings.HasPrefix(text, "http: TLS handshake error") { // As any scanner of ports causes.
		w.log.Debug("a connection failed", "err", text)
	} else {
		w.log.Warn("a request for metrics failed", "err", text)
	}
	return len(message), nil
}
