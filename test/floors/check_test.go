package floors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

func TestCheckFloors(t *testing.T) {
	house := [][]string{{"./cmd"}, {"./engine", "./source"}, {"./plan"}}
	tests := map[string]struct {
		reason string
		graph  floors.Graph
		want   []string
	}{
		"downward": {
			reason: "Imports of lower floors, of any depth, and of other modules are free.",
			graph: floors.Graph{
				"./cmd": {"./engine", "./plan", "fmt"}, "./engine": {"./plan"}, "./source": {"example.org/plan"}, "./plan": nil, "fmt": {"io"},
			},
		},
		"upward": {
			reason: "A lower floor must not know a higher one.",
			graph:  floors.Graph{"./cmd": nil, "./engine": nil, "./source": nil, "./plan": {"./engine", "./cmd"}},
			want: []string{
				"./plan imports ./engine: imports go downward only",
				"./plan imports ./cmd: imports go downward only",
			},
		},
		"sideways": {
			reason: "Neighbours do not know each other.",
			graph:  floors.Graph{"./cmd": nil, "./engine": {"./source"}, "./source": nil, "./plan": nil},
			want:   []string{"./engine imports ./source: imports go downward only"},
		},
		"new package": {
			reason: "A package that nobody placed would be free to import anything.",
			graph:  floors.Graph{"./cmd": {"./extra"}, "./engine": nil, "./source": nil, "./plan": nil, "./extra": {"./cmd"}},
			want:   []string{"./extra is on no floor: add it to House, above all that it imports"},
		},
		"at the root": {
			reason: "The root of the module is a package like any other.",
			graph:  floors.Graph{"./cmd": nil, "./engine": nil, "./source": nil, "./plan": nil, ".": nil},
			want:   []string{". is on no floor: add it to House, above all that it imports"},
		},
		"below a listed package": {
			reason: "An entry is one package, not a tree.",
			graph:  floors.Graph{"./cmd": nil, "./engine": nil, "./source": nil, "./plan": nil, "./plan/text": nil},
			want:   []string{"./plan/text is on no floor: add it to House, above all that it imports"},
		},
		"vanished package": {
			reason: "A table that lists what is gone is not read any more.",
			graph:  floors.Graph{"./cmd": nil, "./engine": nil, "./plan": nil},
			want:   []string{"./source is on a floor, but there is no such package: take it off"},
		},
		"same path elsewhere": {
			reason: "Only packages of this module have floors: the standard library has a cmd/ as well.",
			graph:  floors.Graph{"./cmd": nil, "./engine": nil, "./source": nil, "./plan": {"cmd"}, "cmd": nil},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, floors.CheckFloors(test.graph, house)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}

func TestCheckBans(t *testing.T) {
	direct := floors.Ban{Why: "reason", Who: []string{"./core/..."}, Except: []string{"./core/edge"}, What: []string{"os", "net/..."}}
	deep := direct
	deep.Deep = true
	tests := map[string]struct {
		reason string
		graph  floors.Graph
		ban    floors.Ban
		want   []string
	}{
		"nothing banned": {
			reason: "What merely looks like a banned path is free.",
			graph:  floors.Graph{"./core": {"os/exec", "network", "ne", "example.org/os"}},
			ban:    direct,
		},
		"exact": {
			reason: "A pattern without dots is that package.",
			graph:  floors.Graph{"./core": {"fmt", "os"}},
			ban:    direct,
			want:   []string{"./core imports os: reason"},
		},
		"trees on both sides": {
			reason: "A pattern with dots is the package and all below it.",
			graph:  floors.Graph{"./core/a/b": {"net/http", "net"}},
			ban:    direct,
			want:   []string{"./core/a/b imports net/http: reason", "./core/a/b imports net: reason"},
		},
		"not concerned": {
			reason: "A name that only begins like a folder is not below it.",
			graph:  floors.Graph{"./corelation": {"os"}, "./edge": {"os"}, "core": {"os"}},
			ban:    direct,
		},
		"excepted": {
			reason: "An exception is one package, unless it says otherwise.",
			graph:  floors.Graph{"./core/edge": {"os"}, "./core/edge/inner": {"os"}},
			ban:    direct,
			want:   []string{"./core/edge/inner imports os: reason"},
		},
		"through others, allowed": {
			reason: "A ban that is not deep is of direct imports.",
			graph:  floors.Graph{"./core": {"a"}, "a": {"os"}},
			ban:    direct,
		},
		"through others, banned": {
			reason: "A deep ban tells the shortest way.",
			graph:  floors.Graph{"./core": {"a", "b"}, "a": {"a", "c"}, "c": {"net"}, "b": {"net/http"}, "net/http": {"net"}},
			ban:    deep,
			want:   []string{"./core imports b imports net/http: reason"},
		},
		"through our own": {
			reason: "The way may lead through a package of ours that is excepted.",
			graph:  floors.Graph{"./core/a": {"./core/edge"}, "./core/edge": {"os"}},
			ban:    deep,
			want:   []string{"./core/a imports ./core/edge imports os: reason"},
		},
		"direct under a deep ban": {
			reason: "A direct import is told once.",
			graph:  floors.Graph{"./core": {"os"}, "os": {"net"}},
			ban:    deep,
			want:   []string{"./core imports os: reason"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, floors.CheckBans(test.graph, []floors.Ban{test.ban})); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}
