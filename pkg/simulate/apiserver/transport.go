package apiserver

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"

	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// Transport returns a transport to the server, for requests about a world. It needs no network
// and is safe for concurrent use. A world that remembers its changes can be watched.
func (s *Server) Transport(world *storage.World) http.RoundTripper { return transport{s, world} }

type transport struct {
	server *Server
	world  *storage.World
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.Clone(audit.WithAuditContext(storage.With(r.Context(), t.world)))
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	asked.RequestURI = r.URL.RequestURI()
	path, err := t.server.paths.NewRequestInfo(asked)
	if err != nil {
		return nil, fmt.Errorf("reading the path of a request: %w", err)
	}
	handler := t.server.custom
	if !path.IsResourceRequest {
		handler = http.HandlerFunc(t.server.serveDiscovery) // The one of custom resources is nil.
	}
	asked = asked.WithContext(request.WithReceivedTimestamp(request.WithRequestInfo(asked.Context(), path), t.world.Now().Time))
	var out *http.Response
	if path.Verb == "watch" {
		out, err = watched(handler, asked)
	} else {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, asked)
		out = answer.Result()
	}
	if err != nil {
		return nil, err
	}
	out.Request = r
	return out, nil
}

// watched answers a watch with a body that is written while the client reads it. It ends when the client closes it.
func watched(handler http.Handler, r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	body, writer := io.Pipe()
	s := &stream{ctx: ctx, body: writer, header: http.Header{}, begun: make(chan struct{})}
	go func() {
		handler.ServeHTTP(s, r.WithContext(ctx))
		s.WriteHeader(http.StatusOK)
		_ = writer.Close() // It has no error.
	}()
	select {
	case <-s.begun:
		return &http.Response{
			StatusCode: s.code, Status: http.StatusText(s.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: s.sent, Body: watchBody{body, cancel}, ContentLength: -1,
		}, nil
	case <-r.Context().Done():
		cancel()
		_ = body.Close() // It has no error.
		return nil, context.Cause(r.Context())
	}
}

// stream is a response whose body is read while it is written. It implements [http.ResponseWriter] and [http.Flusher].
type stream struct {
	ctx    context.Context //nolint:containedctx // It is that of the request.
	body   *io.PipeWriter
	header http.Header
	once   sync.Once
	begun  chan struct{} // closed once code and sent are set
	code   int
	sent   http.Header
}

// Header implements [http.ResponseWriter].
func (s *stream) Header() http.Header { return s.header }

// WriteHeader implements [http.ResponseWriter].
func (s *stream) WriteHeader(code int) {
	s.once.Do(func() {
		s.code, s.sent = code, maps.Clone(s.header)
		close(s.begun)
	})
}

// Write implements [http.ResponseWriter]. That the client has gone, the handler learns from the context: an error would be handled by waiting.
func (s *stream) Write(data []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	n, err := s.body.Write(data)
	if s.ctx.Err() != nil {
		n, err = len(data), nil
	}
	return n, err //nolint:wrapcheck // It is the client's.
}

// CloseNotify implements [http.CloseNotifier], without which the handlers of custom resources take it for no flusher. They look at the context.
func (s *stream) CloseNotify() <-chan bool { return nil }

// Flush implements [http.Flusher]: what is written is read already.
func (s *stream) Flush() { s.WriteHeader(http.StatusOK) }

// watchBody is the body of a watch, which ends with it.
type watchBody struct {
	*io.PipeReader
	end context.CancelFunc
}

// Close implements [io.Closer].
func (b watchBody) Close() error {
	b.end()
	return b.PipeReader.Close() //nolint:wrapcheck // It has none.
}
