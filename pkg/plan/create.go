package plan

// unnamed reports whether the API server will choose the name, which is then
// nobody else's.
func (w Wish) unnamed() bool { return w.Type == Create && w.Target.Name == "" }

// create is always one wish: nobody can say of two objects that they are the
// same before they are there.
func (b builder) create(joined *batch) *Operation {
	wish := joined.wishes[0]
	operation := joined.operation(Create)
	operation.Body = wish.fields()
	operation.Rules = []Rule{wish.Rule}
	operation.Predicted = wish.fields()
	operation.Changes = changes(wish.Rule, nil, wish.fields())
	return b.unlessKnown(operation)
}
