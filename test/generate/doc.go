// Package generate makes random input for tests that check properties, with pgregory.net/rapid: YAML in all its styles,
// and files of rules that are mostly right. A generator shrinks what fails to something small, and with rapid.MakeFuzz
// the same property is a target that go test -fuzz drives.
package generate

import "pgregory.net/rapid"

// Evenly returns a number below n. Those of rapid are mostly small, which would choose the first options only; like
// them, this one shrinks to 0.
func Evenly(t *rapid.T, n int) int {
	return int(rapid.Uint64().Draw(t, "choice") * 0x9E3779B97F4A7C15 >> 32 % uint64(n))
}

// Chance is true so many times in a hundred.
func Chance(t *rapid.T, percent int) bool { return Evenly(t, 100) >= 100-percent }

// Of returns one of the options.
func Of[T any](t *rapid.T, options ...T) T { return options[Evenly(t, len(options))] }
