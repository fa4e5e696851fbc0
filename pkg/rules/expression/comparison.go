package expression

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

func (o *operation) equal(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	same, err := alike(e, left, right)
	return same, o.at.Locate(err)
}

func (o *operation) unequal(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	same, err := alike(e, left, right)
	return !same, o.at.Locate(err)
}

// alike is equality, for which a text beside a time is a time, and so on. Within
// lists and maps it is not.
func alike(e *Evaluation, left, right any) (bool, error) {
	left, right, err := value.Align(left, right, e.Budget)
	if err != nil {
		return false, err
	}
	return value.Equal(left, right, e.Budget)
}

func (o *operation) ordering() evaluator {
	holds := map[string]func(order int) bool{
		"<":  func(order int) bool { return order < 0 },
		"<=": func(order int) bool { return order <= 0 },
		">":  func(order int) bool { return order > 0 },
		">=": func(order int) bool { return order >= 0 },
	}[o.operator]
	return func(e *Evaluation) (any, error) {
		left, right, err := o.operands(e)
		if err != nil {
			return nil, err
		}
		if left, right, err = value.Align(left, right, e.Budget); err != nil {
			return nil, o.at.Locate(err)
		}
		order, ok := value.Compare(left, right)
		if !ok {
			return nil, o.mismatch(left, right, value.Number|value.String|value.Computed)
		}
		return holds(order), nil
	}
}

// mismatch is the error that the operands do not go together, although one of
// them may be of a kind that the operator takes.
func (o *operation) mismatch(left, right any, kinds value.Kind) *Error {
	leftKind, rightKind := value.KindOf(left), value.KindOf(right)
	if leftKind&kinds == 0 {
		return o.left.wants(o.operator, wanted(rightKind, kinds), left)
	}
	if rightKind&kinds == 0 {
		return o.right.wants(o.operator, wanted(leftKind, kinds), right)
	}
	failure := o.at.Errorf("%s has %s on one side and %s on the other", o.operator, leftKind, rightKind)
	if (leftKind|rightKind)&value.String != 0 && o.operator == "+" {
		return failure.WithHint("write string(x) to join texts, or int(x) to add")
	}
	if (leftKind|rightKind)&value.Computed != 0 {
		return failure
	}
	return failure.WithHint("write int(x) or string(x) around one")
}

// wanted narrows what an operator takes to what goes with the other side, or
// without such a side to what is usual.
func wanted(other, kinds value.Kind) value.Kind {
	if other&value.Number != 0 && kinds&value.Number != 0 {
		return kinds & value.Number
	}
	if other&kinds != 0 {
		return other
	}
	return kinds &^ value.Computed
}

func (o *operation) onStrings(test func(text, part string) bool) evaluator {
	return func(e *Evaluation) (any, error) {
		left, right, err := o.operands(e)
		if err != nil {
			return nil, err
		}
		text, ok := left.(string)
		if !ok {
			failure := o.left.wants(o.operator, value.String, left)
			if value.KindOf(left)&(value.List|value.Map) != 0 {
				failure.Hint = "write x in list"
			}
			return nil, failure
		}
		part, ok := right.(string)
		if !ok {
			return nil, o.right.wants(o.operator, value.String, right)
		}
		if err := e.Budget.Steps(len(text) / 8); err != nil {
			return nil, o.at.Locate(err)
		}
		return test(text, part), nil
	}
}

// in looks for an element of a list or a key of a map; what is absent has none.
func (o *operation) in(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	switch container := right.(type) {
	case nil:
		return false, nil
	case []any:
		return o.among(e, left, container)
	case map[string]any:
		key, ok := left.(string)
		if !ok && left != nil {
			return nil, o.left.wants("in of a map", value.String, left)
		}
		_, found := container[key]
		return found && ok, nil
	default:
		failure := o.right.wants("in", value.List|value.Map, right)
		if value.KindOf(right) == value.String {
			failure.Hint = "write text contains part"
		}
		return nil, failure
	}
}

func (o *operation) among(e *Evaluation, v any, list []any) (any, error) {
	if err := e.Budget.Steps(len(list)); err != nil {
		return nil, o.at.Locate(err)
	}
	for _, element := range list {
		if same, err := alike(e, v, element); err != nil || same {
			return same, o.at.Locate(err)
		}
	}
	return false, nil
}
