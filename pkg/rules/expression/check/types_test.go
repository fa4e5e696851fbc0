package check_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestTypes says what expressions give.
func TestTypes(t *testing.T) {
	const nilable = " or nil"
	tests := map[string]struct{ source, want string }{
		"required":                  {"object.spec.pd.replicas", "an integer"},
		"optional":                  {"object.spec.timeout", "a string" + nilable},
		"behind ?.":                 {"object.spec.tikv?.replicas", "an integer" + nilable},
		"a default":                 {"object.spec.tikv?.replicas ?? 0", "an integer"},
		"a default that may be nil": {"object.spec.tikv?.replicas ?? object.status.ready", "an integer" + nilable},
		"a needless default":        {"object.spec.version ?? 1", "an integer or a string"},
		"a default of another kind": {"object.spec.tikv?.replicas ?? \"none\"", "an integer or a string"},
		"narrowed":                  {"object.spec.tikv != nil ? object.spec.tikv : {}", "a map"},
		"a ternary":                 {"object.spec.pd.paused ? 1 : \"a\"", "an integer or a string"},
		"labels":                    {"object.metadata.labels", "a map"},
		"a label":                   {"object.metadata.labels.a", "a string" + nilable},
		"a sum":                     {"object.spec.pd.replicas + 1", "an integer"},
		"a quotient":                {"object.spec.pd.replicas / 2", "a float"},
		"a power":                   {"object.spec.pd.replicas ** 2", "a number"},
		"a sum with a float":        {"object.spec.pd.replicas + 0.5", "a float"},
		"a number of the schema":    {"(object.spec.ratio ?? 1) + 1", "a number"},
		"texts":                     {"object.metadata.name + \"a\"", "a string"},
		"a moved time":              {"timestamp(object.metadata.creationTimestamp) + \"5m\"", "a time"},
		"a time less a text":        {"timestamp(object.metadata.creationTimestamp) - \"5m\"", "a duration or a time"},
		"twice a duration":          {"2 * duration(\"5m\")", "a duration"},
		"a quantity":                {"quantity(\"1Gi\") - 1", "a quantity"},
		"a negative quantity":       {"-quantity(\"1Gi\")", "a quantity"},
		"a comparison":              {"object.spec.pd.replicas > 1", "a boolean"},
		"a range":                   {"1..3", "a list of integers"},
		"a list":                    {"[1, \"a\"]", "a list"},
		"a list of texts":           {"[object.metadata.name, \"a\"]", "a list of strings"},
		"a map":                     {"{a: 1}", "a map"},
		"an entry":                  {"{a: object.spec.tikv}.a", "a map" + nilable},
		"an entry beside others":    {"{a: 1, (object.metadata.name): \"a\"}.a", "an integer or a string"},
		"a slice of what is absent": {"object.spec.names[1:]", "a list of strings"},
		"a slice of a text":         {"object.metadata.name[0:1]", "a string"},
		"a slice to the left of ??": {"object.spec.tikv.image[0:1] ?? 1", "an integer or a string"},
		"an element":                {"pods[0].metadata.name", "a string"},
		"a dynamic element":         {"pods[object.spec.pd.replicas]", "a value"},
		"filtered":                  {"filter(object.spec.nodes, .image != nil)", "a list of maps"},
		"filtered and mapped":       {"map(filter(object.spec.nodes, .image != nil), .image)[0]", "a string"},
		"mapped":                    {"map(object.spec.nodes, .image)[0]", "a string" + nilable},
		"found":                     {"find(object.spec.nodes, .image != nil)", "a map" + nilable},
		"reduced":                   {"reduce(object.spec.names, #acc + len(#), 0)", "an integer"},
		"reduced to two kinds":      {"reduce(object.spec.names, # == \"a\" ? # : #acc, 0)", "an integer or a string"},
		"let":                       {"let x = object.spec.pd.replicas; x + 1", "an integer"},
		"a let of the rule":         {"stores + pd", "an integer"},
		"unknown":                   {"anything.a", "a value"},
		"after a mistake":           {"object.spec.foo", "a value"},
		"nothing":                   {"nil", "nil"},
		"an element of nothing":     {"[][0]", "no value"},
		"omit":                      {"object.spec.tikv ?? omit()", "a map or omit()"},
		"a stamp":                   {"stamp()", "stamp()"},
		"the index":                 {"map(pods, #index)[0]", "an integer"},
		"two pods":                  {"(pods[0] ?? object).metadata.name", "a string"},
		"a condition":               {"condition(object, \"Ready\")?.status", "a string" + nilable},
	}
	w := newWorld(t, cluster, lets...)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			of, _ := w.checked(t, tt.source)
			got := of.String()
			if of.CanBeNil() && of.Kinds() != value.Nil {
				got += nilable
			}
			if got != tt.want {
				t.Errorf("%s is %s, want %s", tt.source, got, tt.want)
			}
		})
	}
}

