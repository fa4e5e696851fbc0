package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
)

// TestBadBranches looks at each value that ?? and ?: choose among.
func TestBadBranches(t *testing.T) {
	const label = "object.metadata.labels.n"
	checkMistakes(t, map[string]mistake{
		"a label is a text":        {"(object.metadata.labels.n ?? 0) > 3", 1, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and > wants a number", `write int(object.metadata.labels.n ?? "0")`},
		"on the right":             {"3 < (object.metadata.labels.n ?? 0)", 5, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and < wants a number", `write int(object.metadata.labels.n ?? "0")`},
		"in a sum":                 {"object.spec.pd.replicas + (object.metadata.labels.n ?? 1)", 27, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and + wants a number", `write int(object.metadata.labels.n ?? "1")`},
		"as a boolean":             {"(object.metadata.labels.n ?? false) && true", 1, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and && wants a boolean", `write (object.metadata.labels.n ?? "false") == "true"`},
		"in a predicate":           {"any(pods, .metadata.labels.n ?? false)", 10, ".metadata.labels.n", "type-mismatch", "it is a string where #.metadata.labels.n is present, and any wants a boolean", `write (#.metadata.labels.n ?? "false") == "true"`},
		"one of several":           {"(object.spec.tikv?.replicas ?? object.metadata.labels.n ?? 0) > 3", 31, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and > wants a number", `write int(object.metadata.labels.n ?? "0")`},
		"a minus":                  {"-(object.metadata.labels.n ?? 0)", 2, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and - wants a number, a quantity or a duration", `write int(object.metadata.labels.n ?? "0")`},
		"an index":                 {"pods[object.metadata.labels.n ?? 0]", 5, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and the index of a list wants an integer", `write int(object.metadata.labels.n ?? "0")`},
		"by default()":             {"default(object.metadata.labels.n, 0) > 3", 8, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and > wants a number", `write int(object.metadata.labels.n ?? "0")`},
		"by a variable":            {"let x = object.metadata.labels.n ?? 0; x > 3", 8, label, "type-mismatch", "it is a string where object.metadata.labels.n is present, and > wants a number", `write int(object.metadata.labels.n ?? "0")`},
		"a default in quotes":      {`(object.spec.tikv?.replicas ?? "0") > 3`, 31, `"0"`, "type-mismatch", "> wants a number, have a string", "write it without quotes: 0"},
		"a default without quotes": {`(object.spec.timeout ?? 0) startsWith "1"`, 24, "0", "type-mismatch", "startsWith wants a string, have an integer", `put it in quotes: "0"`},
		"a branch":                 {`(object.spec.pd.paused ? "a" : object.spec.pd.replicas) + "b"`, 31, "object.spec.pd.replicas", "type-mismatch", "+ wants a string, and object.spec.pd.replicas is an integer", "write string(object.spec.pd.replicas)"},
		"a branch of if":           {`upper(if object.spec.pd.paused { "a" } else { 1 })`, 46, "1", "type-mismatch", "upper wants a string, have an integer", `put it in quotes: "1"`},
		"a length":                 {"object.spec.names.length > 1", 18, "length", "type-mismatch", `object.spec.names is a list and has no field "length"`, "write len(object.spec.names)"},
		"the length of a text":     {"object.spec.version.size > 1", 20, "size", "type-mismatch", `object.spec.version is a string and has no field "size"`, "write len(object.spec.version)"},
		"a name among maps":        {`"a" in pods[0].spec.containers`, 4, "in", "never-true", "a string is never in a list of maps", `write any(pods[0].spec.containers, .name == "a")`},
		"a version and a number":   {"object.spec.version > 14", 20, ">", "type-mismatch", "> has a string on one side and an integer on the other", `write semver(object.spec.version) > semver("1.2.3") to compare versions, or int(x) around the text`},
		"a version that is absent": {`object.metadata.labels["a/version"] > "14"`, 0, `object.metadata.labels["a/version"]`, "may-be-absent", `object.metadata.labels["a/version"] may be absent, and > wants a string`, `write semver(object.metadata.labels["a/version"] ?? "0.0.0"), since texts are compared letter by letter`},
		"a boolean below":          {"object.spec.tikv.paused", 17, "paused", "may-be-absent", "object.spec.tikv may be absent, so object.spec.tikv.paused cannot be read", "write object.spec.tikv?.paused, which is nil then"},
		"a condition without type": {`setCondition(nil, {status: "True"})`, 18, "{", "missing-field", `a condition: the field "type" is missing`, "add type: ..."},
		"a second condition":       {`setCondition(nil, {type: "A", status: "True"}, {status: "True"})`, 47, "{", "missing-field", `a condition: the field "type" is missing`, "add type: ..."},
		"a condition's status":     {`setCondition(nil, {type: "A", status: object.spec.pd.paused})`, 38, "object.spec.pd.paused", "type-mismatch", "a condition: want a string, have a boolean", `write {type: "Ready", status: ready ? "True" : "False", reason: "AllUp"}`},
		"a literal status":         {`setCondition(nil, {type: "A", status: true})`, 38, "true", "type-mismatch", "a condition: want a string, have a boolean", `put it in quotes: "true"`},
		"one of two statuses":      {`setCondition(nil, object.spec.pd.paused ? {type: "A", status: object.spec.pd.paused ? "yes" : "True"} : nil)`, 86, `"yes"`, "not-in-enum", `a condition: want "True", "False" or "Unknown", have "yes"`, `write {type: "Ready", status: ready ? "True" : "False", reason: "AllUp"}`},
		"the type of a condition":  {`setCondition(nil, {type: 1, status: "True"})`, 25, "1", "type-mismatch", "a condition: want a string, have an integer", `put it in quotes: "1"`},
		"the number of a status":   {`setCondition(nil, {type: "A", status: object.spec.pd.replicas})`, 38, "object.spec.pd.replicas", "type-mismatch", "a condition: want a string, have an integer", `write {type: "Ready", status: ready ? "True" : "False", reason: "AllUp"}`},
	})
}

// TestBadLetBranch says of a let what is wrong where it is used.
func TestBadLetBranch(t *testing.T) {
	w := newWorld(t, cluster, "n", "object.metadata.labels.n ?? 0", "pick", `object.spec.pd.paused ? 1 : "a"`)
	for source, want := range map[string]string{
		"n > 3":    `n is a string where object.metadata.labels.n is present, and > wants a number; write int(object.metadata.labels.n ?? "0")`,
		"pick > 3": "pick can be a string, and > wants a number",
	} {
		_, errs := w.checked(t, source)
		if len(errs) != 1 || errs[0].Error() != want || errs[0].Offset != 0 {
			t.Errorf("%s: %v, want %s", source, errs, want)
		}
	}
}

// TestGoodBranches is about branches that are right, or are perhaps never taken.
func TestGoodBranches(t *testing.T) {
	w := newWorld(t, cluster, "n", "object.metadata.labels.n ?? 0", "m", "n", "other_type", `type(n) == "int"`)
	for source, reason := range map[string]string{
		`int(object.metadata.labels.n ?? "0") > 3`:                                             "it is a text in any case",
		`(object.metadata.labels.n ?? "false") == "true"`:                                      "texts are compared",
		`(object.metadata.labels.n ?? 0) == 0`:                                                 "equal to the default is absent",
		`type(n) == "int" && n > 3`:                                                            "whoever asks for the type knows it",
		`other_type && n > 3`:                                                                  "by a let, too",
		`type(n) == "string" ? int(n) > 3 : n > 3`:                                             "in each branch",
		`(type(n) == "string" ? int(n) : n) > 3`:                                               "and in the value that is chosen",
		`let x = object.metadata.labels.n ?? 0; type(x) == "int" && x > 3`:                     "of a variable",
		`(type(object.metadata.labels.n) == "string" ? 1 : object.metadata.labels.n ?? 0) > 3`: "of a path",
		`(object.spec.pd.replicas ?? "0") > 3`:                                                 "the default is never needed, as far as is known",
		`(anything ?? "a") > 3`:                                                                "nobody knows whether it can be absent",
		`(object.spec.pd.maxUnavailable ?? 0) > 3`:                                             "it may be an integer",
		`(object.spec.pd.storage ?? quantity("0")) < quantity("1Gi")`:                          "a text beside a quantity is read as one",
		`(params.least > 2 ? 1 : "a") > 0`:                                                     "the parameter decides",
		`(params.zone == "UTC" && params.least in [3] ? 1 : "a") > 0`:                          "several do",
		`(!(params.zone != "UTC") || object.spec.pd.paused ? 1 : "a") > 0`:                     "whatever the other says",
		`setCondition(nil, {type: "A", status: object.spec.version})`:                          "nobody knows what the text says",
		`setCondition(nil, merge({type: "A"}, {status: "True"}))`:                              "it is no literal",
		`setCondition(nil, {(object.spec.version): "A"})`:                                      "the keys are not known",
		`setCondition(nil, nil)`:                                                               "nil changes nothing",
	} {
		if _, errs := w.checked(t, source); len(errs) > 0 {
			t.Errorf("%s: %v, although %s", source, errs, reason)
		}
	}
}

// TestWritten lists what stands in a template.
func TestWritten(t *testing.T) {
	w := newWorld(t, cluster, "n", "object.metadata.labels.n ?? 0")
	for text, want := range map[string]string{
		"${1}":                                  "",
		"${object.spec.version}":                "",
		"${object.spec.timeout ?? 'a'}":         "object.spec.timeout {} where object.spec.timeout is present|'a' a",
		"${object.spec.pd.replicas ?? 'a'}":     "object.spec.pd.replicas {} where object.spec.pd.replicas is present",
		"${object.spec.pd.paused ? 1 : nil}":    "1 1",
		"${[1, object.spec.version]}":           "[0] 1 1|[1] object.spec.version {}",
		"${ {a: 1, b: {c: 2}} }":                "[a] 1 1|[b] { map[c:{}]|[b c] 2 2",
		"${n}":                                  "n {} where object.metadata.labels.n is present|n {}",
		"${anything ?? 1}":                      "anything {} where anything is present|1 1",
		"${params.least > 5 ? 1 : 2}":           "2 2",
		"${object.spec.pd.paused ? [] : [1]}":   "[ {}|[ [{}]|[0] 1 1",
		"a ${object.spec.timeout ?? 'a'} b":     "",
		"${map([1], object.spec.timeout ?? 2)}": "",
	} {
		template, err := expression.CompileTemplate(text, w.scope)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		given, _ := check.Template(template, w, nil)
		var got []string
		for _, one := range given.Written {
			path := ""
			if len(one.Path) > 0 {
				path = fmt.Sprint(one.Path) + " "
			}
			at := text[one.At.Offset:one.At.End()]
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s%s %v %s", path, at, one.Value, one.Where)))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s:\n got %s\nwant %s", text, strings.Join(got, "|"), want)
		}
	}
}

// TestManyBranches holds that following branches takes little.
func TestManyBranches(t *testing.T) {
	lets := []string{"a0", "object.metadata.labels.n ?? 0"}
	for i := range 40 {
		lets = append(lets, fmt.Sprintf("a%d", i+1), fmt.Sprintf("object.spec.pd.paused ? [a%d, a%d] : [a%d]", i, i, i))
	}
	w := newWorld(t, cluster, lets...)
	if _, errs := w.checked(t, "a40"); len(errs) > 0 {
		t.Errorf("%v", errs)
	}
	source := "let b0 = [1, 2]; "
	for i := range 40 {
		source += fmt.Sprintf("let b%d = [b%d, b%d]; ", i+1, i, i)
	}
	template, err := expression.CompileTemplate("${"+source+"b40}", w.scope)
	if err != nil {
		t.Fatal(err)
	}
	if given, _ := check.Template(template, w, nil); len(given.Written) > 1000 {
		t.Errorf("%d are listed", len(given.Written))
	}
}
