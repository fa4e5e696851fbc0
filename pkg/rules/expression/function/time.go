package function

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// readTime and readDuration read arguments once; see [Param.Parse].
func readTime(b *value.Budget, v any) (any, error) {
	if err := reading(b); err != nil {
		return nil, err
	}
	return boxed(value.ParseTime(v))
}

func readDuration(b *value.Budget, v any) (any, error) {
	if err := reading(b); err != nil {
		return nil, err
	}
	return boxed(value.ParseDuration(v))
}

// reading spends what it takes to read one.
func reading(b *value.Budget) error {
	if err := b.Steps(10); err != nil {
		return err
	}
	return b.Bytes(32)
}

// boxed keeps an error from having a value.
func boxed[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// timeArg is textArg for a time that the parameter has read.
func timeArg(args []any, i int) time.Time {
	t, _ := args[i].(time.Time)
	return t
}

// durationArg is timeArg for a duration.
func durationArg(args []any, i int) time.Duration {
	d, _ := args[i].(time.Duration)
	return d
}

func after(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return reached(at, timeArg(args, 0)), nil
}

func before(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return !reached(at, timeArg(args, 0)), nil
}

func olderThan(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return reached(at, timeArg(args, 0).Add(durationArg(args, 1))), nil
}

// reached reports whether t is not in the future.
func reached(at *value.Instant, t time.Time) bool {
	at.ChangesAt(t)
	return !at.Now().Before(t)
}

// stamp is a value of its own, since only whoever writes it knows the moment and
// what is there already.
func stamp(*value.Budget, []any) (any, error) { return value.Stamp{}, nil }

// written returns a time as Kubernetes writes it.
func written(t time.Time) (string, error) {
	if year := t.Year(); year < 0 || year > 9999 {
		return "", value.Faultf("a time of the year %d cannot be written as RFC 3339", year)
	}
	return t.Format(time.RFC3339), nil
}
