package schema

import "testing"

func TestValidateLists(t *testing.T) {
	const ports = `{items: {port!: int, protocol=TCP: text}, by: [port, protocol]}`
	tests := map[string]check{
		"Items": {
			"Each element is compared, and named by its index.",
			`{items: int}`,
			`[1, x, 2, z]`,
			[]string{"/1 type-mismatch: want an integer, have a string", "/3 type-mismatch: want an integer, have a string"},
		},
		"TooFew": {
			"Elements are counted.",
			`{is: {items: int}, minItems: 1}`,
			`[]`,
			[]string{" out-of-bounds: want at least 1 element, have 0"},
		},
		"TooMany": {
			"Elements are counted.",
			`{is: {items: int}, maxItems: 2}`,
			`[1, 2, 3]`,
			[]string{" out-of-bounds: want at most 2 elements, have 3"},
		},
		"Set": {
			"A set has each element once.",
			`{items: text, set: true}`,
			`[a, b, a]`,
			[]string{"/2 invalid: the same element as element 0 of the list, and each is there once; remove one of them"},
		},
		"Unique": {
			"So has a list with unique items, of maps too, whatever the order of their keys.",
			`{is: {items: any}, unique: true}`,
			`[{a: 1, b: [2]}, {b: [2.0], a: 1}]`,
			[]string{"/1 invalid: the same element as element 0 of the list, and each is there once; remove one of them"},
		},
		"Repeated": {
			"Of built-in kinds the API server stores what repeats: env of a container, say.",
			`{items: {name!: text}, by: [name], repeats: true}`,
			`[{name: A}, {name: A}]`,
			nil,
		},
		"Keyless": {
			"And what has no keys: an empty element of imagePullSecrets.",
			`{items: {name: text}, by: [name], repeats: true}`,
			`[{}, {}]`,
			nil,
		},
		"Defaulted": {
			"A key that is left out is its default.",
			ports,
			`[{port: 53}, {port: 53, protocol: TCP}]`,
			[]string{"/1 invalid: the same port and protocol as element 0 of the list, and each is there once; remove one of them"},
		},
		"Missing": {
			"A missing key is told once.",
			ports,
			`[{protocol: UDP}]`,
			[]string{`/0 missing-field: the field "port" is missing; add port: ...`},
		},
		"MissingOptional": {
			"Also one that the schema does not require.", `{items: {name: text}, by: [name]}`, `[{}]`,
			[]string{`/0 missing-field: the field "name" is missing, which tells the elements apart; add name: ...`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, Whole) })
	}
}
