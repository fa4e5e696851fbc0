package syntax_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

func TestLiteral(t *testing.T) {
	tests := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"nil":        {"It is a value that is written.", nil, true},
		"true":       {"A boolean.", true, true},
		`"text"`:     {"A text.", "text", true},
		"5":          {"An integer has 64 bits.", int64(5), true},
		"-5":         {"A sign belongs to the number.", int64(-5), true},
		"- -5":       {"So do two.", int64(5), true},
		"-1.5":       {"As it does to a float.", -1.5, true},
		"+5":         {"This one is an operator.", nil, false},
		"!true":      {"So is that.", nil, false},
		`-"text"`:    {"A text has no sign.", nil, false},
		"[1]":        {"A list is more than a literal.", nil, false},
		"object":     {"A name stands for something.", nil, false},
		"1 + 1":      {"What is computed is not written.", nil, false},
		"-object.ab": {"Nor is what has a sign only.", nil, false},
	}
	for text, tc := range tests {
		tree, err := syntax.Parse(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		if got, is := syntax.Literal(tree.Node); got != tc.want || is != tc.is {
			t.Errorf("%s %s is %v, %t; want %v, %t", tc.reason, text, got, is, tc.want, tc.is)
		}
	}
}
