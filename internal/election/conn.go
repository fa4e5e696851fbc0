package election

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// Guard returns a copy of config for a client that writes. Its requests pass
// [Fence.Wrap], and its connections, which it shares with no other config, check
// the fence again right before each system call that sends something. TLS and
// HTTP/2 lie above that, so a refusal there breaks the connection with all that is
// under way on it, reads and pings included. Reads that must go on after the lease
// is lost, such as watches, need a config of their own; nor can a guarded client
// connect while the fence is closed.
//
// A Transport in config has its own connections, which are not checked. For a
// nil Fence the copy is as config is.
func (f *Fence) Guard(config *rest.Config) *rest.Config {
	out := rest.CopyConfig(config)
	if f == nil {
		return out
	}
	out.Wrap(f.Wrap)
	dial := dialerOf(config)
	out.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if f.Left() <= 0 {
			return nil, ErrCutOff
		}
		connection, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: connection, fence: f}, nil
	}
	return out
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dialerOf is a function of its own for each config, by which client-go tells
// transports apart that could share connections.
func dialerOf(config *rest.Config) dialer {
	if config.Dial != nil {
		return config.Dial
	}
	// As client-go has it.
	return (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
}

// conn sends only while the fence is open.
type conn struct {
	net.Conn
	fence *Fence
}

// Write implements [net.Conn]. What does not fit into the buffers of the system
// does not wait for longer than the fence is open.
func (c *conn) Write(data []byte) (int, error) {
	left := c.fence.Left()
	if left <= 0 {
		_ = c.Close() // It is of no use any more, and why is said already.
		return 0, ErrCutOff
	}
	if err := c.SetWriteDeadline(c.fence.clock.Now().Add(left)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}
