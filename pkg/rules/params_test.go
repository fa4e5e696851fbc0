package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestParseParam(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         rules.Param
		wrong        bool
	}{
		"plain":           {"A set, a name and a value.", "guard.least=5", rules.Param{Set: "guard", Name: "least", Value: "5"}, false},
		"dots in the set": {"The name of a set may have dots.", "tidb.example.org.least=5", rules.Param{Set: "tidb.example.org", Name: "least", Value: "5"}, false},
		"= in the value":  {"The first = is it.", "a.b=c=d", rules.Param{Set: "a", Name: "b", Value: "c=d"}, false},
		"dots in it":      {"What is behind it is as it is.", "a.b=c.d", rules.Param{Set: "a", Name: "b", Value: "c.d"}, false},
		"empty value":     {"A text may be empty.", "a.b=", rules.Param{Set: "a", Name: "b"}, false},
		"spaces":          {"Spaces belong to the value.", "a.b= c ", rules.Param{Set: "a", Name: "b", Value: " c "}, false},
		"no value":        {"It needs an =.", "a.b", rules.Param{}, true},
		"no set":          {"It needs a set.", "least=5", rules.Param{}, true},
		"empty set":       {"It needs a set.", ".least=5", rules.Param{}, true},
		"no name":         {"It needs a name.", "guard.=5", rules.Param{}, true},
		"nothing":         {"It needs everything.", "", rules.Param{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := rules.ParseParam(tc.text)
			if (err != nil) != tc.wrong || got != tc.want {
				t.Errorf("%s: %+v, %v", tc.reason, got, err)
			}
			if err != nil && !strings.Contains(err.Error(), "SET.NAME=VALUE") {
				t.Errorf("the error does not show the form: %v", err)
			}
			if err == nil && got.String()+"="+got.Value != tc.text {
				t.Errorf("it is written %s", got)
			}
		})
	}
}

// parameterised has constants of all kinds, and shows them.
const parameterised = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: NAME}
spec:
  params: {text: a, int: 3, float: 0.5, bool: false, list: [1], map: {a: 1}, none: null}
  resources: {tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}}
  rules: [{name: NAME-shows, watch: tidbclusters, actions: [{event: {reason: Shown, message: "NAME ${toJSON(params)}"}}]}]
