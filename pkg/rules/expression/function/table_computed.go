package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// computedRows give the values that a body holds as strings. A constant is read
// once, so that a mistake in it is found before anything runs.
var computedRows = []Function{
	{
		Name: "quantity", call: given, Result: value.Quantity,
		Params: []Param{{Name: "x", Kinds: aNumber | aText | value.Quantity, parse: readQuantity}},
		Doc: "The quantity, as of memory or of processors, that a text or a number writes. Quantities compare, add and subtract, " +
			"also with a text or a number on one side; a body holds them in their canonical form.",
		Example: Example{`quantity("1Gi") + "512Mi"`, `"1536Mi"`},
	},
	{
		Name: "semver", call: given, Result: value.Semver,
		Params: []Param{{Name: "x", Kinds: aText | value.Semver, parse: readSemver}},
		Doc: "The semantic version that a text writes; a leading v and numbers missing at the end do no harm. Versions compare by " +
			"precedence, which ignores build metadata, also with a text on one side.",
		Example: Example{`semver("v1.10.0") > "1.9"`, "true"},
	},
	{
		Name: "duration", call: given, Result: value.Duration,
		Params: []Param{{Name: "x", Kinds: aDuration, parse: readDuration}},
		Doc: `The duration that a text such as "1w2d3h4m5s" or a number of seconds writes. Durations compare, add and subtract, also with ` +
			"a text or seconds on one side; multiplied or divided by an integer they are durations, by one another numbers.",
		Example: Example{`duration("1h") > "5m" ? 2 * duration("1d") : duration(0)`, `"48h0m0s"`},
	},
	{
		Name: "timestamp", call: given, Result: value.Time,
		Params: []Param{takesTime("x")},
		Doc: "The time that a text in RFC 3339 writes. Times compare, also with a text on one side; one less another is a duration, " +
			"and with a duration, its text or seconds added or subtracted it is a time in its zone.",
		Example: Example{`timestamp("2026-01-01T00:00:00Z") - "90m"`, `"2025-12-31T22:30:00Z"`},
	},
}
