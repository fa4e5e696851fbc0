// Package value is the algebra of the values that expressions work on: nil,
// bool, int64, float64, string, []any and map[string]any, as Kubernetes decodes
// JSON into unstructured objects, plus what only expressions have: quantities,
// versions, durations and times, which [Strip] turns into the strings that
// Kubernetes has for them, [Omitted] and [Stamp].
//
// Integers are exact: an operation either gives the int64 that mathematics
// gives or fails, and an integer equals a float only if both are the same
// number. No function here changes an argument, since values may belong to a
// shared cache; a result may alias one.
//
// Whatever takes longer or allocates more for larger values draws on a
// [Budget], which may be nil where the values are trusted.
//
// The package knows neither source text nor names: it reports what went wrong
// as a [Fault], and package expression says where.
package value
