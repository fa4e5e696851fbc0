package engine

import "time"

// longestLook bounds how far ahead an object is looked at again for the time
// alone: a clock that is set is noticed within it.
const longestLook = time.Minute

// lookAgain queues a settled object for when an answer that its rules used
// changes by itself.
func (e *Engine) lookAgain(key Key, at time.Time) {
	if !at.IsZero() {
		e.queue.AddAfter(key, min(e.until(at), longestLook))
	}
}

func (e *Engine) until(at time.Time) time.Duration { return at.Sub(e.options.Clock.Now()) }
