package limit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
)

// TestHoldOf holds what is told apart, and in which words, however deep the error is.
func TestHoldOf(t *testing.T) {
	tests := map[string]struct {
		err  error
		want limit.Hold
		word string
	}{
		"another error":      {errors.New("the API server refuses it"), limit.HoldNone, "failed"},
		"no error":           {nil, limit.HoldNone, "failed"},
		"a later wave":       {&limit.RolloutError{Wave: 1, Waves: 3}, limit.HoldWave, "waiting"},
		"not all looked at":  {limit.ErrUnseen, limit.HoldWave, "waiting"},
		"a wave not stored":  {limit.ErrUnstored, limit.HoldWave, "waiting"},
		"paused":             {&limit.PausedError{}, limit.HoldPause, "paused"},
		"other writes":       {limit.ErrBusy, limit.HoldPasses, "failed"},
		"not all listed":     {limit.ErrUncounted, limit.HoldPasses, "failed"},
		"inventory not read": {limit.ErrUnknown, limit.HoldPasses, "failed"},
	}
	for name, tc := range tests {
		for _, err := range []error{tc.err, fmt.Errorf("not now: %w", tc.err)} {
			if got := limit.HoldOf(err); got != tc.want || got.String() != tc.word {
				t.Errorf("%s: have %d (%s), want %d (%s)", name, got, got, tc.want, tc.word)
			}
		}
	}
}
