package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
)

// mistake is an expression and all that is said about it.
type mistake struct {
	source        string
	offset        int
	at            string // the source from offset on
	code          string
	message, hint string
}

func checkMistakes(t *testing.T, tests map[string]mistake) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster, lets...)
			_, errs := w.checked(t, tt.source)
			if len(errs) != 1 {
				t.Fatalf("%s: %v, want one mistake", tt.source, errs)
			}
			err := errs[0]
			got := mistake{tt.source, err.Offset, tt.source[err.Offset : err.Offset+err.Length], err.Code, err.Message, err.Hint}
			if diff := cmp.Diff(tt, got, cmp.AllowUnexported(mistake{})); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

// TestSeveral finds all mistakes, in their order, and each once.
func TestSeveral(t *testing.T) {
	tests := map[string]struct {
		reason string
		source string
		want   []string
	}{
		"both sides":          {"each is one", "object.status.ready + object.status.leader?.epoch", []string{"object.status.ready may be absent, and + wants a number", "object.status.leader?.epoch may be absent, and + wants a number"}},
		"two clauses":         {"|| goes on", "object.spec.a == 1 || object.spec.b == 1", []string{`object.spec has no field "a"`, `object.spec has no field "b"`}},
		"the same one twice":  {"after the first, it is taken for granted", "object.spec.tikv.replicas > 1 && object.spec.tikv.replicas < 5", []string{"object.spec.tikv may be absent, so object.spec.tikv.replicas cannot be read"}},
		"after an ordering":   {"it would have failed", "object.spec.tikv?.replicas > 1 && object.spec.tikv.replicas < 5", []string{"object.spec.tikv?.replicas may be absent, and > wants a number"}},
		"a shared middle":     {"the tree has it twice", "1 < object.spec.pd.foo < 3", []string{`object.spec.pd has no field "foo"`}},
		"an argument":         {"the others are checked too", "replace(object.spec.timeout, 1, object.spec.foo)", []string{"object.spec.timeout may be absent, and replace wants a string", "replace wants a string, have an integer", `object.spec has no field "foo"`}},
		"in both branches":    {"both are taken", "object.spec.pd.paused ? object.spec.a : object.spec.b", []string{`object.spec has no field "a"`, `object.spec has no field "b"`}},
		"in a list and a map": {"all elements are checked", "[object.spec.a, {b: object.spec.b}]", []string{`object.spec has no field "a"`, `object.spec has no field "b"`}},
		"the unused let":      {"it is evaluated all the same", "let x = object.spec.a; object.spec.b", []string{`object.spec has no field "a"`, `object.spec has no field "b"`}},
		"rounds of reduce":    {"what fails at first fails", "reduce([1, 2], #acc == nil ? object.spec.foo : #acc.a, 1)", []string{`object.spec has no field "foo"`, `#acc is an integer and has no field "a"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, errs := newWorld(t, cluster, lets...).checked(t, tt.source)
			var got []string
			for _, err := range errs {
				got = append(got, err.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", tt.source, tt.reason, diff)
			}
		})
	}
}

// TestTemplates checks texts with expressions, whose mistakes are placed in the whole text.
func TestTemplates(t *testing.T) {
	tests := map[string]struct{ text, of, at, want string }{
		"a constant":        {"a $${b}", "a string", "", ""},
		"alone":             {" ${object.spec.pd.replicas + 1} ", "an integer", "", ""},
		"alone and nil":     {"${object.spec.timeout}", "a string", "", ""},
		"within a text":     {"${object.metadata.name}-${object.spec.pd.replicas}-${object.spec.pd.paused}-${duration(90)}", "a string", "", ""},
		"unknown":           {"a ${anything.b}", "a string", "", ""},
		"nil in a text":     {"in ${object.spec.timeout}", "a string", "object.spec.timeout", `object.spec.timeout may be absent, and the text around ${ } wants a boolean, a number or a string; say when: object.spec.timeout != nil if nothing is to be done then, or give a default: ${object.spec.timeout ?? "none"}`},
		"always nil":        {"in ${nil}", "a string", "nil", `this is absent, and the text around ${ } wants a boolean, a number or a string; give it a name in let, and say when: NAME != nil if nothing is to be done then; or give a default with ?? "none"`},
		"a map":             {"in ${object.spec.pd}", "a string", "object.spec.pd", "the text around ${ } wants a boolean, a number or a string, and object.spec.pd is a map; write toJSON(...) around it, or join(...) around a list of strings"},
		"a list":            {"ä ${[1]}", "a string", "[1]", "the text around ${ } wants a boolean, a number or a string, have a list; write toJSON(...) around it, or join(...) around a list of strings"},
		"omit":              {"in ${omit()}", "a string", "omit()", "the text around ${ } wants a boolean, a number or a string, have omit(); omit() drops a whole value and must stand alone"},
		"a stamp":           {"at ${stamp()}", "a string", "stamp()", "stamp() cannot be read: it may only be a value in a body"},
		"a mistake behind":  {"ä ${object.metadata.name} ${object.spec.foo}", "a string", "foo", `object.spec has no field "foo"`},
		"a mistake alone":   {"${object.spec.foo}", "a value", "foo", `object.spec has no field "foo"`},
		"both of a mistake": {"${object.spec.foo}${1 + true}", "a string", "foo true", `object.spec has no field "foo" + wants a number, have a boolean`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster, lets...)
			template, err := expression.CompileTemplate(tt.text, w.scope)
			if err != nil {
				t.Fatal(err)
			}
			of, errs := check.Template(template, w, nil)
			var at, messages []string
			for _, err := range errs {
				at, messages = append(at, tt.text[err.Offset:err.Offset+err.Length]), append(messages, err.Error())
			}
			got := []string{of.String(), strings.Join(at, " "), strings.Join(messages, " ")}
			if diff := cmp.Diff([]string{tt.of, tt.at, tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

// TestProposalsAreAccepted holds that a hint that writes an expression out writes one in which nothing is wrong.
func TestProposalsAreAccepted(t *testing.T) {
	for _, source := range []string{
		"!object.spec.version", "!object.spec.timeout", "not object.spec.pd.mode", "!object.spec.names", "!object.spec.pd.replicas", "!object.status.ready",
		"object.spec.timeout ? 1 : 2", "object.spec.pd.mode && true", "true || object.spec.names", "object.spec.ratio && true", "object.spec.flags && true",
		"!pods[0].spec.nodeName", "pods[0].spec.restartPolicy && true", "!pods[0].spec.tolerations", "!pods[0].status.phase", "!anything.spec || !object.metadata.name",
		"object.metadata.creationTimestamp - 5", "5 + object.metadata.creationTimestamp", "object.metadata.creationTimestamp - object.status.since",
		"object.status.since + 60", "object.status.since > 60", "60 < object.metadata.creationTimestamp", "object.status.since && true", "object.status.since - object.metadata.creationTimestamp",
	} {
		w := newWorld(t, cluster, lets...)
		_, errs := w.checked(t, source)
		if len(errs) != 1 {
			t.Errorf("%s: %v, want one mistake", source, errs)
			continue
		}
		proposal, proposes := strings.CutPrefix(errs[0].Hint, "write ")
		if errs[0].Hint != "" && !proposes {
			t.Errorf("%s: the hint proposes nothing: %s", source, errs[0].Hint)
		}
		if !proposes {
			continue
		}
		if _, wrong := w.checked(t, proposal); len(wrong) > 0 {
			t.Errorf("%s: of %s: %v", source, proposal, wrong)
		}
	}
}
