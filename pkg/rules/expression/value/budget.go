package value

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrBudget is what every error about an exhausted [Budget] wraps.
var ErrBudget = errors.New("the evaluation is over its budget")

var (
	errSteps = fmt.Errorf("%w: too many steps for the data that is read", ErrBudget)
	errBytes = fmt.Errorf("%w: too much memory for the data that is read", ErrBudget)
)

// What an evaluation may use. A step is at most some 20 ns of work, so that the
// floor stays well within 50 ms of CPU time; bytes count everything ever allocated,
// freed or not, so that they bound the peak.
const (
	floorSteps       = 1_000_000
	floorBytes       = 4 << 20
	inputPerStep     = 4 // One more step for that many bytes of input.
	bytesPerInput    = 4 // That many bytes more for a byte of input.
	maxAccountedSize = 1 << 30
)

// What values cost, in bytes, as Go 1.26 lays them out on 64 bits.
const (
	sizeOfElement = 16
	sizeOfNumber  = 8
	sizeOfMap     = 336 // The header and one group of eight entries.
	sizeOfEntry   = 80  // Beyond eight, with the table half full.
)

// What computed values cost at most: reading or writing a quantity costs most.
const (
	stepsOfConversion = 50
	bytesOfConversion = 600
	// Comparing two versions takes longest.
	stepsOfComparison = 10
)

// Depth is how deep values may nest. It keeps recursion over a value, here and
// in whatever later writes it as JSON, far from the end of the stack.
const Depth = 256

var errDepth = Faultf("the value nests deeper than %d levels", Depth)

// Budget is what an evaluation may still spend. A nil Budget has no limits.
// It is not safe for concurrent use.
type Budget struct {
	steps, bytes int
	measure      func() int
	granted      int
}

// NewBudget returns the budget of one evaluation that reads inputSize bytes,
// counted as JSON. However small the input, there is a floor that an ordinary
// rule does not reach.
func NewBudget(inputSize int) *Budget {
	b := &Budget{steps: floorSteps, bytes: floorBytes}
	b.grant(inputSize)
	return b
}

// NewLazyBudget is NewBudget for an input that is not worth measuring before
// the floor is used up: only then is measure called, and again whenever what it
// granted is used up too, since an input can grow while it is read.
func NewLazyBudget(measure func() int) *Budget {
	return &Budget{steps: floorSteps, bytes: floorBytes, measure: measure}
}

// Spend spends steps and bytes, or returns an error that wraps [ErrBudget]. Callers
// ask before they allocate.
func (b *Budget) Spend(steps, bytes int) error {
	if b == nil {
		return nil
	}
	if steps < 0 || steps > maxAccountedSize {
		return errSteps
	}
	if bytes < 0 || bytes > maxAccountedSize {
		return errBytes
	}
	b.steps -= steps
	b.bytes -= bytes
	if b.steps < 0 || b.bytes < 0 {
		b.extend()
	}
	switch {
	case b.steps < 0:
		return errSteps
	case b.bytes < 0:
		return errBytes
	default:
		return nil
	}
}

// Steps spends n steps.
func (b *Budget) Steps(n int) error { return b.Spend(n, 0) }

// Bytes spends n bytes.
func (b *Budget) Bytes(n int) error { return b.Spend(0, n) }

// What is left to a rule in any case, when others have spent all that they
// share: some ten times what a typical one takes.
const (
	reservedSteps = 1_000
	reservedBytes = 4 << 10
)

// Reserve makes sure that a little is left, for one who shares the budget with
// others that may have used it up.
func (b *Budget) Reserve() {
	b.steps = max(b.steps, reservedSteps)
	b.bytes = max(b.bytes, reservedBytes)
}

// Text spends what a new string of n bytes costs.
func (b *Budget) Text(n int) error { return b.Spend(1+n/32, sizeOfElement+n) }

// List spends what a new list of n elements costs, without what they refer to.
func (b *Budget) List(n int) error { return b.Spend(1+n, (n+2)*sizeOfElement) }

// Map spends what a new map of n entries costs, without what they refer to.
func (b *Budget) Map(n int) error { return b.Spend(1+n, sizeOfMap+max(0, n-8)*sizeOfEntry) }

// Encoded spends what n values take as JSON, with texts of so many bytes in all.
func (b *Budget) Encoded(n, text int) error { return b.Spend(1+n+text/32, sizeOfNumber*n+text) }

// Conversion spends what it takes to make a computed value of a text, or back.
func (b *Budget) Conversion() error { return b.Spend(stepsOfConversion, bytesOfConversion) }

// Sort spends what putting n keys in order takes.
func (b *Budget) Sort(n int) error { return b.Spend(2*n*bits.Len(uint(n)), 0) }

func (b *Budget) extend() {
	if b.measure == nil {
		return
	}
	if size := b.measure(); size > b.granted {
		b.grant(size)
	}
}

// grant adds what an input of that size allows beyond what was granted before.
func (b *Budget) grant(inputSize int) {
	size := min(max(inputSize, b.granted), maxAccountedSize)
	b.steps += size/inputPerStep - b.granted/inputPerStep
	b.bytes += (size - b.granted) * bytesPerInput
	b.granted = size
}

// Size returns about how many bytes v has as JSON, for [NewBudget]. It is meant
// for input, which is a tree: shared parts count each time.
func Size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case []any:
		n := 2
		for _, element := range v {
			n += Size(element) + 1
		}
		return n
	case map[string]any:
		n := 2
		for key, element := range v {
			n += len(key) + Size(element) + 4
		}
		return n
	default:
		return 5
	}
}
