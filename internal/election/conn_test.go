package election

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// guarded is a client through a fence, of a server that counts what arrives.
func guarded(t *testing.T, f *Fence, secure bool) (client *http.Client, url string, arrived *atomic.Int64) {
	t.Helper()
	arrived = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	config := &rest.Config{}
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
		config.Insecure = true
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	client, err := rest.HTTPClientFor(f.Guard(config))
	if err != nil {
		t.Fatal(err)
	}
	return client, server.URL, arrived
}

// TestGuard holds, over HTTP/1.1 and over HTTP/2 with TLS, that writes and then connections are refused once the fence is
// closed, and pass again when it is open.
func TestGuard(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := NewFence(time.Hour)
			client, url, arrived := guarded(t, f, secure)
			send := func(method string) error {
				r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				response, err := client.Do(r)
				if err != nil {
					return err
				}
				defer response.Body.Close()
				if secure && response.ProtoMajor != 2 {
					t.Errorf("it is %s, which proves little", response.Proto)
				}
				_, err = io.ReadAll(response.Body)
				return err
			}
			if err := send(http.MethodPatch); !errors.Is(err, ErrFenced) {
				t.Errorf("before the lease is ours, a write ended with %v", err)
			}
			if err := send(http.MethodGet); !errors.Is(err, ErrCutOff) {
				t.Errorf("a connection was made while the fence was closed: %v", err)
			}
			f.renewed(time.Now())
			for range 2 {
				if err := send(http.MethodPatch); err != nil {
					t.Errorf("a write failed while the fence was open: %v", err)
				}
			}
			f.close()
			// GET stands for a request that has passed the first check.
			if err := send(http.MethodGet); err == nil || errors.Is(err, ErrFenced) {
				t.Errorf("what had passed the first check ended with %v", err)
			}
			if got := arrived.Load(); got != 2 {
				t.Errorf("%d requests arrived, want 2", got)
			}
			f.renewed(time.Now())
			if err := send(http.MethodPatch); err != nil {
				t.Errorf("a write failed after the fence was opened again: %v", err)
			}
		})
	}
}

// TestGuardLeavesTheRestAlone holds that config is not changed, has other connections, and its own dialer is used.
func TestGuardLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	own := errors.New("the dialer of the config")
	config := &rest.Config{Host: "http://api", Dial: func(context.Context, string, string) (net.Conn, error) { return nil, own }}
	f := NewFence(time.Hour)
	f.renewed(time.Now())
	guarded := f.Guard(config)
	if config.WrapTransport != nil {
		t.Error("config was changed")
	}
	if _, err := guarded.Dial(t.Context(), "tcp", "api:80"); !errors.Is(err, own) {
		t.Errorf("dialing ended with %v", err)
	}
	var none *Fence
	if copied := none.Guard(config); copied == config || copied.WrapTransport != nil || copied.Host != config.Host {
		t.Error("without a fence, config is copied as it is")
	}
}

// TestWrite holds that a write which does not fit into the buffers of the system waits until the fence closes, no longer.
func TestWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFence(deadline)
		f.renewed(time.Now())
		ours, theirs := net.Pipe() // Without any buffer.
		c := &conn{Conn: ours, fence: f}
		defer theirs.Close()
		go func() { _, _ = io.ReadFull(theirs, make([]byte, 5)) }()
		if n, err := c.Write([]byte("hello")); n != 5 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		began := time.Now()
		if _, err := c.Write([]byte("nobody reads this")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("writing ended with %v", err)
		}
		if took := time.Since(began); took != deadline {
			t.Errorf("writing ended after %s, want %s", took, deadline)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, ErrCutOff) {
			t.Errorf("writing ended with %v", err)
		}
		f.renewed(time.Now())
		if _, err := c.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a connection that was cut off is of use again: %v", err)
		}
	})
}

// TestHandshake holds that the fence lies below TLS: no byte of a handshake leaves, either.
func TestHandshake(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	secure := tls.Client(&conn{Conn: ours, fence: NewFence(deadline)}, &tls.Config{ServerName: "api", MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(t.Context()); !errors.Is(err, ErrCutOff) {
		t.Errorf("the handshake ended with %v", err)
	}
}
