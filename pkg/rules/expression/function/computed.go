package function

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// readQuantity and readSemver read arguments once; see [Param.Parse].
func readQuantity(b *value.Budget, v any) (any, error) {
	if err := b.Conversion(); err != nil {
		return nil, err
	}
	return boxed(value.ParseAmount(v))
}

func readSemver(b *value.Budget, v any) (any, error) {
	if err := b.Conversion(); err != nil {
		return nil, err
	}
	return boxed(value.ParseVersion(v))
}

// given returns what the parameter has read.
func given(_ *value.Budget, args []any) (any, error) { return args[0], nil }

// seconds returns a duration, or a time since 1970, as whole seconds and the
// billionths beyond them; ok is false for anything else.
func seconds(v any) (whole, billionths int64, ok bool) {
	switch v := v.(type) {
	case time.Duration:
		return int64(v / time.Second), int64(v % time.Second), true
	case time.Time:
		return v.Unix(), int64(v.Nanosecond()), true
	default:
		return 0, 0, false
	}
}
