package function_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestComputedFunctions(t *testing.T) {
	i := func(n int64) any { return n }
	type m = map[string]any
	const at = `timestamp("2026-01-01T00:00:01.5Z")`
	tests := map[string]struct {
		source string
		want   any
	}{
		"quantity of a text":           {`string(quantity("1024Mi"))`, "1Gi"},
		"quantity of an integer":       {`string(quantity(2000))`, "2k"},
		"quantity of a float":          {`string(quantity(0.5))`, "500m"},
		"quantity of a quantity":       {`string(quantity(quantity("1Gi")))`, "1Gi"},
		"semver of a text":             {`string(semver("v1.31"))`, "1.31.0"},
		"semver of a version":          {`string(semver(semver("1.31.0-rc.1")))`, "1.31.0-rc.1"},
		"duration of a text":           {`duration("1d")`, 24 * time.Hour},
		"duration of seconds":          {"duration(90)", 90 * time.Second},
		"duration of a duration":       {"duration(duration(90))", 90 * time.Second},
		"timestamp of a timestamp":     {`timestamp(timestamp("2026-01-01T00:00:00Z")) == "2026-01-01T00:00:00Z"`, true},
		"int of a quantity":            {`int(quantity("1500m"))`, i(1)},
		"int of a duration":            {`int(duration("-1500ms"))`, i(-1)},
		"int of a time":                {"int(" + at + ")", i(1767225601)},
		"float of a quantity":          {`float(quantity("1500m"))`, 1.5},
		"float of a duration":          {`float(duration("-1500ms"))`, -1.5},
		"float of a time":              {"float(" + at + ")", 1767225601.5},
		"string of a time":             {"string(" + at + ")", "2026-01-01T00:00:01.5Z"},
		"type":                         {`map([quantity(1), semver("1"), duration(1), ` + at + `], type(#))`, list("quantity", "semver", "duration", "time")},
		"toJSON":                       {`toJSON({a: quantity("1.5"), b: [duration(60)]})`, `{"a":"1500m","b":["1m0s"]}`},
		"toYAML":                       {`toYAML({a: quantity("1.5"), b: [duration(60)], c: nil})`, "a: \"1500m\"\nb:\n- \"1m0s\"\nc: null\n"},
		"fromYAML":                     {`fromYAML("a: 1\nb: [x, 0.5, ~]").b`, list("x", 0.5, nil)},
		"there and back":               {`fromYAML(toYAML({a: [1, "yes", "x\ny\n", {}], b: nil})) == {a: [1, "yes", "x\ny\n", {}], b: nil}`, true},
		"sum of quantities":            {`string(sum(["1Gi", "512Mi"], quantity(#)))`, "1536Mi"},
		"sum of nothing":               {`string(quantity(sum([], quantity(#))))`, "0"},
		"sum of durations":             {`sum([duration("1m"), duration("1h")])`, 61 * time.Minute},
		"min of quantities":            {`string(min(quantity("1Gi"), [quantity("1M"), quantity("1Mi")]))`, "1M"},
		"max of times":                 {`max([timestamp("2026-01-01T00:00:00Z"), timestamp("2026-01-01T00:00:00-01:00")]) == "2026-01-01T01:00:00Z"`, true},
		"max of versions":              {`string(max(map(["1.9.0", "v1.10.0", "1.2.3"], semver(#))))`, "1.10.0"},
		"min of durations":             {`min(duration("1h"), duration("1m"))`, time.Minute},
		"sort of versions":             {`map(sort(map(["1.10", "1.9", "1.10-rc.1+x"] | filter(# != "1.10-rc.1+x"), semver(#))), string(#))`, list("1.9.0", "1.10.0")},
		"sort of quantities":           {`map(sort([quantity("1Gi"), nil, quantity("1k"), quantity("1Mi")], "desc"), # == nil ? "" : string(#))`, list("1Gi", "1Mi", "1k", "")},
		"sortBy times":                 {`map(sortBy([{t: "2026-01-01T00:00:00Z"}, {t: "2026-01-01T00:00:00+01:00"}], timestamp(.t)), .t)`, list("2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00Z")},
		"sortBy several":               {`map(sortBy([{d: "1h", n: 1}, {d: "60m", n: 2}, {d: "1m", n: 3}], [desc(duration(.d)), desc(.n)]), .n)`, list(i(2), i(1), i(3))},
		"uniq":                         {`len(uniq([quantity("1Gi"), quantity("1024Mi"), "1Gi", duration(60), duration("1m"), "1m0s"]))`, i(4)},
		"uniq of moments":              {`len(uniq([timestamp("2026-01-01T00:00:00Z"), timestamp("2026-01-01T01:00:00+01:00")]))`, i(1)},
		"uniq of lists of them":        {`len(uniq([[quantity("1Gi")], [quantity("1024Mi")], ["1Gi"], {a: semver("1.0.0+a")}, {a: semver("1.0.0+b")}]` + `))`, i(3)},
		"default of a quantity":        {`string(default(quantity(0), 5))`, "0"},
		"find among them":              {`find([duration(1), duration(2)], # > 1)`, 2 * time.Second},
		"reduce to one":                {`reduce([1, 2], #acc + #, duration(60))`, 63 * time.Second},
		"merge keeps them":             {`merge({a: duration(1)}, {b: 2}).a`, time.Second},
		"groups by anything":           {`groups([{a: 1}, {a: nil}, {a: 1.0}, {a: [1]}, {}], .a)`, list(m{"key": i(1), "items": list(m{"a": i(1)}, m{"a": 1.0})}, m{"key": nil, "items": list(m{"a": nil}, m{})}, m{"key": list(i(1)), "items": list(m{"a": list(i(1))})})},
		"groups by several":            {`map(groups([[1, 2, 3], [1, 2, 4], [2, 2, 3]], [#[0], #[1]]), .key)`, list(list(i(1), i(2)), list(i(2), i(2)))},
		"groups by computed values":    {`map(groups(["1Gi", "1024Mi", "1G"], quantity(#)), len(.items))`, list(i(2), i(1))},
		"groups of nothing":            {"groups(nil, #)", list()},
		"groups tell kinds apart":      {`len(groups([1, "1", true, "true", [1], "[1]"], #))`, i(6)},
		"sha256":                       {`sha256("")`, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"jitter is for ever the same":  {`[jitter("", 0, 99), jitter("a", 0, 99), jitter("b", 0, 99), jitter("a", -5, 5)]`, list(i(88), i(79), i(24), i(3))},
		"jitter of equal bounds":       {`jitter("a", 7, 7)`, i(7)},
		"jitter of all integers":       {`jitter("a", -9223372036854775807 - 1, 9223372036854775807) != 0`, true},
		"jitter of durations":          {`type(jitter("a", "1m", "5m")) + type(jitter("a", 0, duration("1s")))`, "durationduration"},
		"jitter in seconds":            {`int(jitter("a", "1m", "5m") / "1s") == jitter("a", "1m", "5m") / duration(1)`, true},
		"jitter in milliseconds":       {`jitter("x", "1500ms", "2s") >= "1500ms" && jitter("x", "1500ms", "2s") <= "2s"`, true},
		"jitter of one duration":       {`jitter("a", "90s", 90)`, 90 * time.Second},
		"an address":                   {`cidrContains("10.0.0.0/8", "10.255.0.1")`, true},
		"an address beside":            {`cidrContains("10.0.0.0/8", "11.0.0.1")`, false},
		"a block within":               {`cidrContains("10.0.0.0/8", "10.1.0.0/16")`, true},
		"the block itself":             {`cidrContains("10.0.0.0/8", "10.0.0.0/8")`, true},
		"a larger block":               {`cidrContains("10.0.0.0/8", "10.0.0.0/7")`, false},
		"a block with an address":      {`cidrContains("10.1.2.3/8", "10.9.9.9")`, true},
		"IPv6":                         {`cidrContains("fd00::/8", "fd12::1")`, true},
		"IPv6 and IPv4":                {`cidrContains("::/0", "10.0.0.1") || cidrContains("0.0.0.0/0", "::1")`, false},
		"IPv4 as IPv6":                 {`cidrContains("10.0.0.0/8", "::ffff:10.0.0.1") && cidrContains("::ffff:10.0.0.0/104", "10.0.0.1")`, true},
		"everything":                   {`cidrContains("0.0.0.0/0", "255.255.255.255")`, true},
		"url":                          {`url("https://me:secret@[fd00::1]:8443/a%20b?q=1&q=2&r#top")`, m{"scheme": "https", "user": "me", "host": "[fd00::1]:8443", "hostname": "fd00::1", "port": i(8443), "path": "/a b", "query": m{"q": list("1", "2"), "r": list("")}, "fragment": "top"}},
		"url of little":                {`url("http://x")`, m{"scheme": "http", "user": "", "host": "x", "hostname": "x", "port": nil, "path": "", "query": m{}, "fragment": ""}},
		"url of a file":                {`url("file:///etc/hosts").path`, "/etc/hosts"},
		"url in capitals":              {`url("HTTP://X").scheme`, "http"},
		"labels match":                 {`labelsMatch({metadata: {labels: {a: "1", b: "2"}}}, {matchLabels: {a: "1"}, matchExpressions: [{key: "b", operator: "In", values: ["2", "3"]}]})`, true},
		"labels differ":                {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchLabels: {a: "2"}})`, false},
		"one of two differs":           {`labelsMatch({metadata: {labels: {a: "1", b: "1"}}}, {matchLabels: {a: "1", b: "2"}})`, false},
		"a label is absent":            {`labelsMatch({metadata: {}}, {matchLabels: {a: "2"}})`, false},
		"NotIn of another":             {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchExpressions: [{key: "a", operator: "NotIn", values: ["2"]}]})`, true},
		"NotIn of itself":              {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchExpressions: [{key: "a", operator: "NotIn", values: ["1"]}]})`, false},
		"NotIn of what is absent":      {`labelsMatch({}, {matchExpressions: [{key: "a", operator: "NotIn", values: ["1"]}]})`, true},
		"In of what is absent":         {`labelsMatch({}, {matchExpressions: [{key: "a", operator: "In", values: ["1"]}]})`, false},
		"Exists":                       {`labelsMatch({metadata: {labels: {a: ""}}}, {matchExpressions: [{key: "a", operator: "Exists", values: []}]})`, true},
		"DoesNotExist":                 {`labelsMatch({metadata: {labels: {a: ""}}}, {matchExpressions: [{key: "a", operator: "DoesNotExist"}]})`, false},
		"no object":                    {`labelsMatch(nil, {matchExpressions: [{key: "a", operator: "DoesNotExist"}]})`, false},
		"no selector":                  {`labelsMatch({metadata: {labels: {a: "1"}}}, nil)`, false},
		"half a selector":              {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchLabels: {a: "1"}, matchExpressions: nil})`, true},
		"controllerOf":                 {`controllerOf({metadata: {ownerReferences: [{name: "a"}, nil, "x", {name: "b", controller: true}]}}).name`, "b"},
		"controllerOf without one":     {`controllerOf({metadata: {ownerReferences: [{name: "a", controller: false}]}})`, nil},
		"controllerOf without owners":  {`controllerOf({metadata: {}})`, nil},
		"controllerOf nothing":         {`controllerOf(nil)`, nil},
		"controllerRef and back":       {`let o = {apiVersion: "v1", kind: "A", metadata: {name: "a", uid: "b"}}; controllerOf({metadata: {ownerReferences: [controllerRef(o)]}}) == controllerRef(o)`, true},
		"a reference says it controls": {`controllerRef({apiVersion: "v1", kind: "A", metadata: {name: "a", uid: "b"}}).blockOwnerDeletion`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := eval(tt.source)
			if err != nil {
				t.Fatalf("%s: %v", tt.source, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

func TestComputedFunctionErrors(t *testing.T) {
	const block = `write it as in "10.0.0.0/8" or "fd00::/8"`
	const address = `write it as in "10.1.2.3", "fd00::1" or "10.1.0.0/16"`
	const whole = `is not a URL; write it whole, as in "https://example.org/path"`
	tests := map[string]struct {
		source string
		want   string
	}{
		"not a quantity":            {`quantity("1 GB")`, `"1 GB" is not a quantity; write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"a boolean":                 {"quantity(true)", "quantity wants a number, a string or a quantity, have a boolean"},
		"a duration of a float":     {"duration(1.5)", "duration wants an integer, a string or a duration, have a float"},
		"a time of seconds":         {"timestamp(5)", "timestamp wants a string or a time, have an integer"},
		"a version of a number":     {"semver(1.31)", "semver wants a string or a version, have a float"},
		"int of a version":          {`int(semver("1"))`, "int wants a number, a string, a quantity, a duration or a time, and semver(...) is a version"},
		"mean of durations":         {"mean([duration(1)])", "mean wants numbers, and element 0 is a duration"},
		"max of different kinds":    {"max([duration(1), 2])", "max cannot order an integer beside a duration"},
		"sort of different kinds":   {`sort([quantity(1), 2])`, "sort cannot order an integer beside a quantity; make them all strings with string(...)"},
		"sort of stamps":            {"sort([stamp()])", "sort orders numbers, strings, times or booleans, have stamp(); sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"},
		"sum of times":              {`sum([timestamp("2026-01-01T00:00:00Z")])`, "sum wants a number, a quantity or a duration, and element 0 is a time"},
		"sum of different kinds":    {`sum([duration(1), quantity(1)])`, "a duration + a quantity has no meaning"},
		"uniq of stamps":            {"uniq([stamp()])", "stamp() cannot be read: it may only be a value in a body"},
		"uniq of lists of stamps":   {"uniq([[stamp()]])", "stamp() cannot be read: it may only be a value in a body"},
		"groups by stamps":          {"groups([1], [stamp()])", "stamp() cannot be read: it may only be a value in a body"},
		"groups by what is omitted": {"groups([1], omit())", "groups wants a value, have omit()"},
		"YAML of nil":               {"toYAML(nil)", `toYAML wants a value, have nil; ?? gives a default, as in (x ?? "")`},
		"no YAML":                   {`fromYAML("[")`, "invalid YAML: line 1: did not find expected node content"},
		"YAML nobody knows":         {`fromYAML("a: no")`, `line 1 of the YAML: unquoted no is not the same to all readers of YAML; write "no" for the text, or false for the boolean`},
		"bounds out of order":       {`jitter("a", 2, 1)`, "jitter wants bounds in order, and the lower one is above the other"},
		"durations out of order":    {`jitter("a", "2m", "1m")`, "jitter wants bounds in order, and the lower one is above the other"},
		"not a duration":            {`jitter("a", 0, "soon")`, `"soon" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"no block":                  {`cidrContains("10.0.0.0", "10.0.0.1")`, `"10.0.0.0" is not a CIDR block; ` + block},
		"too many bits":             {`cidrContains("10.0.0.0/33", "10.0.0.1")`, `"10.0.0.0/33" is not a CIDR block; ` + block},
		"no address":                {`cidrContains("10.0.0.0/8", "localhost")`, `"localhost" is not an IP address or CIDR block; ` + address},
		"a zone":                    {`cidrContains("fe80::/10", "fe80::1%eth0")`, `"fe80::1%eth0" is not an IP address or CIDR block; ` + address},
		"an octal address":          {`cidrContains("10.0.0.0/8", "010.0.0.1")`, `"010.0.0.1" is not an IP address or CIDR block; ` + address},
		"a path":                    {`url("/a")`, `"/a" ` + whole},
		"a host":                    {`url("localhost:8080")`, `"localhost:8080" ` + whole},
		"an address of mail":        {`url("mailto:a@b")`, `"mailto:a@b" ` + whole},
		"no URL":                    {`url("http://[::1")`, `"http://[::1" ` + whole},
		"a port that is none":       {`url("http://x:y")`, `"http://x:y" ` + whole},
		"a large port":              {`url("http://x:99999999999")`, `"http://x:99999999999" ` + whole},
		"a broken query":            {`url("http://x?a=%zz")`, `the query of the URL "http://x?a=%zz" is malformed`},
		"an empty selector":         {"labelsMatch({}, {})", "the label selector is empty and would match everything; test it first, as in default(selector, nil)"},
		"an empty one, written out": {"labelsMatch({}, {matchLabels: {}, matchExpressions: []})", "the label selector is empty and would match everything; test it first, as in default(selector, nil)"},
		"a reference to nothing":    {"controllerRef(nil)", "controllerRef wants a whole object, and its apiVersion is missing"},
		"a reference without a uid": {`controllerRef({apiVersion: "v1", kind: "A", metadata: {name: "a", uid: ""}})`, "controllerRef wants a whole object, and its uid is missing"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := eval(tt.source); err == nil || err.Error() != tt.want {
				t.Errorf("%s = %v, %v\nwant %s", tt.source, got, err, tt.want)
			}
		})
	}
}

// TestJitterSpreads makes sure that keys that differ little are spread over all of
// the range.
func TestJitterSpreads(t *testing.T) {
	got, err := eval(`map(groups(map(1..2000, jitter("basic-tikv-" + string(#), 1, 10)), #), [.key, len(.items)])`)
	if err != nil {
		t.Fatal(err)
	}
	groups, _ := got.([]any)
	if len(groups) != 10 {
		t.Errorf("%d values of 10", len(groups))
	}
	for _, group := range groups {
		pair, _ := group.([]any)
		value, _ := pair[0].(int64)
		n, _ := pair[1].(int64)
		if value < 1 || value > 10 || n < 140 || n > 260 {
			t.Errorf("%d came %d times of 2,000", value, n)
		}
	}
}

// TestSelectorErrors refuses what an API server would refuse too, and what selects by a text that is absent.
func TestSelectorErrors(t *testing.T) {
	for _, selector := range []string{
		`{app: "a"}`,
		`{matchLabels: ["a"]}`,
		`{matchLabels: {b: 1, a: nil, c: "x"}}`,
		`{b: "a", app: "a", matchLabels: 1}`,
		`{matchLabels: {a: nil}}`,
		`{matchExpressions: {key: "a"}}`,
		`{matchExpressions: [{operator: "Exists"}]}`,
		`{matchExpressions: ["a"]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: "b"}]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: [1]}]}`,
		`{matchExpressions: [{key: "a", operator: "In"}]}`,
		`{matchExpressions: [{key: "a", operator: "NotIn", values: []}]}`,
		`{matchExpressions: [{key: "a", operator: "Exists", values: ["b"]}]}`,
		`{matchExpressions: [{key: "a", operator: "in", values: ["b"]}]}`,
		`{matchLabels: {a: "b"}, matchExpressions: [{key: "a"}]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: ["b", nil]}]}`, `{matchLabels: {a: "no label"}}`,
	} {
		_, err := eval("labelsMatch({}, " + selector + ")")
		if err == nil || !strings.HasPrefix(err.Error(), "the label selector is not valid; write {matchLabels: ") {
			t.Errorf("%s: %v", selector, err)
		}
	}
}
