package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
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

// Serve listens on the address and answers with the handler until Stop.
func Serve(ctx context.Context, address string, handler http.Handler) (*Server, error) {
	return serve(ctx, address, &http.Server{Handler: handler})
}

// ServeTLS does the same by TLS, with HTTP/1.1 alone: a connection of HTTP/2 lets a stranger
// ask for much at once. What goes wrong with a connection is told to the log.
func ServeTLS(ctx context.Context, address string, handler http.Handler, certificates Certificates, log *slog.Logger) (*Server, error) {
	if _, err := certificates(nil); err != nil {
		return nil, err
	}
	return serve(ctx, address, &http.Server{
		Handler: handler, ErrorLog: connectionLog(log),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: certificates},
	})
}

// serve completes a server, and starts it.
func serve(ctx context.Context, address string, server *http.Server) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
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
