package value

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	tests := map[string]struct {
		reason string
		spend  func(b *Budget) error
		ok     bool
	}{
		"all steps":           {"the floor itself is there", func(b *Budget) error { return b.Steps(floorSteps) }, true},
		"more steps":          {"one more is not", func(b *Budget) error { return b.Steps(floorSteps + 1) }, false},
		"all bytes":           {"the floor itself is there", func(b *Budget) error { return b.Bytes(floorBytes) }, true},
		"more bytes":          {"one more is not", func(b *Budget) error { return b.Bytes(floorBytes + 1) }, false},
		"negative steps":      {"an overflow of the caller", func(b *Budget) error { return b.Steps(-1) }, false},
		"the largest steps":   {"it must not overflow", func(b *Budget) error { return b.Steps(math.MaxInt) }, false},
		"a text of the floor": {"its header counts too", func(b *Budget) error { return b.Text(floorBytes) }, false},
		"the largest list":    {"it must not overflow", func(b *Budget) error { return b.List(maxAccountedSize - 1) }, false},
		"the largest map":     {"it must not overflow", func(b *Budget) error { return b.Map(maxAccountedSize - 1) }, false},
		"a large sort":        {"it takes more than one step per key", func(b *Budget) error { return b.Sort(floorSteps / 4) }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.spend(NewBudget(0))
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrBudget) {
				t.Errorf("%v, want success: %v, since %s", err, tt.ok, tt.reason)
			}
			if err := tt.spend(nil); err != nil {
				t.Errorf("without a budget: %v", err)
			}
		})
	}
}

func TestBudgetScales(t *testing.T) {
	const size = 8 << 20
	b := NewBudget(size)
	if err := b.Steps(floorSteps + size/inputPerStep); err != nil {
		t.Errorf("steps: %v", err)
	}
	if err := b.Bytes(floorBytes + size*bytesPerInput); err != nil {
		t.Errorf("bytes: %v", err)
	}
	if b.Steps(1) == nil || b.Bytes(1) == nil {
		t.Error("there is more than the input allows")
	}
	if err := NewBudget(-5).Steps(floorSteps); err != nil {
		t.Errorf("a negative size: %v", err)
	}
	if err := NewBudget(math.MaxInt).Steps(floorSteps); err != nil {
		t.Errorf("the largest size: %v", err)
	}
}

// TestLazyBudget measures only when it must, and again when the input has grown.
func TestLazyBudget(t *testing.T) {
	measured, size := 0, 4000
	b := NewLazyBudget(func() int { measured++; return size })
	if err := b.Steps(floorSteps); err != nil || measured != 0 {
		t.Errorf("the floor: %v, measured %d times", err, measured)
	}
	if err := b.Steps(1000); err != nil || measured != 1 {
		t.Errorf("what the input allows: %v, measured %d times", err, measured)
	}
	size = 8000
	if err := b.Steps(1000); err != nil || measured != 2 {
		t.Errorf("what the larger input allows: %v, measured %d times", err, measured)
	}
	size = 0 // An input cannot shrink; what was granted stays.
	if err := b.Bytes(floorBytes + 8000*bytesPerInput); err != nil {
		t.Errorf("bytes: %v", err)
	}
	steps, bytes := *b, *b
	if err := steps.Steps(1); !errors.Is(err, ErrBudget) {
		t.Errorf("beyond: %v, want one that wraps ErrBudget", err)
	}
	if err := bytes.Bytes(1); !errors.Is(err, ErrBudget) {
		t.Errorf("beyond: %v, want one that wraps ErrBudget", err)
	}
}

// TestSize compares with the JSON that it estimates.
func TestSize(t *testing.T) {
	for name, v := range map[string]any{
		"list": []any{"aaaa", int64(1000), true, nil, 1.25},
		"map":  map[string]any{"name": "basic", "labels": map[string]any{"app": "tidb", "env": "prod"}, "replicas": int64(3)},
		"text": strings.Repeat("a", 1000),
	} {
		text, err := JSON(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Size(v); got < len(text)*9/10 || got > len(text)*3/2 {
			t.Errorf("%s: Size = %d, and its JSON has %d", name, got, len(text))
		}
	}
}
