package limit

import (
	"errors"
	"slices"
)

// Hold is how a [Guard] holds a rule back.
type Hold uint8

// The holds. One that passes is told as a failure where it has not passed by the end of a run.
const (
	HoldNone   Hold = iota // nothing is held back: the error is of something else
	HoldPasses             // other writes are under way, or something is to be listed or read
	HoldWave               // the turn of the object in the rollout is to come
	HoldPause              // a user has to look
)

// HoldOf tells why a rule has not written for an object. It is the one place that tells what waits, and what is paused, from what
// has failed.
func HoldOf(err error) Hold {
	is := func(why error) bool { return errors.Is(err, why) }
	_, wave := errors.AsType[*RolloutError](err)
	_, paused := errors.AsType[*PausedError](err)
	switch {
	case paused:
		return HoldPause
	case wave || slices.ContainsFunc([]error{ErrUnseen, ErrUnstored}, is):
		return HoldWave
	case slices.ContainsFunc([]error{ErrBusy, ErrUncounted, ErrUnknown}, is):
		return HoldPasses
	default:
		return HoldNone
	}
}

// String is what has become of the rule, in the words of reports.
func (h Hold) String() string {
	switch h {
	case HoldWave:
		return "waiting"
	case HoldPause:
		return "paused"
	default:
		return "failed"
	}
}
