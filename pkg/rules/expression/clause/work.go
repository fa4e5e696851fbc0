package clause

// Work bounds what looking at many conditions may take, all in all. It is not for
// concurrent use.
type Work struct{ left int }

// NewWork allows for so many steps, each of which takes some 100 ns.
func NewWork(steps int) *Work { return &Work{left: steps} }

// Spend takes steps off, and reports whether there were as many.
func (w *Work) Spend(steps int) bool {
	w.left -= min(steps, w.left+1) // Not far below nothing, however much is asked for.
	return w.left >= 0
}

// Spent reports whether more was asked for than there was.
func (w *Work) Spent() bool { return w.left < 0 }
