package document_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestIgnore(t *testing.T) {
	warning := func(line int, code document.Code) *document.Error {
		return (&document.Error{File: "a.yaml", Line: line, Code: code, Message: "m"}).Warn()
	}
	conflict, restless := document.CodeConflict, document.CodeRestless
	tests := map[string]struct {
		reason, text string
		found        document.Errors
		want         []string // the line and the code of what is left
	}{
		"beside": {
			"beside something it is about its line",
			"rules:\n- name: a # dyncontroller:ignore conflict: meant\n- name: b\n",
			document.Errors{warning(2, conflict), warning(3, conflict), warning(2, restless)},
			[]string{"2 restless", "3 conflict"},
		},
		"element": {
			"above an element it is about all of it",
			"rules:\n# dyncontroller:ignore conflict: meant\n\n- name: a\n  actions:\n  - patch:\n\n# another one\n- name: b\n",
			document.Errors{warning(6, conflict), warning(9, conflict)},
			[]string{"9 conflict"},
		},
		"key": {
			"above a key it is about its list, which may not be indented",
			"rules:\n- name: a\n  # dyncontroller:ignore conflict: meant\n  actions:\n  - patch:\n  when: x\n",
			document.Errors{warning(5, conflict), warning(6, conflict)},
			[]string{"6 conflict"},
		},
		"several": {
			"comments in a row are about the same",
			"# dyncontroller:ignore conflict: meant\n# dyncontroller:ignore restless: meant\na: b\n",
			document.Errors{warning(3, conflict), warning(3, restless)},
			nil,
		},
		"unused":      {"one that does nothing is a warning", "a: b # dyncontroller:ignore conflict: meant\n", nil, []string{"1 unused-ignore"}},
		"at the end":  {"so is one with nothing below it", "a: b\n# dyncontroller:ignore conflict: meant\n", document.Errors{warning(1, conflict)}, []string{"1 conflict", "2 unused-ignore"}},
		"no reason":   {"a reason must be given", "a: b # dyncontroller:ignore conflict\n", document.Errors{warning(1, conflict)}, []string{"1 conflict", "1 unused-ignore"}},
		"no code":     {"and a code that there is", "a: b # dyncontroller:ignore konflict: meant\n", nil, []string{"1 unused-ignore"}},
		"a mistake":   {"mistakes stay", "a: b # dyncontroller:ignore unknown-field: meant\n", document.Errors{{File: "a.yaml", Line: 1, Code: document.CodeUnknownField}}, []string{"1 unknown-field", "1 unused-ignore"}},
		"unchecked":   {"what was not checked may come", "a: b # dyncontroller:ignore conflict: meant\n", document.Errors{(&document.Error{File: "a.yaml", Code: document.CodeUntyped}).Note()}, []string{"0 untyped"}},
		"other file":  {"other files have nothing to do with it", "a: b # dyncontroller:ignore conflict: meant\n", document.Errors{(&document.Error{File: "b.yaml", Line: 1, Code: conflict}).Warn()}, []string{"1 unused-ignore", "1 conflict"}},
		"quoted":      {"a text is no comment", "a: \"it's # dyncontroller:ignore conflict: meant\"\n", document.Errors{warning(1, conflict)}, []string{"1 conflict"}},
		"other words": {"other comments are comments", "a: b # dyncontroller:ignored conflict: meant\n", document.Errors{warning(1, conflict)}, []string{"1 conflict"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range document.Ignore([]document.File{{Name: "a.yaml", Data: []byte(test.text)}}, test.found) {
				got = append(got, fmt.Sprint(err.Line, " ", err.Code))
				if err.Render() == "" {
					t.Error("it cannot be shown")
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// FuzzIgnore holds that no comment stops the program, and that no mistake is left out.
func FuzzIgnore(f *testing.F) {
	f.Add("# dyncontroller:ignore conflict: meant\n- a\n", 2)
	f.Add("\ta: b #dyncontroller:ignore restless: \u00e9\r\n", 1)
	f.Fuzz(func(t *testing.T, text string, line int) {
		found := document.Errors{{File: "a", Line: line}, (&document.Error{File: "a", Line: line, Code: document.CodeConflict}).Warn()}
		left := document.Ignore([]document.File{{Name: "a", Data: []byte(text)}}, found)
		if len(left.Of(document.Mistake)) != 1 {
			t.Errorf("the mistake is gone: %v", left)
		}
		for _, err := range left {
			_ = err.Render()
		}
	})
}
