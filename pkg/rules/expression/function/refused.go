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
	fault := value.Faultf("there is no function %q", name)
	switch name {
	case "has":
		return fault.WithHint("compare with nil, as in object.spec.x != nil")
	case "size", "length":
		return fault.WithHint("write len(x)")
	case "exists":
		return fault.WithHint("write any(list, condition)")
	case "exists_one":
		return fault.WithHint("write one(list, condition)")
	case "Now":
		return missing("now")
	case "Hours", "Minutes", "Seconds", "getHours", "getMinutes", "getSeconds":
		return fault.WithHint(`write duration(x) / "1h" for a number of hours`)
	case "isURL", "getHost", "getPort":
		return fault.WithHint("write url(text), which is a map")
	case "isGreaterThan", "isLessThan", "compareTo":
		return fault.WithHint("write a > b, with quantity(...), semver(...) or timestamp(...) around one")
	case "toUpper", "upperAscii":
		return fault.WithHint("write upper(text)")
	case "toLower", "lowerAscii":
		return fault.WithHint("write lower(text)")
	default:
		return nil
	}
}