// TestFacts says what is present where a condition is true, of the names of the scope.
func TestFacts(t *testing.T) {
	tests := map[string]struct {
		reason, condition string
		present, absent   string // a path, "" for any
	}{
		"not nil":                {"it says so", "object.spec.tikv != nil", "spec tikv", "spec tidb"},
		"all that leads there":   {"it was read", "object.spec.tikv?.image != nil", "spec tikv", "spec tikv mode"},
		"the leaf itself":        {"it is not nil", "object.spec.tikv?.image != nil", "spec tikv image", ""},
		"a constant":             {"nil is another", `object.spec.timeout == "5m"`, "spec timeout", ""},
		"not a constant":         {"nil is that too", `object.spec.timeout != "5m"`, "", "spec timeout"},
		"nil":                    {"it is absent", "object.spec.timeout == nil", "", "spec timeout"},
		"both":                   {"&& says both", "object.spec.tikv != nil && object.spec.tidb != nil", "spec tidb", ""},
		"either":                 {"it is not known which", "object.spec.tikv != nil || object.spec.tidb != nil", "", "spec tikv"},
		"true or":                {"the other never decides", "false || object.spec.tikv != nil", "spec tikv", ""},
		"a ternary with false":   {"only one branch is true", "object.spec.tikv != nil ? object.spec.pd.paused : false", "spec tikv", ""},
		"a ternary with true":    {"the other branch is true", "object.spec.tikv != nil ? object.spec.pd.paused : true", "", "spec tikv"},
		"negated twice":          {"it is the same", "!!(object.spec.tikv != nil)", "spec tikv", ""},
		"a default":              {"it is not over 0", "(object.spec.tikv?.replicas ?? 0) > 0", "spec tikv replicas", ""},
		"a default that is over": {"it could be that", "(object.spec.tikv?.replicas ?? 1) > 0", "", "spec tikv"},
		"a default from params":  {"they are constants", "(object.spec.tikv?.replicas ?? 0) >= params.least", "spec tikv replicas", ""},
		"default()":              {"it is the same", `default(object.spec.timeout, "") != ""`, "spec timeout", ""},
		"a length":               {"that of nil is 0", "len(object.spec.names) >= 1", "spec names", ""},
		"a length of 0":          {"that of nil is 0", "len(object.spec.names) >= 0", "", "spec names"},
		"a count":                {"there is none in nil", "count(object.spec.nodes, .paused) != 0", "spec nodes", ""},
		"any":                    {"there is none in nil", "any(object.spec.nodes, .paused)", "spec nodes", ""},
		"not all":                {"all of nil are", "!all(object.spec.nodes, .paused)", "spec nodes", ""},
		"all":                    {"all of nil are", "all(object.spec.nodes, .paused)", "", "spec nodes"},
		"in a list":              {"there is nothing in nil", `"a" in object.spec.names`, "spec names", ""},
		"in a map":               {"the key is there", `"a" in object.metadata.labels`, "metadata labels a", ""},
		"not in":                 {"it is absent", `"a" not in object.metadata.labels`, "", "metadata labels a"},
		"in keys":                {"the key is there", `"a" in keys(object.spec.flags)`, "spec flags a", ""},
		"of constants":           {"nil is none of them", `object.spec.timeout in ["a", "b"]`, "spec timeout", ""},
		"of constants and nil":   {"nil is one of them", `object.spec.timeout in ["a", nil]`, "", "spec timeout"},
		"get":                    {"it is a path", `get(object.metadata.labels, "a") != nil`, "metadata labels a", ""},
		"a type":                 {"that of nil is nil", `type(object.spec.timeout) == "string"`, "spec timeout", ""},
		"an argument":            {"it would have failed", `upper(object.spec.timeout) == "A"`, "spec timeout", ""},
		"an ordering":            {"it would have failed", `object.spec.timeout > "a"`, "spec timeout", ""},
		"a let":                  {"it counts as written out", "both", "spec tidb", ""},
		"an alias":               {"it counts as written out", "tikv?.image != nil", "spec tikv image", ""},
		"a let with a default":   {"it counts as written out", "stores >= 1", "spec tikv replicas", ""},
		"a local":                {"it counts as written out", "let x = object.spec.tikv; x != nil", "spec tikv", ""},
		"an index":               {"it counts as a key", "object.spec.nodes?.[0]?.image != nil", "spec nodes [0] image", "spec nodes [1]"},
		"a dynamic index":        {"what is before it", "object.spec.nodes?.[object.spec.pd.replicas] != nil", "spec nodes", ""},
		"a slice":                {"that of nil is empty", "object.spec.names[1:] != nil", "", "spec names"},
		"== true":                {"it is the condition", "hasTikv == true", "spec tikv", ""},
		"!= true":                {"it is its opposite", "(object.spec.tikv == nil) != true", "spec tikv", ""},
		"== false":               {"it is its opposite", "false == (object.spec.tikv == nil)", "spec tikv", ""},
		"an element":             {"another has it", "any(object.spec.nodes, .image != nil)", "", "image"},
		"a mistake":              {"the rest still counts", "object.spec.foo == 1 && object.spec.tikv != nil", "spec tikv", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster, lets...)
			facts, _ := check.Condition(w.compiled(t, tt.condition), w, nil)
			if tt.present != "" && !facts.Has(0, words(tt.present)...) {
				t.Errorf("%s: %s is not present, although %s", tt.condition, tt.present, tt.reason)
			}
			if tt.absent != "" && facts.Has(0, words(tt.absent)...) {
				t.Errorf("%s: %s is present, although %s", tt.condition, tt.absent, tt.reason)
			}
		})
	}
}

func words(path string) []string { return strings.Fields(path) }
