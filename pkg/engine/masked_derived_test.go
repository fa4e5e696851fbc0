package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNothingTellsWhatIsMadeOfASecret follows what rules make of the value of a Secret and is no spelling of it: a part, a short one, a
// number. It holds as well that what tells nothing of a value stays readable. What an engine tells unmasked shows that a case has them.
func TestNothingTellsWhatIsMadeOfASecret(t *testing.T) {
	made := []string{"nary-in", "19753072", "y-i"}
	rule := func(actions ...string) string {
		text := "\n  - {name: r, watch: widgets, with: {login: {resource: secrets, name: login}, every: {resource: secrets, all: true}, " +
			"made: {resource: items, all: true}}, let: {password: \"fromBase64(login?.data?.password ?? '')\"}, actions: [" + strings.Join(actions, ", ") + "]}\n"
		return strings.NewReplacer("PART", "${password[2:9]}", "NUMBER", "${len(password) * 1234567}", "SHORT", "${password[5:8]}").Replace(text)
	}
	cases := map[string]struct {
		reason, rules string
		leaks         bool     // what is made is told unmasked
		shows         []string // in what is told of writes and Events
	}{
		"merge": {
			"A merge patch, field by field.",
			rule(`{patch: {merge: {metadata: {labels: {part: "PART"}}, spec: {num: "NUMBER", s: "SHORT", fixed: as-is, with: "text PART", list: [{a: "PART"}]}}}}`),
			true,
			[]string{"metadata.labels.part", "spec.num", "as-is"},
		},
		"json": {
			"A JSON patch: its values, and what it copies.",
			rule(`{patch: {json: [{op: add, path: /spec/num, value: "NUMBER"}, {op: add, path: /spec/map, value: {s: "SHORT", fixed: as-is}}, {op: copy, from: /spec/num, path: /spec/copy}]}}`),
			true,
			[]string{"spec.num", "as-is"},
		},
		"pointer": {
			"A field that is named by a Secret.",
			rule(`{patch: {json: [{op: add, path: "/spec/x-PART", value: 1}, {op: add, path: "/spec/SHORT", value: 1}]}}`, `{patch: {merge: {metadata: {annotations: {"n-NUMBER": x}, labels: {a: as-is}}}}}`),
			true,
			[]string{"/spec/(masked)", "metadata.labels.a", "as-is"},
		},
		"applied": {
			"Fields of an object that is there.",
			rule(`{patch: {apply: {spec: {num: "NUMBER", s: "SHORT", fixed: as-is}}}}`),
			true,
			[]string{"spec.num", "as-is"},
		},
		"apply": {
			"An object with its name.",
			rule(`{apply: {resource: items, manifest: {metadata: {name: "x-PART", labels: {short: "SHORT"}}, spec: {num: "NUMBER", fixed: as-is}}}}`),
			true,
			[]string{"spec.num", "as-is"},
		},
		"create": {
			"A new object.",
			rule(`{when: len(made) < 2, create: {in: made, manifest: {metadata: {generateName: "x-PART-"}, spec: {num: "NUMBER", fixed: as-is}}}}`),
			true,
			[]string{"spec.num", "as-is"},
		},
		"whole": {
			"A body that an expression gives.",
			rule(`{patch: {merge: "${{'spec': {'num': len(password) * 1234567, (password[2:9]): 1}}}"}}`),
			true, nil,
		},
		"each": {
			"Elements of what is made of a Secret, and those that a Secret chooses.",
			rule(`{forEach: {e: "${[password[2:9]]}"}, patch: {merge: {spec: {"part${index}": "${e}", fixed: as-is}}}}`,
				`{forEach: {e: "${['y-i', 'other']}"}, when: "password[5:8] == e", patch: {merge: {spec: {chosen: "${e}"}}}}`),
			true, nil,
		},
		"events": {
			"Texts of Events, in which fixed ones are shown.",
			rule(`{event: {reason: Told, message: "it has PART, NUMBER and SHORT in it"}}`, `{event: {reason: "X${len(password) * 1234567}", message: fixed text, type: "${password[5:8] == '' ? 'Normal' : 'Warning'}"}}`),
			true,
			[]string{"it has (masked), (masked) and (masked) in it", "fixed text", "Type:Warning"},
		},
		"audited": {
			"What would be written.",
			strings.Replace(rule(`{patch: {merge: {spec: {num: "NUMBER", s: "SHORT", fixed: as-is}}}}`), "watch:", "mode: Audit, watch:", 1),
			true,
			[]string{"spec.num", "as-is"},
		},
		"harmless": {
			"What a Secret shows to all, how many there are, and what a Secret decides.",
			rule(`{patch: {merge: {spec: {type: "${login?.type}", label: "${login?.metadata?.labels?.of}", name: "${login?.metadata?.name ?? ''}-x", num: "${len(every) * 1000}",
				keys: "${join(keys(login?.data ?? {}), ' ')}", there: "${login == nil ? 'is-absent' : 'is-there'}"}}}}`,
				`{when: password != "", patch: {merge: {spec: {decided: as-is}}}}`,
				`{when: password != "", event: {reason: Seen, message: "type ${login?.type ?? ''} of ${len(every) * 1000}"}}`),
			false,
			[]string{"Opaque-type", "of-web", "login-x", "1000", "password", "is-there", "as-is", "type Opaque-type of 1000"},
		},
	}
	for name, tc := range cases {
		for _, unmasked := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/unmasked=%v", name, unmasked), func(t *testing.T) {
				c, w := newCluster(), &witness{}
				c.put(t, strings.Replace(login, "name: login}", "name: login, labels: {of: of-web}}\ntype: Opaque-type", 1))
				c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5}}`)
				settledBy(t, c, w, tc.rules, unmasked)
				var all strings.Builder
				for _, told := range w.told {
					all.WriteString(told.String())
				}
				leaks := false
				for _, value := range made {
					leaks = leaks || strings.Contains(all.String(), value)
				}
				if want := tc.leaks && unmasked; leaks != want {
					t.Errorf("%s\nit is told: %v, want %v\n%s", tc.reason, leaks, want, all.String())
				}
				for _, shown := range tc.shows {
					if !unmasked && !strings.Contains(all.String(), shown) {
						t.Errorf("%s\n%q is not told:\n%s", tc.reason, shown, all.String())
					}
				}
			})
		}
	}
}
