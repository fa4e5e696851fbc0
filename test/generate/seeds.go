package generate

import (
	"math/rand/v2"
	"testing"
)

// Seeds gives a target made by rapid.MakeFuzz what it draws from. A fuzzer that starts with nothing takes long to write
// enough for one run.
func Seeds(f *testing.F) {
	f.Helper()
	const runs, enough = 20, 16 << 10
	source := rand.NewChaCha8([32]byte{})
	for range runs {
		drawn := make([]byte, enough)
		if _, err := source.Read(drawn); err != nil {
			f.Fatal(err)
		}
		f.Add(drawn)
	}
}
