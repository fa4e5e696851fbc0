package controlplane

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// idle is a control plane that only seems to run.
func idle() *ControlPlane {
	return &ControlPlane{child: &child{exited: make(chan struct{})}, stopped: func() error { return nil }}
}

func TestPoolLends(t *testing.T) {
	started := 0
	p := NewPool(func(context.Context) (*ControlPlane, error) {
		started++
		return idle(), nil
	})
	var first, second *ControlPlane
	t.Run("two at a time", func(t *testing.T) {
		first = p.Lend(t)
		t.Run("another", func(t *testing.T) {
			if p.Of(t) != first {
				t.Error("a subtest has another control plane than its test")
			}
			second = p.Lend(t)
			if second == first || p.Of(t) != second {
				t.Error("a control plane is lent twice at a time")
			}
		})
		if p.Of(t) != first {
			t.Error("what a subtest got is that of its test")
		}
	})
	if started != 2 {
		t.Errorf("%d were started, want 2", started)
	}
	t.Run("one after the other", func(t *testing.T) {
		again := p.Lend(t)
		if again != first && again != second || started != 2 {
			t.Error("what was given back is not lent again")
		}
		close(again.child.exited)
	})
	t.Run("ended", func(t *testing.T) {
		for range 2 {
			select {
			case <-p.Lend(t).child.exited:
				t.Error("what has ended is lent")
			default:
			}
		}
	})
	r := &recorder{TB: t}
	if p.Of(r) != nil || !strings.Contains(r.failed, "no control plane was lent to TestPoolLends") {
		t.Errorf("a test that was lent none fails with %q", r.failed)
	}
	own := idle()
	p.Use(t, own)
	if p.Of(t) != own {
		t.Error("a control plane of the test's own is not that of the test")
	}
}

func TestPoolFailsItsTest(t *testing.T) {
	p := NewPool(func(context.Context) (*ControlPlane, error) { return nil, errors.New("no room") })
	r := &recorder{TB: t}
	if c := p.Lend(r); c != nil || r.failed != "no room" {
		t.Errorf("Lend = %v, and the test failed with %q", c, r.failed)
	}
}

func TestPoolStopsAll(t *testing.T) {
	tests := map[string]struct {
		reason     string
		code, want int
		err        error
	}{
		"success": {"", 0, 0, nil},
		"failure": {"What the tests say counts.", 3, 3, nil},
		"ended":   {"A control plane that has failed may have made tests succeed.", 0, 1, errors.New("it was killed")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stopped := 0
			p := NewPool(func(context.Context) (*ControlPlane, error) {
				c := idle()
				c.stopped = func() error {
					stopped++
					if stopped == 1 {
						return tc.err
					}
					return nil
				}
				return c, nil
			})
			code := p.Main(func() int {
				t.Run("tests", func(t *testing.T) {
					p.Lend(t)
					p.Lend(t)
				})
				return tc.code
			})
			if code != tc.want || stopped != 2 {
				t.Errorf("%s\ncode = %d, want %d; %d were stopped, want 2", tc.reason, code, tc.want, stopped)
			}
		})
	}
}
