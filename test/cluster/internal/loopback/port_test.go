package loopback

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func reserve(t *testing.T) *Port {
	t.Helper()
	p, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func address(p *Port) string { return net.JoinHostPort("127.0.0.1", p.String()) }

func listen(t *testing.T, address string) (net.Listener, error) {
	t.Helper()
	var config net.ListenConfig
	return config.Listen(t.Context(), "tcp", address)
}

func dial(t *testing.T, address string) (net.Conn, error) {
	t.Helper()
	var dialer net.Dialer
	return dialer.DialContext(t.Context(), "tcp", address)
}

// listenShared listens as the components do.
func listenShared(ctx context.Context, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		if err := c.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}); err != nil {
			return err
		}
		return set
	}}
	return config.Listen(ctx, "tcp", address)
}

func TestReservedPortIsClosedToOthers(t *testing.T) {
	p := reserve(t)
	if l, err := listen(t, address(p)); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("another process can have the port: %v, %v", l, err)
	}
	if c, err := dial(t, address(p)); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("a reserved port without a server must refuse, as after the server's end: %v, %v", c, err)
	}
}

func TestReservedPortIsOpenToItsServerAgainAndAgain(t *testing.T) {
	p := reserve(t)
	for range 3 {
		l, err := listenShared(t.Context(), address(p))
		if err != nil {
			t.Fatal(err)
		}
		// Were the reservation listening too, the kernel would hand it half of these.
		for range 20 {
			accepted := make(chan error, 1)
			go func() {
				c, err := l.Accept()
				if err == nil {
					err = c.Close()
				}
				accepted <- err
			}()
			c, err := dial(t, address(p))
			if err != nil {
				t.Fatal(err)
			}
			if err := <-accepted; err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		}
		_ = l.Close()
	}
}

func TestClosedPortIsFree(t *testing.T) {
	p, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := listen(t, address(p))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestReservedPortsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		p := reserve(t)
		if seen[p.String()] {
			t.Fatalf("port %s was handed out twice", p)
		}
		seen[p.String()] = true
	}
}

func TestURL(t *testing.T) {
	p := reserve(t)
	if got := p.URL("https"); !strings.HasPrefix(got, "https://127.0.0.1:") || !strings.HasSuffix(got, p.String()) {
		t.Errorf("URL = %q for port %s", got, p)
	}
}
