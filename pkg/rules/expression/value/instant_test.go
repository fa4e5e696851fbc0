package value_test

import (
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestInstantIsWallClock makes sure that a moment taken from the running clock is
// compared with times that were read from texts as these are with each other.
func TestInstantIsWallClock(t *testing.T) {
	running := time.Now()
	if at := value.NewInstant(running); at.Now() != running.Round(0) {
		t.Errorf("Now() = %v, which is not only %v", at.Now(), running.Round(0))
	}
}
