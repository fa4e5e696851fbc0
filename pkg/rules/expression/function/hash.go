package function

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func digest(b *value.Budget, text string) ([sha256.Size]byte, error) {
	// A block takes some 300 ns without the help of the processor.
	if err := b.Steps(20 + len(text)/4); err != nil {
		return [sha256.Size]byte{}, err
	}
	if err := b.Bytes(len(text)); err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256([]byte(text)), nil
}

func sha256Hex(b *value.Budget, args []any) (any, error) {
	sum, err := digest(b, textArg(args, 0))
	if err != nil {
		return nil, err
	}
	if err := b.Text(4 * len(sum)); err != nil {
		return nil, err
	}
	return hex.EncodeToString(sum[:]), nil
}

// jitter must give the same for ever: what rules have written depends on it.
func jitter(b *value.Budget, args []any) (any, error) {
	sum, err := digest(b, textArg(args, 0))
	if err != nil {
		return nil, err
	}
	draw := binary.BigEndian.Uint64(sum[:])
	low, fromInt := args[1].(int64)
	high, toInt := args[2].(int64)
	if fromInt && toInt {
		return between(draw, low, high)
	}
	from, err := value.ParseDuration(args[1])
	if err != nil {
		return nil, err
	}
	to, err := value.ParseDuration(args[2])
	if err != nil {
		return nil, err
	}
	unit := unitOf(from, to)
	n, err := between(draw, int64(from/unit), int64(to/unit))
	return time.Duration(n) * unit, err
}

// between picks one of the integers from low to high, both included.
func between(draw uint64, low, high int64) (int64, error) {
	if low > high {
		return 0, value.Faultf("jitter wants bounds in order, and the lower one is above the other")
	}
	offset := draw
	if n := uint64(high) - uint64(low) + 1; n != 0 { // 0 stands for all 2^64.
		offset, _ = bits.Mul64(draw, n)
	}
	return int64(uint64(low) + offset), nil
}

// unitOf returns the largest unit of which both are multiples, so that durations
// look like those that they are between.
func unitOf(a, b time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if a%unit == 0 && b%unit == 0 {
			return unit
		}
	}
	return time.Nanosecond
}
