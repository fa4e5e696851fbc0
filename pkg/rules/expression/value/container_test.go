package value

import "testing"

func TestSlice(t *testing.T) {
	list := make([]any, 3, 10)
	part := Slice(list, 0, 2)
	_ = append(part, "overwritten")
	if list[2] != nil {
		t.Error("appending to a slice reached the list")
	}
	if got := Slice(nil, 0, 0); got == nil {
		t.Error("an empty slice is nil")
	}
	if got := Slice(list, 2, 1); len(got) != 0 {
		t.Errorf("backwards: %v", got)
	}
}
