package virtual

import (
	"context"
	"net"
)

// listener listens in memory. It implements [net.Listener] and [net.Addr].
type listener struct {
	at     string
	made   chan net.Conn
	closed chan struct{}
	close  func() // closes it, once
}

// dial makes a connection.
func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.made <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case out := <-l.made:
		return out, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.close()
	return nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return l }

// Network implements [net.Addr].
func (l *listener) Network() string { return "memory" }

// String implements [net.Addr].
func (l *listener) String() string { return l.at }
