package expression

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// computedNames is an object with texts of computed values, and names for what
// they could be beside.
func computedNames() env {
	names := kindNames()
	names["object"] = map[string]any{
		"metadata": map[string]any{"creationTimestamp": "2026-01-01T00:00:00Z"},
		"spec":     map[string]any{"memory": "1Gi", "cpu": int64(2), "version": "v1.31.2", "timeout": "90s", "seconds": int64(90), "half": 0.5},
	}
	return names
}

func TestComputedOperators(t *testing.T) {
	const year = "2026-01-01T00:00:00Z"
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reason string
		source string
		want   any
	}{
		"a time before a text":             {"the text is read", `timestamp(object.metadata.creationTimestamp) < "2026-01-01T00:00:01Z"`, true},
		"a text before a time":             {"on either side", `"2025-12-31T23:59:59Z" < timestamp(object.metadata.creationTimestamp)`, true},
		"a time in another zone":           {"it is the same moment", `timestamp("2026-01-01T01:00:00+01:00") == object.metadata.creationTimestamp`, true},
		"not a time in another zone":       {"it is the same moment", `timestamp("2026-01-01T01:00:00+01:00") != object.metadata.creationTimestamp`, false},
		"a duration and a text":            {"the text is read", `duration("1h") > "5m"`, true},
		"a duration and seconds":           {"the number is seconds", "duration(object.spec.timeout) == object.spec.seconds", true},
		"weeks":                            {"Go has none", `duration("1w") == "7d"`, true},
		"a quantity and a text":            {"the text is read", `quantity(object.spec.memory) >= "1024Mi"`, true},
		"a text and a quantity":            {"on either side", `"900Mi" < quantity(object.spec.memory)`, true},
		"a quantity and a number":          {"cpu: 2 is a number in YAML", `quantity("1500m") < object.spec.cpu`, true},
		"a quantity and a float":           {"cpu: 0.5 is one too", `quantity("500m") == object.spec.half`, true},
		"a version and a text":             {"as numbers, not letters", `semver(object.spec.version) >= "1.9"`, true},
		"a pre-release":                    {"it comes before the release", `semver("1.31.0-rc.1") < "v1.31"`, true},
		"chained":                          {"each comparison reads on its own", `"1m" < duration(object.spec.timeout) <= "2m"`, true},
		"in a list of texts":               {"in is equality with any", `quantity("1Gi") in ["512Mi", "1024Mi"]`, true},
		"a text in a list of quantities":   {"on either side", `"1024Mi" in [quantity("1Gi")]`, true},
		"not in a list":                    {"in is equality with any", `duration("1h") not in ["1m", 60]`, true},
		"within a list nothing is read":    {"kinds are not guessed where nobody wrote an operator", `[duration("1h")] == ["1h"]`, false},
		"nil is none":                      {"what is absent is unequal", "duration(1) == absent || absent == timestamp(object.metadata.creationTimestamp)", false},
		"another kind is unequal":          {"as everywhere", `duration(1) == timestamp(object.metadata.creationTimestamp) || quantity(1) == true || semver("1") == 1`, false},
		"a time and a text of a duration":  {"+ moves a time", `timestamp("2026-01-01T00:00:00Z") + "90m"`, start.Add(90 * time.Minute)},
		"a time less seconds":              {"the number is seconds", "timestamp(object.metadata.creationTimestamp) - 30", start.Add(-30 * time.Second)},
		"a text of a time and a duration":  {"only a time can be meant", `object.metadata.creationTimestamp + duration("1h")`, start.Add(time.Hour)},
		"a time less a text of a time":     {"only a time can be meant", `timestamp("2026-01-01T01:00:00Z") - object.metadata.creationTimestamp`, time.Hour},
		"an integer times a duration":      {"it is one", `3 * duration("20m") == "1h"`, true},
		"a duration by an integer":         {"it is one", `duration("1h") / 4`, 15 * time.Minute},
		"a duration by a text":             {"how often it fits", `duration("1h") / "40m"`, 1.5},
		"quantities add up":                {"in the format of the first", `string(quantity("1Gi") + "512Mi" - 0)`, "1536Mi"},
		"less nothing":                     {"a sign turns it around", `string(-quantity("1Gi")) + string(-duration("1m")) + string(+duration("1m"))`, "-1Gi-1m0s1m0s"},
		"in a text":                        {"by their canonical form", `"within " + string(duration(90))`, "within 1m30s"},
		"a stamp goes through":             {"it is not read", `(absent ?? stamp())`, value.Stamp{}},
		"a stamp in a map goes through":    {"it is not read", `(yes ? {a: stamp()} : {}).a`, value.Stamp{}},
		"a stamp as a default":             {"it is not read", `default("", stamp())`, value.Stamp{}},
		"a list of stamps":                 {"they are not read", `len(map([1, 2], stamp()))`, int64(2)},
		"groups":                           {"it has a predicate", `map(groups([1, 2, 3], # > 1), .items)`, []any{[]any{int64(1)}, []any{int64(2), int64(3)}}},
		"groups by fields":                 {"a dot is the element's", `groups([{a: 1}, {a: 2}, {a: 1.0}], .a) | map(len(.items))`, []any{int64(2), int64(1)}},
		"groups of groups":                 {"calls nest", `len(groups(groups([1, 2, 3, 4], # % 2), len(.items))) + len(filter([1], groups([#], #) != []))`, int64(2)},
		"a text that says groups(":         {"it is no call", `"groups(" + "filter("`, "groups(filter("},
		"a field called groups":            {"it is no call", `{groups: 1}.groups`, int64(1)},
		"groups with its name and umlauts": {"characters are not bytes", `"ä" + groups(["ö"], #)[0].key`, "äö"},
		"a literal is read once":           {"the constant keeps its value", `all([1, 2], quantity("1Gi") == "1024Mi")`, true},
		"midnight has a short text":        {"and equals what is written longer", `string(timestamp("2026-01-01T00:00:00.000Z"))`, year},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEval(t, tt.source, computedNames())); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", tt.source, tt.reason, diff)
			}
		})
	}
}

// TestComputedTemplates writes computed values as a body holds them.
func TestComputedTemplates(t *testing.T) {
	names := computedNames()
	tests := map[string]struct {
		reason, text string
		want         any
	}{
		"inside a text": {"by the canonical form", `${quantity("1024Mi")}, ${semver("v1")}, ${duration(90)}, ${timestamp("2026-01-01T00:00:00+01:00")}`, "1Gi, 1.0.0, 1m30s, 2026-01-01T00:00:00+01:00"},
		"alone":         {"it becomes a text on its way", `${2 * duration("1h")}`, "2h0m0s"},
		"in a list":     {"at any depth", `${[{a: quantity("500m") + 1}]}`, []any{map[string]any{"a": "1500m"}}},
		"a stamp":       {"whoever writes it knows", `${{a: stamp(), b: omit()}}`, map[string]any{"a": value.Stamp{}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			template, err := CompileTemplate(tt.text, names.scope())
			if err != nil {
				t.Fatal(err)
			}
			e := &Evaluation{Names: names, Budget: value.NewBudget(0)}
			v, err := template.Eval(e)
			if err == nil {
				v, err = value.Strip(v, e.Budget)
			}
			if diff := cmp.Diff(tt.want, v); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
	template, err := CompileTemplate("at ${stamp()}", names.scope())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := template.Eval(&Evaluation{Names: names}); err == nil || err.Error() != value.ErrStamp.Message {
		t.Errorf("a stamp in a text is %v, %v", v, err)
	}
}
