package scenario

// LimitMoments sets how often time may be stopped at within one step.
func (s *Scenario) LimitMoments(most int) { s.moments = most }
