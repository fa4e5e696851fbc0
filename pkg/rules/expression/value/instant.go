package value

import "time"

// Instant is the moment of an evaluation. It collects when the answers that
// were given for that moment will change. A nil Instant is no moment: what asks
// for one fails. It is not safe for concurrent use.
type Instant struct {
	now, next time.Time
}

// NewInstant returns the moment now, of which the wall clock counts.
func NewInstant(now time.Time) *Instant { return &Instant{now: now.Round(0)} }

// Now returns the moment.
func (i *Instant) Now() time.Time { return i.now }

// ChangesAt records that an answer that was given changes at a moment. What lies
// in the past changes nothing any more.
func (i *Instant) ChangesAt(at time.Time) {
	if at.After(i.now) && (i.next.IsZero() || at.Before(i.next)) {
		i.next = at
	}
}

// Next returns the earliest moment at which an answer changes, or zero where none
// does.
func (i *Instant) Next() time.Time { return i.next }