`

func TestParams(t *testing.T) {
	const untouched = `{"bool":false,"float":0.5,"int":3,"list":[1],"map":{"a":1},"none":null,"text":"a"}`
	tests := map[string]struct {
		reason string
		params []string
		want   string // What the set one shows, or the errors.
		two    string // What the set two shows.
	}{
		"none":             {"What the file says.", nil, untouched, untouched},
		"of one set":       {"The other keeps its own.", []string{"one.int=5"}, strings.Replace(untouched, `"int":3`, `"int":5`, 1), untouched},
		"of both sets":     {"Each has its own.", []string{"one.int=5", "two.int=6"}, strings.Replace(untouched, `"int":3`, `"int":5`, 1), strings.Replace(untouched, `"int":3`, `"int":6`, 1)},
		"the last counts":  {"As on a command line.", []string{"one.int=5", "one.int=6"}, strings.Replace(untouched, `"int":3`, `"int":6`, 1), untouched},
		"text":             {"A text is not read as YAML.", []string{"one.text=no: [1"}, strings.Replace(untouched, `"text":"a"`, `"text":"no: [1"`, 1), untouched},
		"empty text":       {"Nor is nothing.", []string{"one.text="}, strings.Replace(untouched, `"text":"a"`, `"text":""`, 1), untouched},
		"number for text":  {"Digits are a text there.", []string{"one.text=012"}, strings.Replace(untouched, `"text":"a"`, `"text":"012"`, 1), untouched},
		"bool":             {"A boolean is read.", []string{"one.bool=true"}, strings.Replace(untouched, `"bool":false`, `"bool":true`, 1), untouched},
		"float":            {"So is a number.", []string{"one.float=1.25"}, strings.Replace(untouched, `"float":0.5`, `"float":1.25`, 1), untouched},
		"int for float":    {"A whole one is one, too.", []string{"one.float=2"}, strings.Replace(untouched, `"float":0.5`, `"float":2`, 1), untouched},
		"list":             {"A list replaces all of it.", []string{"one.list=[a, {b: c}]"}, strings.Replace(untouched, `[1]`, `["a",{"b":"c"}]`, 1), untouched},
		"map":              {"So does a map.", []string{"one.map={b: [2]}"}, strings.Replace(untouched, `{"a":1}`, `{"b":[2]}`, 1), untouched},
		"anything for nil": {"A null takes anything.", []string{"one.none={x: z}"}, strings.Replace(untouched, `"none":null`, `"none":{"x":"z"}`, 1), untouched},
		"unknown name": {
			"A slip is an error.",
			[]string{"one.itn=5"},
			"--param one.itn: no set has this parameter; did you mean one.int?", "",
		},
		"unknown set": {
			"So is that of the set.",
			[]string{"on.int=5"},
			"--param on.int: no set has this parameter; did you mean one.int?", "",
		},
		"nothing like it": {
			"All are named where none is near.",
			[]string{"elsewhere.frobnicate=5"},
			"--param elsewhere.frobnicate: no set has this parameter; there are one.bool, one.float, one.int, one.list, one.map, one.none, one.text, " +
				"two.bool, two.float, two.int, two.list, two.map, two.none, two.text", "",
		},
		"text for int":  {"The kind stays.", []string{"one.int=five"}, "--param one.int: want an integer, as the set has it, have a string", ""},
		"float for int": {"An integer is exact.", []string{"one.int=5.5"}, "--param one.int: want an integer, as the set has it, have a float", ""},
		"int for bool":  {"A boolean is none.", []string{"one.bool=1"}, "--param one.bool: want a boolean, as the set has it, have an integer", ""},
		"map for list":  {"A list is one.", []string{"one.list={a: b}"}, "--param one.list: want a list, as the set has it, have a map", ""},
		"nothing":       {"Only a text may be empty.", []string{"one.int="}, "--param one.int: want an integer, as the set has it, have nothing", ""},
		"null":          {"Nor is a null an integer.", []string{"one.int=null"}, "--param one.int: want an integer, as the set has it, have nil", ""},
		"several":       {"One value at a time.", []string{"one.int=1\n---\n2"}, "--param one.int: want an integer, as the set has it, have several documents", ""},
		"a trap": {
			"What YAML reads in two ways is refused here, too.",
			[]string{"one.bool=yes"},
			`--param one.bool:1:1: unquoted yes is not the same to all readers of YAML; write "yes" for the text, or true for the boolean`, "",
		},
		"no YAML": {
			"So is what is no YAML.",
			[]string{"one.list=[1"},
			`--param one.list:1:1: "[" is not closed; add the closing bracket`, "",
		},
		"two mistakes": {
			"All of them are told.",
			[]string{"one.int=x", "two.bool=x"},
			"--param one.int: want an integer, as the set has it, have a string\n--param two.bool: want a boolean, as the set has it, have a string", "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			one, two, errs := shownParams(t, tc.params)
			if len(errs) > 0 {
				one = errs.Error()
			}
			if diff := cmp.Diff([]string{tc.want, tc.two}, []string{one, two}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func shownParams(t *testing.T, texts []string) (one, two string, errs document.Errors) {
	t.Helper()
	var options rules.Options
	for _, text := range texts {
		param, err := rules.ParseParam(text)
		if err != nil {
			t.Fatal(err)
		}
		options.Params = append(options.Params, param)
	}
	var files []document.File
	for _, name := range []string{"one", "two"} {
		files = append(files, document.File{Name: name, Data: []byte(strings.ReplaceAll(parameterised, "NAME", name))})
	}
	set, errs := rules.Load(files, options)
	if len(errs) > 0 {
		return "", "", errs
	}
	for _, event := range set.Evaluate(snapshot(set, object(t, `{metadata: {name: n}}`))).Events {
		name, shown, _ := strings.Cut(event.Message, " ")
		if name == "one" {
			one = shown
		} else {
			two = shown
		}
	}
	return one, two, nil
}

// TestParamsOfNone holds what is said where there is nothing to replace.
func TestParamsOfNone(t *testing.T) {
	file := document.File{Name: "r.yaml", Data: []byte(head + "  rules: [{name: r, watch: tidbclusters, actions: [{event: {reason: R, message: m}}]}]")}
	_, errs := rules.Load([]document.File{file}, rules.Options{Params: []rules.Param{{Set: "set", Name: "x", Value: "1"}}})
	if want := "--param set.x: no set has this parameter; the sets have no params"; errs.Error() != want {
		t.Errorf("have %v, want %s", errs, want)
	}
}

// FuzzParam holds that no value makes a set panic, and that what is wrong is
// told of where it was given.
func FuzzParam(f *testing.F) {
	for _, seed := range []string{"one.int=5", "one.text=x", "one.list=[1, {a: b}]", "one.map={a: b}", "one.none=~", "one.bool=yes", "one.float=.5", "x", "one.int=!x 5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		param, err := rules.ParseParam(text)
		if err != nil {
			return
		}
		file := document.File{Name: "r.yaml", Data: []byte(strings.ReplaceAll(parameterised, "NAME", "one"))}
		set, errs := rules.Load([]document.File{file}, rules.Options{Params: []rules.Param{param}})
		for _, err := range errs {
			if !strings.HasPrefix(err.File, "--param ") || err.Render() == "" {
				t.Errorf("%q: an error elsewhere: %v", text, err)
			}
		}
		if (set == nil) == (len(errs) == 0) {
			t.Errorf("%q: set %v, %d errors", text, set, len(errs))
		}
	})
}
