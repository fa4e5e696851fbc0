package telemetry

import (
	"net"
	"net/netip"
)

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
