package scenario

// LimitMoments sets how often time may be stopped at within one step, and returns what undoes that.
func LimitMoments(most int) (undo func()) {
	before := mostMoments
	mostMoments = most
	return func() { mostMoments = before }
}
