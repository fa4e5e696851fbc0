package redact

import "context"

// hidingKey is the key of the context for [Hiding].
type hidingKey struct{}

// Hiding returns a context that says which values must not be shown of what is done in it. They are asked for when they are
// first needed.
func Hiding(ctx context.Context, values func() *Values) context.Context {
	return context.WithValue(ctx, hidingKey{}, values)
}

// Hidden returns the values of [Hiding], nil where nobody has said which they are: then any text may be one.
func Hidden(ctx context.Context) *Values {
	values, said := ctx.Value(hidingKey{}).(func() *Values)
	if !said {
		return nil
	}
	return values()
}
