package function

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// readBlock and readAddress read arguments once; see [Param.Parse]. An address is
// the block with all its bits.
func readBlock(b *value.Budget, v any) (any, error) { return readPrefix(b, v, false) }

func readAddress(b *value.Budget, v any) (any, error) { return readPrefix(b, v, true) }

func readPrefix(b *value.Budget, v any, orAddress bool) (any, error) {
	if err := b.Conversion(); err != nil {
		return nil, err
	}
	text, _ := v.(string)
	return boxed(parsePrefix(text, orAddress))
}

func cidrContains(_ *value.Budget, args []any) (any, error) {
	block, _ := args[0].(netip.Prefix)
	inner, _ := args[1].(netip.Prefix)
	return inner.Bits() >= block.Bits() && block.Contains(inner.Addr()), nil
}

// parsePrefix reads an IPv4 address that is written as IPv6 as what it is.
func parsePrefix(text string, orAddress bool) (netip.Prefix, error) {
	const longest = 64
	wanted, hint := "a CIDR block", `write it as in "10.0.0.0/8" or "fd00::/8"`
	if orAddress {
		wanted, hint = "an IP address or CIDR block", `write it as in "10.1.2.3", "fd00::1" or "10.1.0.0/16"`
	}
	wrong := value.Faultf("%q is not %s", value.Excerpt(text), wanted).WithHint("%s", hint)
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

func parseURL(b *value.Budget, args []any) (any, error) {
	text := textArg(args, 0)
	if err := chargeURL(b, text); err != nil {
		return nil, err
	}
	wrong := value.Faultf("%q is not a URL", value.Excerpt(text)).WithHint(`write it whole, as in "https://example.org/path"`)
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(text[len(u.Scheme):], "://") || u.Scheme == "" {
		return nil, wrong
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, value.Faultf("the query of the URL %q is malformed", value.Excerpt(text))
	}
	var port any
	if u.Port() != "" {
		if port, err = strconv.ParseInt(u.Port(), 10, 32); err != nil {
			return nil, wrong
		}
	}
	return map[string]any{
		"scheme": u.Scheme, "user": u.User.Username(), "host": u.Host, "hostname": u.Hostname(), "port": port,
		"path": u.Path, "query": lists(query), "fragment": u.Fragment,
	}, nil
}

// chargeURL pays for the decoded parts and for each field of the query twice, as
// it is parsed and as it is returned.
func chargeURL(b *value.Budget, text string) error {
	const bytesPerField, stepsPerField, stepsPerURL = 400, 30, 50
	fields := strings.Count(text, "&") + 1
	if err := b.Steps(stepsPerURL + len(text) + fields*stepsPerField); err != nil {
		return err
	}
	if err := b.Map(8); err != nil {
		return err
	}
	return b.Bytes(4*len(text) + fields*bytesPerField)
}

func lists(query url.Values) map[string]any {
	m := make(map[string]any, len(query))
	for name, values := range query {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		m[name] = list
	}
	return m
}
