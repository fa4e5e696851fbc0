package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// Times and durations may be written as Kubernetes writes them.
const (
	aTime     = value.Time | value.String
	aDuration = value.Duration | value.String | value.Int
)

func takesTime(name string) Param {
	return Param{Name: name, Kinds: aTime, parse: readTime}
}

// windowParams are those of the functions of windows.
var windowParams = []Param{
	{Name: "cron", Kinds: aText, parse: readCron},
	{Name: "duration", Kinds: aDuration, parse: readWindowLength},
	{Name: "zone", Kinds: aText, parse: readZone, Optional: true},
}

var timeRows = []Function{
	{
		Name: "after", timed: after, Params: []Param{takesTime("time")}, Result: value.Bool,
		Doc:     "Whether the time has come, to the instant.",
		Example: Example{`after("2026-01-01T00:00:00Z")`, "true"},
	},
	{
		Name: "before", timed: before, Params: []Param{takesTime("time")}, Result: value.Bool,
		Doc:     "Whether the time has yet to come.",
		Example: Example{`before("2026-01-01T09:00:00+01:00")`, "true"},
	},
	{
		Name: "olderThan", timed: olderThan, Result: value.Bool,
		Params:  []Param{takesTime("time"), {Name: "duration", Kinds: aDuration, parse: readDuration}},
		Doc:     `Whether at least the duration has passed since the time. It is a text such as "1w2d3h4m5s", or a number of seconds.`,
		Example: Example{`olderThan("2025-12-25T00:00:00Z", "1w")`, "true"},
	},
	{
		Name: "inWindow", timed: inWindow, Params: windowParams, Result: value.Bool,
		Doc: "Whether a window is open that begins whenever the cron schedule says (five fields, or a name such as @daily) and lasts " +
			"for the duration. The zone is a name of the IANA database, or else UTC: " +
			"where its clocks skip an hour, no window begins in it; where they repeat one, its windows begin twice.",
		Example: Example{`inWindow("0 22 * * 1-5", "8h", "Europe/Berlin")`, "true"},
	},
	{
		Name: "window", timed: window, types: typeWindow, Params: windowParams, Result: value.Map | value.Nil,
		Doc:     "The window of inWindow that began last, as start and end in its zone, or nil where none is open.",
		Example: Example{`window("0 22 * * *", "8h", "Europe/Berlin")`, `{"end":"2026-01-01T06:00:00+01:00","start":"2025-12-31T22:00:00+01:00"}`},
	},
	{
		Name: "stamp", call: stamp, Result: value.Stamped,
		Doc: "The time of writing, for a body alone: nothing can read it. What is there stays, unless something else in the " +
			"same map changes.",
		Example: Example{`{phase: "Ready", since: stamp()}`, `{"phase":"Ready","since":"2026-01-01T00:00:00Z"}`},
	},
	{
		Name: "setCondition", timed: setCondition, flow: flowSetCondition, types: typeSetCondition, Result: value.List | value.Nil,
		Params: []Param{takes("list", aList), takes("condition", aMap)},
		Doc: "The list with the condition in place of the one of its type. Nothing of the old one stays but lastTransitionTime, " +
			"and that only while status is the same. A nil condition changes nothing.",
		Example: Example{
			`setCondition([], {type: "Ready", status: "True", reason: "Up"})`,
			`[{"lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Up","status":"True","type":"Ready"}]`,
		},
	},
}
