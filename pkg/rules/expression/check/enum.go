package check

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// outsideEnum reports a literal that is none of the values that a schema allows.
func (c *checker) outsideEnum(node expression.Node, t typing.Type, literal expression.Node) {
	v, is := expression.LiteralOf(literal)
	allowed, known := t.Constants()
	if !is || v == nil || !known || t.Schema() == nil || len(allowed) == 0 {
		return
	}
	for _, one := range allowed {
		if same, err := value.Equal(one, v, nil); same || err != nil {
			return
		}
	}
	hint := enumHint(constantText(v), constantTexts(t))
	if v == "" && t.CanBeNil() {
		hint = "what is absent is nil"
	}
	c.report(notInEnum, literal.Written().At.
		Errorf("%s is never %s", cmp.Or(node.Written().Text, "this"), constantText(v)).WithHint("%s", hint))
}

// constantTexts writes all that a value can be beside nil, if these are known.
func constantTexts(t typing.Type) []string {
	var texts []string
	all, _ := t.Constants()
	for _, v := range all {
		texts = append(texts, constantText(v))
	}
	return texts
}

func constantText(v any) string {
	if text, is := v.(string); is {
		return strconv.Quote(value.Excerpt(text))
	}
	return fmt.Sprint(v)
}

// enumHint names the value that was most likely meant, or the first few.
func enumHint(written string, names []string) string {
	if near := cmp.Or(sameWord(written, names), document.Suggest(written, names)); near != "" {
		return "did you mean " + near + "?"
	}
	const few = 8
	list := "it is one of "
	for i, name := range names {
		switch {
		case i == few:
			return list + ", ..."
		case i > 0:
			list += ", "
		}
		list += name
	}
	return list
}
