package controlplane

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		holds := Wait(time.Minute, func() bool {
			looks++
			return time.Since(began) >= 10*time.Second
		})
		if took := time.Since(began); !holds || took > 10*time.Second+latest {
			t.Errorf("it holds: %t, after %s", holds, took)
		}
		if looks < 40 || looks > 120 {
			t.Errorf("%d looks in ten seconds", looks)
		}
		began = time.Now()
		if Wait(time.Second, func() bool { return false }) {
			t.Error("what does not hold does")
		}
		if took := time.Since(began); took < time.Second || took > time.Second+latest {
			t.Errorf("it was given up after %s, want a second", took)
		}
	})
}
