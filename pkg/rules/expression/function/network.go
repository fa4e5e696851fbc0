package function

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// cidrContains has both arguments as blocks: an address is the block with all its bits.
func cidrContains(c Call) any {
	block, inner := arg[netip.Prefix](c, 0), arg[netip.Prefix](c, 1)
	return inner.Bits() >= block.Bits() && block.Contains(inner.Addr())
}

func parseBlock(v any) (netip.Prefix, error)   { return parsePrefix(v, false) }
func parseAddress(v any) (netip.Prefix, error) { return parsePrefix(v, true) }

// parsePrefix reads an IPv4 address that is written as IPv6 as what it is.
func parsePrefix(v any, orAddress bool) (netip.Prefix, error) {
	const longest = 64
	text, _ := v.(string)
	wrong := value.Faultf("%q is not a CIDR block", value.Excerpt(text)).WithHint(`write it as in "10.0.0.0/8" or "fd00::/8"`)
	if orAddress {
		wrong = value.Faultf("%q is not an IP address or CIDR block", value.Excerpt(text)).
			WithHint(`write it as in "10.1.2.3", "fd00::1" or "10.1.0.0/16"`)
	}
	if len(text) > longest {
		return netip.Prefix{}, wrong
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil && orAddress {
		var address netip.Addr
		address, err = netip.ParseAddr(text)
		if address.Zone() != "" {
			return netip.Prefix{}, wrong // An address of one machine is in no block.
		}
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	if err != nil {
		return netip.Prefix{}, wrong
	}
	const mapped = 96 // The bits that say that IPv4 follows.
	if prefix.Addr().Is4In6() && prefix.Bits() >= mapped {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mapped)
	}
	return prefix, nil
}

func parseURL(c Call) any {
	text := arg[string](c, 0)
	// The decoded parts, and each field of the query twice, as it is parsed and as it is returned.
	const bytesPerField, stepsPerField, stepsPerURL = 400, 30, 50
	fields := strings.Count(text, "&") + 1
	value.Must(c.Budget.Map(8))
	value.Must(c.Budget.Spend(stepsPerURL+len(text)+fields*stepsPerField, 4*len(text)+fields*bytesPerField))
	wrong := value.Faultf("%q is not a URL", value.Excerpt(text)).WithHint(`write it whole, as in "https://example.org/path"`)
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(text[len(u.Scheme):], "://") || u.Scheme == "" {
		value.Must(wrong)
	}
	parsed, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		fail("the query of the URL %q is malformed", value.Excerpt(text))
	}
	query := make(map[string]any, len(parsed))
	for name, values := range parsed {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		query[name] = list
	}
	var port any
	if u.Port() != "" {
		if port, err = strconv.ParseInt(u.Port(), 10, 32); err != nil {
			value.Must(wrong)
		}
	}
	return map[string]any{
		"scheme": u.Scheme, "user": u.User.Username(), "host": u.Host, "hostname": u.Hostname(), "port": port,
		"path": u.Path, "query": query, "fragment": u.Fragment,
	}
}
