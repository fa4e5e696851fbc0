package worlds

import (
	"slices"
	"time"
)

// birth is when the time of a bubble begins.
var birth = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// order says which of several requests and events is next: as given for the first choices, later the first one always. A choice is not
// counted before a minute has gone by. An order is for one life.
type order struct {
	taken   []int
	several []int // of how many each choice was
	left    bool  // a choice was given that there was not
}

func (o *order) choose(n int) int {
	if n == 1 || time.Since(birth) < time.Minute {
		return 0
	}
	o.several = append(o.several, n)
	at := len(o.several) - 1
	if at >= len(o.taken) {
		return 0
	}
	if o.taken[at] >= n {
		o.left = true
		return n - 1
	}
	return o.taken[at]
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
