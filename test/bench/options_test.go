package main

import (
	"io"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-jobs", "label", "-phases", "latency", "-kb", "1.5", "-contenders", "typed,new=bin/new"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !o.measures("latency") || o.measures("restart") || o.size != 1500 {
		t.Errorf("got %+v", o)
	}
	if got := parseContender(o.contenders[1]); got != (contender{"new", "bin/new"}) {
		t.Errorf("got %+v", got)
	}
	tests := map[string]struct{ reason, arguments, want string }{
		"job":     {"A job that is not there would be measured as nothing.", "-jobs label,tables", `"tables"`},
		"phase":   {"So would a phase.", "-phases irelevant", `"irelevant"`},
		"rest":    {"A flag without a dash is a mistake.", "rounds 3", `"rounds"`},
		"objects": {"There is no rate of a single change, and every second object is changed.", "-objects 3", "four objects"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parseOptions(strings.Fields(test.arguments), io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %s", test.reason, err, test.want)
			}
		})
	}
}
