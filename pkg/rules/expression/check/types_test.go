package check_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestTypes says what expressions give.
func TestTypes(t *testing.T) {
	const nilable = " or nil"
	tests := map[string]struct{ source, want string }{
		"behind ?.":                 {"object.spec.tikv?.replicas", "an integer" + nilable},
		"a default":                 {"object.spec.tikv?.replicas ?? 0", "an integer"},
		"a default that may be nil": {"object.spec.tikv?.replicas ?? object.status.ready", "an integer" + nilable},
		"a needless default":        {"object.spec.version ?? 1", "an integer or a string"},
		"a default of another kind": {"object.spec.tikv?.replicas ?? \"none\"", "an integer or a string"},
		"narrowed":                  {"object.spec.tikv != nil ? object.spec.tikv : {}", "a map"},
		"a label":                   {"object.metadata.labels.a", "a string" + nilable},
		"a power":                   {"object.spec.pd.replicas ** 2", "a number"},
		"a number of the schema":    {"(object.spec.ratio ?? 1) + 1", "a number"},
		"a moved time":              {"timestamp(object.metadata.creationTimestamp) + \"5m\"", "a time"},
		"a time less a text":        {"timestamp(object.metadata.creationTimestamp) - \"5m\"", "a duration or a time"},
		"a quantity":                {"quantity(\"1Gi\") - 1", "a quantity"},
		"a negative quantity":       {"-quantity(\"1Gi\")", "a quantity"},
		"a range":                   {"1..3", "a list of integers"},
		"a list of texts":           {"[object.metadata.name, \"a\"]", "a list of strings"},
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
