package expression_test

import (
	"errors"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// cluster resolves the only name of the examples.
type cluster map[string]any

func (c cluster) Value(int) (any, error) { return map[string]any(c), nil }

func ExampleProgram() {
	p, err := expression.Compile(`object.spec.replicas % 2 == 0`, expression.NewScope("object"))
	if err != nil {
		fmt.Println(err)
		return
	}
	names := cluster{"spec": map[string]any{"replicas": int64(4)}}
	even, err := p.EvalBool(&expression.Evaluation{Names: names, Budget: value.NewBudget(1000)})
	fmt.Println(even, err)
	// Output: true <nil>
}

func ExampleCompile_error() {
	source := `objct.spec.replicas > 3`
	_, err := expression.Compile(source, expression.NewScope("object"))
	if located, ok := errors.AsType[*expression.Error](err); ok {
		fmt.Println(source[located.Offset : located.Offset+located.Length])
		fmt.Println(located.Message)
		fmt.Println(located.Hint)
	}
	// Output:
	// objct
	// unknown name "objct"
	// did you mean "object"?
}

func ExampleTemplate() {
	scope := expression.NewScope("object")
	names := cluster{"spec": map[string]any{"replicas": int64(4)}}
	for _, text := range []string{"${object.spec.replicas + 1}", "have ${object.spec.replicas}", "$${not}"} {
		template, err := expression.CompileTemplate(text, scope)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := template.Eval(&expression.Evaluation{Names: names})
		fmt.Printf("%T %v %v\n", v, v, err)
	}
	// Output:
	// int64 5 <nil>
	// string have 4 <nil>
	// string ${not} <nil>
}
