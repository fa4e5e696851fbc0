package worlds

import (
	"slices"
	"time"
)

// birth is when the time of a bubble begins.
var birth = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// order is which of several requests and events is next, at the first moments at which there are several; later the first one always is. It is
// of one life.
type order struct {
	taken   []int
	several []int // how many there were each time
}

func (o *order) choose(n int) int {
	if n == 1 || time.Since(birth) < time.Minute {
		return 0
	}
	o.several = append(o.several, n)
	if at := len(o.several) - 1; at < len(o.taken) {
		return min(o.taken[at], n-1)
	}
	return 0
}

// following is the order after this one, nil if all have been tried to the depth.
func (o *order) following(depth int) *order {
	taken := append(slices.Clone(o.taken), make([]int, max(0, len(o.several)-len(o.taken)))...)
	for at := min(depth, len(o.several)) - 1; at >= 0; at-- {
		if taken[at]++; taken[at] < o.several[at] {
			return &order{taken: taken[:at+1]}
		}
	}
	return nil
}
