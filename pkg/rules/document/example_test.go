package document_test

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

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
