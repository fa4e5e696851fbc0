package controlplane

import "time"

// The time between two looks of Wait is a part of the time that has passed, within bounds: who waits long should leave
// the machine to others.
const (
	soonest = 20 * time.Millisecond
	latest  = 250 * time.Millisecond
	part    = 20
)

// Wait waits until the condition holds, for the limit at most, and reports whether it does.
func Wait(limit time.Duration, condition func() bool) bool {
	began := time.Now()
	for !condition() {
		passed := time.Since(began)
		if passed > limit {
			return false
		}
		<-time.After(min(max(passed/part, soonest), latest))
	}
	return true
}
