package function

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// What parameters take, by the short names that keep the rows readable. A list
// or a map may be absent, as Kubernetes does not tell that from an empty one.
const (
	aList     = value.List | value.Nil
	aMap      = value.Map | value.Nil
	aText     = value.String
	anInteger = value.Int
	aNumber   = value.Number
	aSummand  = value.Number | value.Quantity | value.Duration
	aMeasure  = value.Number | value.Computed
	anything  = value.Any | value.Computed
	present   = anything &^ value.Nil
	// result is what a predicate may give that nothing looks at.
	result = anything | value.Omission | value.Stamped
)

func takes(name string, kinds value.Kind) Param { return Param{Name: name, Kinds: kinds} }

func optional(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Optional: true}
}

func several(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Variadic: true}
}

func predicate(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Predicate: true}
}

// table is the rows of all subjects in the order of the reference. It is never
// changed; [All] copies it.
var table = slices.Concat(
	predicateRows, listRows, mapRows, kubernetesRows, textRows, numberRows, timeRows, computedRows,
	conversionRows, networkRows, absenceRows,
)
