package main

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
)

// liveHeap is what the garbage collector left alive, in MiB.
type liveHeap struct {
	peak, last int
}

// parseHeap reads the lines that GODEBUG=gctrace=1 has a process write among others.
func parseHeap(log io.Reader) (liveHeap, error) {
	// Of the three sizes, the first two are of the heap when the collection began and ended, the third of what is alive.
	sizes := regexp.MustCompile(`^gc \d+ @.* \d+->\d+->(\d+) MB, `)
	var h liveHeap
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		found := sizes.FindSubmatch(lines.Bytes())
		if found == nil {
			continue
		}
		live, err := strconv.Atoi(string(found[1]))
		if err != nil {
			return liveHeap{}, err
		}
		h = liveHeap{max(h.peak, live), live}
	}
	return h, lines.Err()
}
