package quarantine

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// Object is one that an attempt was decided by, in the version that it saw or has left.
type Object struct {
	UID     types.UID
	Version string
}

// Grounds is what an attempt was decided by. It is comparable: a ward gives the same for the
// same, and but for a chance that need not be reckoned with, for no other. The zero value
// is of an attempt in which nothing was looked at.
type Grounds[R comparable] struct {
	objects uint64
	rules   R
}

// Grounds are those of an attempt that saw the objects, in whatever order, and was made by
// the rules.
func (w *Ward[K, R]) Grounds(objects []Object, rules R) Grounds[R] {
	out := Grounds[R]{rules: rules}
	for _, object := range objects {
		out.objects += maphash.Comparable(w.seed, object)
	}
	return out
}
