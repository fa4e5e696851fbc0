package limit

import "time"

// late is longer than it takes from counting until a write is answered, which is when it
// begins to count for a window.
const late = time.Minute

// base is of how many objects a limit is a share: the most that there were since the window
// began. What a rule deletes, or has leave its selection, takes nothing of its share. The
// zero value has counted nothing. It is not for concurrent use.
type base struct {
	counts []counted // ever fewer objects, so the first is the most
}

// counted is how many objects there were.
type counted struct {
	objects int
	at      time.Time
}

// add takes a count, and forgets those from before a window of that length. It never has
// more than there are counts in a window, nor than there were objects.
func (b *base) add(objects int, now time.Time, per time.Duration) {
	first := 0
	for first < len(b.counts) && now.Sub(b.counts[first].at) >= per+late {
		first++
	}
	last := len(b.counts)
	for last > first && b.counts[last-1].objects <= objects {
		last--
	}
	b.counts = append(b.counts[first:last], counted{objects, now})
}

func (b *base) empty() bool { return len(b.counts) == 0 }

func (b *base) reset() { b.counts = nil }

// most is zero where nothing was counted.
func (b *base) most() int {
	if b.empty() {
		return 0
	}
	return b.counts[0].objects
}
