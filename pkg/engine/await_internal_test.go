package engine

import "testing"

func TestWaiters(t *testing.T) {
	m := newMemory()
	child, a, b := objectNamed("child").Object(), objectNamed("a"), objectNamed("b")
	m.seen(child, a) // Who does not wait.
	m.wait(child, a)
	m.wait(child, a)
	m.wait(child, b)
	if got := m.waiters(child); len(got) != 2 {
		t.Errorf("%v wait, want a and b", got)
	}
	m.seen(child, a)
	if got := m.waiters(child); len(got) != 1 || got[0] != b {
		t.Errorf("%v wait, want b", got)
	}
	m.seen(child, b)
	if len(m.waiting) != 0 || m.waiters(child) != nil {
		t.Errorf("left: %v", m.waiting)
	}
}
