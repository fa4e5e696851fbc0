package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type mode string

// sampled is what the fields of the tests decode into.
type sampled struct {
	Name    string
	Active  bool
	Count   int64
	Mode    mode
	Names   []string
	Inner   []string
	Entries []string
	Body    any
}

func sampleFields(s *sampled, body **Node) []Field {
	return []Field{
		Required("name", String(&s.Name)),
		Optional("active", Bool(&s.Active)),
		Optional("count", Int(&s.Count)),
		Optional("mode", OneOf(&s.Mode, "Enforce", "Audit")),
		Optional("names", List(&s.Names, String)),
		Optional("inner", Fields(Required("list", List(&s.Inner, String)))),
		Optional("entries", Each(func(e Entry) Errors {
			s.Entries = append(s.Entries, fmt.Sprintf("%s=%s", e.Key.Text(), e.Value.Text()))
			if e.Value.Kind() == KindMap {
				return Errors{e.Key.Errorf("h", "m")}
			}
			return nil
		})),
		Optional("body", Raw(body)),
		Unsupported("onDelete"),
	}
}

func TestDecode(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   sampled
		errs   []string
	}{
		"everything": {
			reason: "each decoder takes its value",
			source: `{name: a, active: true, count: -3, mode: Audit, names: [b, c], inner: {list: [d]}, entries: {z: 1, a: 2}, body: [e, 1]}`,
			want: sampled{
				Name: "a", Active: true, Count: -3, Mode: "Audit", Names: []string{"b", "c"}, Inner: []string{"d"},
				Entries: []string{"z=1", "a=2"}, Body: []any{"e", int64(1)},
			},
		},
		"least":        {"optional fields may be missing", `name: ""`, sampled{}, nil},
		"null in body": {"raw takes even that", "name: a\nbody:", sampled{Name: "a"}, nil},
		"empty list":   {"it is one", "name: a\nnames: []", sampled{Name: "a", Names: []string{}}, nil},
		"not a map": {"there are no fields in it", "[name]", sampled{}, []string{
			"f.yaml:1:1: want a map, have a list; write lines of key: value, or {key: value}",
		}},
		"no space after the colon": {"the whole line is text", "name:a", sampled{}, []string{
			"f.yaml:1:1: want a map, have a string; put a space after the colon: name: a",
		}},
		"missing": {"found at the map", "inner: {}", sampled{}, []string{
			`f.yaml:1:1: the field "name" is missing; add name: ...`,
			`f.yaml:1:8: inner: the field "list" is missing; add list: ...`,
		}},
		"required but null": {"the same as missing, found at the key", "name:\ninner: {list: null}", sampled{}, []string{
			`f.yaml:1:1: name: the field "name" has no value; give it one`,
			`f.yaml:2:15: inner.list: the field "list" has no value; give it one`,
		}},
		"optional but null": {"nothing is meant by it", "name: a\nactive:\nnames: ~", sampled{Name: "a"}, []string{
			"f.yaml:2:1: active: want a boolean, have no value; give it a value or remove it",
			"f.yaml:3:8: names: want a list, have no value; give it a value or remove it",
		}},
		"unknown": {
			"the nearest field is suggested, or all are named", "nmae: a\nname: b\nondelete: c\nwhatever: d",
			sampled{Name: "b"},
			[]string{
				`f.yaml:1:1: nmae: unknown field "nmae"; did you mean "name"?`,
				`f.yaml:3:1: ondelete: unknown field "ondelete"; did you mean "onDelete"?`,
				`f.yaml:4:1: whatever: unknown field "whatever"; ` +
					"the fields here are name, active, count, mode, names, inner, entries, body",
			},
		},
		"unsupported": {"refused by name, whatever it holds", "{name: a, onDelete: ~}", sampled{Name: "a"}, []string{
			`f.yaml:1:11: onDelete: field "onDelete" is not supported yet; remove it`,
		}},
		"not a string": {"the hint quotes what is there", "name: 1.10", sampled{}, []string{
			`f.yaml:1:7: name: want a string, have a number; put it in quotes: "1.10"`,
		}},
		"no string at all": {"there is nothing to quote", "name: {a: b}", sampled{}, []string{
			"f.yaml:1:7: name: want a string, have a map; write text",
		}},
		"quoted": {"the hint takes the quotes away", "{name: a, active: 'true', count: \"3\"}", sampled{Name: "a"}, []string{
			"f.yaml:1:19: active: want a boolean, have a string; write it without quotes: true",
			"f.yaml:1:34: count: want an integer, have a string; write it without quotes: 3",
		}},
		"other kinds": {
			"the hint shows how to write one", "{name: a, active: x, count: 0.5, names: b, inner: c, entries: []}",
			sampled{Name: "a"},
			[]string{
				"f.yaml:1:19: active: want a boolean, have a string; write true or false",
				"f.yaml:1:29: count: want an integer, have a number; write a whole number like 3",
				`f.yaml:1:41: names: want a list, have a string; write "- " before each element, or [a, b]`,
				"f.yaml:1:51: inner: want a map, have a string; write lines of key: value, or {key: value}",
				"f.yaml:1:63: entries: want a map, have a list; write lines of key: value, or {key: value}",
			},
		},
		"elements": {
			"a wrong one keeps its place", "{name: a, names: [b, 1, [], c]}",
			sampled{Name: "a", Names: []string{"b", "", "", "c"}},
			[]string{
				`f.yaml:1:22: names[1]: want a string, have an integer; put it in quotes: "1"`,
				"f.yaml:1:25: names[2]: want a string, have a list; write text",
			},
		},
		"one of": {"near ones are suggested, else all are named", "{name: a, mode: audit}", sampled{Name: "a"}, []string{
			`f.yaml:1:17: mode: "audit" is not known here; did you mean Audit?`,
		}},
		"none of": {"and those far away are not", "{name: a, mode: Sometimes}", sampled{Name: "a"}, []string{
			`f.yaml:1:17: mode: "Sometimes" is not known here; write one of Enforce, Audit`,
		}},
		"one of, number": {"it is a string first of all", "{name: a, mode: 3}", sampled{Name: "a"}, []string{
			`f.yaml:1:17: mode: want a string, have an integer; write one of Enforce, Audit`,
		}},
		"entries": {
			"what a decoder finds is passed on", "{name: a, entries: {x: {}}}",
			sampled{Name: "a", Entries: []string{"x="}},
			[]string{"f.yaml:1:21: entries.x: m; h"},
		},
		"long names": {"they are cut", "name: a\n" + long + ": b", sampled{Name: "a"}, []string{
			fmt.Sprintf("f.yaml:2:1: [\"%.60s...\"]: unknown field \"%.60s...\"; "+
				"the fields here are name, active, count, mode, names, inner, entries, body", long, long),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got sampled
			var body *Node
			var errs []string
			for _, err := range mustParse(t, tc.source)[0].Decode(sampleFields(&got, &body)...).Sorted() {
				errs = append(errs, err.Error())
			}
			got.Body = body.Any()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

const long = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

// TestDecodeInvalid holds that no decoder complains about what Parse has
// reported.
func TestDecodeInvalid(t *testing.T) {
	source := "{name: no, active: off, count: 012, mode: on, names: [1e3, a], inner: !x {list: [n]}, " +
		"entries: {on: 1, ok: no}, body: *b, 1: x, [a]: y}"
	source = "b: &b c\na: " + source // The alias needs an anchor to be well-formed.
	roots, errs := Parse(File{Name: "f.yaml", Data: []byte(source)})
	if len(errs) < 10 {
		t.Fatal(errs)
	}
	var got sampled
	var body *Node
	errs = roots[0].Get("a").Decode(sampleFields(&got, &body)...)
	if len(errs) > 0 {
		t.Errorf("reported twice: %v", errs)
	}
	want := sampled{Names: []string{"", "a"}, Inner: []string{""}, Entries: []string{"ok=no"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var none *Node
	if errs := none.Decode(Required("x", Raw(&body))); len(errs) > 0 {
		t.Errorf("no node, but %v", errs)
	}
}

func TestExpect(t *testing.T) {
	root := mustParse(t, "a: 1\nb: [c]\n")[0]
	if err := root.Get("b").Expect(KindString, KindList); err != nil {
		t.Error(err)
	}
	err := root.Get("a").Expect(KindString, KindList)
	if want := `f.yaml:1:4: a: want a string or a list, have an integer; put it in quotes: "1"`; err == nil || err.Error() != want {
		t.Errorf("have %v, want %s", err, want)
	}
	for kind, hint := range map[Kind]string{KindNull: "remove the value", KindFloat: "write a number like 0.5"} {
		if err := root.Get("b").Expect(kind); err == nil || err.Hint != hint {
			t.Errorf("want %v, have %v", kind, err)
		}
	}
	if err := root.Get("nothing").Expect(KindString); err != nil {
		t.Error(err)
	}
}

func TestDecodeWithoutFields(t *testing.T) {
	errs := mustParse(t, "a: 1")[0].Decode()
	if want := `f.yaml:1:1: a: unknown field "a"; remove it, there are no fields here`; errs.Error() != want {
		t.Errorf("have %v, want %s", errs, want)
	}
}

// TestDecodeEnough holds that a loop over a document ends when all of it is
// wrong.
func TestDecodeEnough(t *testing.T) {
	const wrong = 5000
	var keys strings.Builder
	for i := range wrong {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	list := strings.Repeat("- 1\n", wrong)
	calls := 0
	var texts []string
	cases := map[string]struct {
		source string
		decode Decoder
	}{
		"fields": {keys.String(), Fields()},
		"entries": {keys.String(), Each(func(e Entry) Errors {
			calls++
			return Errors{e.Key.Errorf("", "wrong")}
		})},
		"list": {list, List(&texts, String)},
	}
	for name, tc := range cases {
		if errs := tc.decode(mustParse(t, tc.source)[0]); len(errs) != maxErrors+1 {
			t.Errorf("%s: %d errors", name, len(errs))
		}
	}
	if calls != maxErrors+1 || len(texts) != wrong {
		t.Errorf("%d entries were looked at, and the list has %d elements", calls, len(texts))
	}
}
