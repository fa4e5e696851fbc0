package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Listener is a listener whose connections are in memory, so that a bubble of testing/synctest knows what waits for them. It implements
// [net.Listener] and [net.Addr].
type Listener struct {
	address string
	dialed  chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// NewListener returns a listener that says that it listens on the address.
func NewListener(address string) *Listener {
	return &Listener{address: address, dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address.
func (l *Listener) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.dialed <- server:
		return client, nil
	case <-l.closed:
		return nil, fmt.Errorf("connecting to %s: %w", address, net.ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("connecting to %s: %w", address, context.Cause(ctx))
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return l }

// Network implements [net.Addr].
func (l *Listener) Network() string { return "memory" }

// String implements [net.Addr].
func (l *Listener) String() string { return l.address }
