package editor

import "strings"

// hole is what a template has. A text with one may become anything.
const hole = `\$\{`

const (
	namePattern      = `^[A-Za-z_][A-Za-z0-9_]*$`
	labelPattern     = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	subdomainPattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	durationPattern  = `^([0-9]+w)?([0-9]+d)?(\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$`
	percentPattern   = `^[0-9]+(\.[0-9]+)?%$`
	wordPattern      = `^[A-Z][A-Za-z0-9]{0,127}$`
)

// name takes what expressions can call a value.
func name() node { return matching(namePattern, "letters, digits and _, and no digit first") }

// label takes a DNS label.
func label() node {
	return matching(labelPattern, "lower-case letters, digits and -, at most 63, with a letter or a digit at both ends")
}

// subdomain takes a DNS subdomain.
func subdomain() node {
	return with(matching(subdomainPattern, "lower-case letters, digits, - and ., with a letter or a digit at both ends"), "maxLength", 253)
}

// notBlank takes a text in which something is written.
func notBlank() node { return matching(`\S`, "this is empty") }

// expression takes what can be the source of one: true and 5 are, too.
func expression() node {
	return node{"type": []string{"string", "boolean", "number"}, "pattern": `\S`, "patternErrorMessage": "an expression is empty"}
}

// condition is an expression that is true or false.
func condition() node {
	return node{"type": []string{"string", "boolean"}, "pattern": `\S`, "patternErrorMessage": "a condition is empty"}
}

// duration takes a text with units, or a number of seconds.
func duration() node {
	return node{
		"type": []string{"string", "integer"}, "minimum": 1, "minLength": 2,
		"pattern": durationPattern, "patternErrorMessage": "write it with units, such as 90s, 1h30m, 2d or 1w",
	}
}

// holdTime takes a duration, which a digit starts, or an expression.
func holdTime() node {
	out := with(duration(), "pattern", `^\s+\S|^[^0-9\s]|`+durationPattern)
	out["minLength"] = 1
	return out
}

// templated takes values of a kind, written out or as a template.
func templated(kind string) node {
	return node{"type": []string{kind, "string"}, "pattern": hole, "patternErrorMessage": orHole(kind)}
}

// orHole is what an editor says of a text that is neither of the kind nor a
// template.
func orHole(kinds ...string) string {
	return "want " + strings.Join(kinds, " or ") + ", or a template with ${ }"
}

// orTemplate takes a map with known fields, of which all or some may be templates,
// keys included.
func orTemplate(object node) node {
	out := templated("object")
	for keyword, value := range object {
		if keyword != "type" {
			out[keyword] = value
		}
	}
	out["patternProperties"] = node{hole: true}
	return out
}

// wordOrTemplate takes one of some words, or a template.
func wordOrTemplate(words ...any) node {
	return node{"anyOf": []any{node{"enum": words}, matching(hole, "one of the values, or a template")}}
}

// word takes a CamelCase word or a template.
func word() node {
	return matching(wordPattern+"|"+hole, "one CamelCase word such as EvenPD, at most 128 letters and digits, or a template")
}

// target takes the bare name of what an action is about.
func target() property {
	return optional("target", "What the action is about: object (default), or a bare name of with, forEach or let whose value was read from the cluster. A list means each of its elements, nil none.",
		with(matching(namePattern, "a bare name, without ${ }"), "examples", []string{"object"}))
}
