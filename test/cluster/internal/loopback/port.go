// Package loopback reserves TCP ports of 127.0.0.1 for servers that other processes run.
package loopback

import (
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Port is a free port that stays ours until Close: a bound socket keeps other processes away, also while our server
// is down, and as it never listens, a server that sets SO_REUSEPORT can have the port at any time. Picking a port and
// closing it again would leave a gap in which somebody else takes it.
type Port struct {
	socket int
	number int
}

// Reserve picks a free port.
func Reserve() (*Port, error) {
	socket, err := newSocket()
	if err != nil {
		return nil, fmt.Errorf("reserving a port: %w", err)
	}
	number, err := bind(socket)
	if err != nil {
		_ = unix.Close(socket)
		return nil, fmt.Errorf("reserving a port: %w", err)
	}
	return &Port{socket: socket, number: number}, nil
}

// newSocket keeps the socket from children, which would hold the port beyond our end.
func newSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	return socket, err
}

// bind must not set SO_REUSEADDR: most servers do, and two sockets that both do may share a port nobody listens on.
func bind(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	address, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("unexpected address %T", name)
	}
	return address.Port, nil
}

// String is the port's number in decimal, as flags take it.
func (p *Port) String() string { return strconv.Itoa(p.number) }

// URL is the address of the server on this port.
func (p *Port) URL(scheme string) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", p.String())
}

// Close gives the port back.
func (p *Port) Close() error { return unix.Close(p.socket) }
