package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var networkRows = []Function{
	{
		Name: "cidrContains", call: cidrContains, Result: value.Bool,
		Params:  []Param{{Name: "cidr", Kinds: aText, parse: readBlock}, {Name: "ip", Kinds: aText, parse: readAddress}},
		Doc:     "Whether the CIDR block, of IPv4 or IPv6, contains an address, or all of another block.",
		Example: Example{`cidrContains("10.0.0.0/8", "10.1.2.3")`, "true"},
	},
	{
		Name: "url", call: parseURL, types: typeURL, Result: value.Map, Params: []Param{takes("text", aText)},
		Doc: "The parts of a URL, which has to be whole: scheme, user (without a password), host, hostname, port (an integer, or nil), " +
			`path, query (a list of strings for each name) and fragment. What is missing is "".`,
		Example: Example{`url("https://example.org:8443/a?b=c&b=d").query.b`, `["c","d"]`},
	},
}
