package document_test

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

type rule struct {
	name   string
	mode   string
	when   *document.Node
	labels []string
}

// decodeRule lists the fields of a rule.
func decodeRule(r *rule) document.Decoder {
	return document.Fields(
		document.Required("name", document.String(&r.name)),
		document.Optional("mode", document.OneOf(&r.mode, "Enforce", "Audit")),
		document.Optional("when", document.Raw(&r.when)),
		document.Optional("labels", document.List(&r.labels, document.String)),
	)
}

func Example() {
	roots, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(`
rules:
- name: pd-quorum
  when: |
    pd > 0 &&
    pdd % 2 == 0
  labels: [app, on]
- mode: Enfroce
  wehn: true
`)})
	var rules []rule
	for _, root := range roots {
		errs = append(errs, root.Decode(
			document.Required("rules", document.List(&rules, decodeRule)),
		)...)
	}
	// An expression's compiler knows where in the text it stumbled.
	errs = append(errs, rules[0].when.ErrorAt(len("pd > 0 &&\n"), len("pdd"), "did you mean pd?", "unknown name pdd"))

	fmt.Print(errs.Sorted().Render())
	// Output:
	// rules.yaml:6:5: rules[0].when: unknown name pdd
	//   6 |     pdd % 2 == 0
	//     |     ^^^
	//   hint: did you mean pd?
	//
	// rules.yaml:7:17: rules[0].labels[1]: unquoted on is not the same to all readers of YAML
	//   7 |   labels: [app, on]
	//     |                 ^^
	//   hint: write "on" for the text, or true for the boolean
	//
	// rules.yaml:8:3: rules[1]: the field "name" is missing
	//   8 | - mode: Enfroce
	//     |   ^
	//   hint: add name: ...
	//
	// rules.yaml:8:9: rules[1].mode: "Enfroce" is not known here
	//   8 | - mode: Enfroce
	//     |         ^^^^^^^
	//   hint: did you mean Enforce?
	//
	// rules.yaml:9:3: rules[1].wehn: unknown field "wehn"
	//   9 |   wehn: true
	//     |   ^^^^
	//   hint: did you mean "when"?
}

func ExampleNode_CutByComment() {
	roots, _ := document.Parse(document.File{Name: "rules.yaml", Data: []byte(`
when: all(pods, # > 0)
watch: pods # A comment behind a name is fine; behind an expression it may be a part of it.
`)})
	fmt.Print(roots[0].Get("when").CutByComment().Render())
	// Output:
	// rules.yaml:2:17: when: the value ends before " #", which starts a comment
	//   2 | when: all(pods, # > 0)
	//     |                 ^^^^^^
	//   hint: put the value in quotes if "#" belongs to it, or else the comment on a line of its own
}

func ExampleSuggest() {
	fmt.Println(document.Suggest("replcias", []string{"name", "replicas", "resources"}))
	// Output: replicas
}
