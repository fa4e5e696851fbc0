package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// memory is a listener whose connections are in memory, so that a bubble of testing/synctest knows what waits for them. It implements
// [net.Listener].
type memory struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{dialed: make(chan net.Conn), closed: make(chan struct{})} }

// dial connects to the listener, whatever the address.
func (m *memory) dial(ctx context.Context, _, address string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.dialed <- server:
		return client, nil
	case <-m.closed:
		return nil, fmt.Errorf("connecting to %s: %w", address, net.ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("connecting to %s: %w", address, context.Cause(ctx))
	}
}

// Accept implements [net.Listener].
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.dialed:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements [net.Listener].
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
