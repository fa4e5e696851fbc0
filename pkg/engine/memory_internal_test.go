package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestMemory(t *testing.T) {
	m := memory{records: map[Key]*record{}}
	key := Key{Name: "a"}
	first := m.of(key, types.UID("1"))
	first.separate = true
	if again := m.of(key, types.UID("1")); again != first {
		t.Error("the record of an object was lost")
	}
	if other := m.of(key, types.UID("2")); other.separate {
		t.Error("another object of the same name has the record of the first")
	}
	if len(m.keys()) != 1 {
		t.Errorf("remembers %v, want one key", m.keys())
	}
	m.forget(key)
	if len(m.keys()) != 0 {
		t.Errorf("remembers %v after it forgot", m.keys())
	}
}

func TestOlder(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"9", "10", true},
		{"10", "9", false},
		{"10", "10", false},
		{"18446744073709551616", "18446744073709551617", true},
		{"10", "", false},
		{"", "10", false},
		{"abc", "abd", false},
	} {
		if got := older(tc.a, tc.b); got != tc.want {
			t.Errorf("older(%q, %q) = %v", tc.a, tc.b, got)
		}
	}
}
