package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// Reserved reports whether name is a function here, in expr or in what the
// language will have, and so cannot name a value.
func Reserved(name string) bool {
	_, found := Lookup(name)
	return found || missing(name) != nil
}

// Refused returns why a name that users may expect is not a function, or nil if
// the name means nothing.
func Refused(name string) *value.Fault {
	if fault := missing(name); fault != nil {
		return fault
	}
	return habit(name)
}

// missing knows the names that are reserved although they are not in the table.
func missing(name string) *value.Fault {
	switch name {
	case "now":
		return value.Faultf("there is no now(), because the same objects must always give the same answer").
			WithHint("write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time")
	case "date", "timezone":
		return value.Faultf("there is no function %q, because times are RFC 3339 strings", name).
			WithHint("write timestamp(text)")
	case "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr":
		return value.Faultf("there is no function %q, because rules have no bit operations", name)
	default:
		return nil
	}
}

// habit knows what other languages call things.
func habit(name string) *value.Fault {
	if name == "Now" || name == "time_now" || name == "currentTime" {
		return missing("now")
	}
	if hint := habits[name]; hint != "" {
		return value.Faultf("there is no function %q", name).WithHint("%s", hint)
	}
	return nil
}

// habits are what to write instead.
var habits = habitsOf(map[string][]string{
	"compare with nil, as in object.spec.x != nil": {"has"},
	"write len(x)":                                    {"size", "length"},
	"write len(x) == 0":                               {"isEmpty", "is_empty", "empty"},
	"write any(list, condition)":                      {"exists", "some"},
	"write one(list, condition)":                      {"exists_one"},
	`write duration(x) / "1h" for a number of hours`:  {"Hours", "Minutes", "Seconds", "getHours", "getMinutes", "getSeconds"},
	"write url(text), which is a map":                 {"isURL", "getHost", "getPort"},
	"write upper(text)":                               {"toUpper", "upperAscii", "to_upper"},
	"write lower(text)":                               {"toLower", "lowerAscii", "to_lower"},
	"write int(x)":                                    {"parseInt", "parse_int", "toInt", "to_int", "to_number", "atoi"},
	"write float(x)":                                  {"parseFloat", "to_float", "double"},
	`write "a " + string(x), or a template: "a ${x}"`: {"format", "printf", "sprintf"},
	`write text matches "^a+$"`:                       {"regex_match", "regexMatch", "regex", "match", "re_match"},
	"other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}": {"lookup"},
	"write a > b, with quantity(...), semver(...) or timestamp(...) around one":               {"isGreaterThan", "isLessThan", "compareTo"},
})

func habitsOf(hints map[string][]string) map[string]string {
	out := map[string]string{}
	for hint, names := range hints {
		for _, name := range names {
			out[name] = hint
		}
	}
	return out
}
