package engine

import (
	"strconv"
	"testing"
)

// TestOwnIsBounded holds that an object for which rules write without end does not take ever
// more memory, and that the last writes are known.
func TestOwnIsBounded(t *testing.T) {
	t.Parallel()
	n := changeTimes{since: map[Key]firstChange{}, own: map[Key][]version{}}
	key := Key{Namespace: "ns", Name: "a"}
	last := version{}
	for i := range 1000 {
		last = version{object: key.Object(), resource: strconv.Itoa(i)}
		n.wrote(key, last)
	}
	if got := len(n.own[key]); got != maxOwn {
		t.Errorf("%d writes are remembered, want %d", got, maxOwn)
	}
	n.begin(key, firstChange{version: last})
	if len(n.since) > 0 {
		t.Error("the echo of the last write counts as a change")
	}
}
