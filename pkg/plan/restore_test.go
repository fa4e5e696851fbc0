package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// merged is the grain of a schema in which every list of maps is keyed by name, every other list is a set, and only atom is atomic.
type merged struct{ atomic bool }

func (g merged) Below(key string) Grain { return merged{key == "atom"} }
func (merged) Element() Grain           { return merged{} }
func (g merged) WholeMap() bool         { return g.atomic }
func (g merged) WholeList() bool        { return g.atomic }

func (merged) Key(element any) (map[string]any, bool) {
	fields, isMap := element.(map[string]any)
	return map[string]any{"name": fields["name"]}, isMap
}

// TestRestored holds that an object from which all rules have gone that changed it for a while is as if they had never been there, or as others
// have left it, for generated rules, changes of rules, and changes by others, whichever rule goes first, and whether the rules are evaluated
// together or each by itself.
func TestRestored(t *testing.T) {
	options := Options{Grain: func(schema.GroupVersionResource, string) Grain { return merged{} }}
	var written, kept int
	for seed := range uint64(1200) {
		c := &restoreCase{Rand: rand.New(rand.NewPCG(seed, 35)), together: seed%2 == 0, options: options}
		c.object = c.first()
		c.theirs = clone(c.object)
		told := fmt.Sprintf("case %d: %s", seed, encode(t, c.object))
		rules := []*restoringRule{{name: "a"}, {name: "b"}}
		for range 2 + c.IntN(10) {
			rule := rules[c.IntN(len(rules))]
			switch c.IntN(4) {
			case 0:
				told += "\nothers: " + c.others()
			case 1:
				rule.patches = nil
				told += "\nends: " + rule.name
			default:
				rule.patches = c.patches(rule.name)
				told += "\n" + rule.name + ": " + encode(t, rule.patches)
			}
			if !c.settle(t, rules) {
				t.Fatalf("%s\nit does not settle: %s", told, encode(t, c.object))
			}
			told += "\n-> " + encode(t, c.object)
			if Annotation(c.object, RestoreAnnotation) != "" {
				kept++
			}
		}
		for _, rule := range c.Perm(len(rules)) {
			rules[rule].patches = nil
			c.settle(t, rules)
			told += "\nends: " + rules[rule].name + "\n-> " + encode(t, c.object)
		}
		written += c.writes
		if diff := gocmp.Diff(normal(c.theirs), normal(c.object)); diff != "" {
			t.Fatalf("%s\nwithout the rules, and with them (-want +got):\n%s", told, diff)
		}
	}
	if kept < 2000 || written < 2000 {
		t.Errorf("%d originals were kept, and %d writes sent: too few to hold something", kept, written)
	}
}

// TestRestoreKept holds what stays recorded, and as it is.
func TestRestoreKept(t *testing.T) {
	const both = `{"path":["f:spec","f:a"],"before":1,"written":2},{"path":["f:spec","f:b"],"before":1,"written":2}`
	rule := Rule{Kind: "RuleSet", Set: "s", Name: "r"}
	asks := func(body string) Wish {
		return Wish{Rule: rule, Type: Merge, Body: decode[map[string]any](t, body)}
	}
	for name, tc := range map[string]struct {
		reason     string
		kept, spec string
		restoring  Restoring
		want       string // the spec, and what is recorded; or the error
	}{
		"Unknown": {
			"The rule may ask for the other one, too.", both, `{a: 2, b: 2}`,
			Restoring{Asked: []Wish{asks(`{spec: {a: 2}}`)}, Through: 1, Unknown: true},
			"",
		},
		"Known": {
			"It does not.", both, `{a: 2, b: 2}`,
			Restoring{Asked: []Wish{asks(`{spec: {a: 2}}`)}, Through: 1},
			`{"a":2,"b":1} [{"path":["f:spec","f:a"],"before":1,"written":2}]`,
		},
		"Later": {
			"The second one is recorded before it is written, as it is in another request.", "", `{a: 1, b: 1}`,
			Restoring{Asked: []Wish{asks(`{spec: {a: 2}}`), asks(`{spec: {b: 2}}`)}, Through: 1},
			`{"a":2,"b":1} [` + both + `]`,
		},
		"Identity": {
			"No rule may write that, whoever has written the annotation.", `{"path":["f:metadata","f:name"],"before":"x","written":"o"}`, `{a: 1}`,
			Restoring{},
			`{"a":1} []`,
		},
		"Damaged": {
			"Nothing is lost.", `{"path":`, `{a: 1}`,
			Restoring{},
			"the annotation dyncontroller.dev/restore cannot be read; remove it to give up what it has recorded: unexpected end of JSON input",
		},
		"Annotations": {
			"The annotation itself is none of what the rule asks to be gone.", `{"path":["f:metadata","f:annotations"],"before":{"x":"y"}}`, `{a: 1}`,
			Restoring{Asked: []Wish{asks(`{metadata: {annotations: null}}`)}, Through: 1},
			"",
		},
		"EmptiedList": {
			"The API server may store it as none, and it is restored whole then.", "", `{s: [x]}`,
			Restoring{Asked: []Wish{asks(`{spec: {s: []}}`)}, Through: 1},
			`{"s":[]} [{"path":["f:spec","f:s"],"before":["x"],"written":[]}]`,
		},
		"EmptiedListGone": {
			"So it is.", `{"path":["f:spec","f:s"],"before":["x"],"written":[]}`, `{}`,
			Restoring{},
			`{"s":["x"]} []`,
		},
		"MadeAnew": {
			"The rule has removed the whole map, so whoever makes it anew decides about all of it.",
			`{"path":["f:spec","f:m"],"before":{"p":1,"q":2}}`, `{m: {p: 3}}`,
			Restoring{},
			`{"m":{"p":3}} []`,
		},
		"FilledAgain": {
			"The rule has removed what was in the map, and not what another client puts there.",
			`{"path":["f:spec","f:m"],"before":{"p":1,"q":2},"written":{}}`, `{m: {r: 3}}`,
			Restoring{},
			`{"m":{"p":1,"q":2,"r":3}} []`,
		},
		"Emptied": {
			"It is known that the rule has removed what was in the map.", "", `{m: {p: 1}}`,
			Restoring{Asked: []Wish{asks(`{spec: {m: {p: null}}}`)}, Through: 1},
			`{"m":{}} [{"path":["f:spec","f:m"],"before":{"p":1},"written":{}}]`,
		},
		"Repeated": {
			"Two elements have the key of one that a rule has added, so it is not known which is meant, and nothing is added.",
			`{"path":["f:spec","f:list","k:{\"name\":\"x\"}"],"written":{"name":"x"}}`, `{list: [{name: x}, {name: x}]}`,
			Restoring{},
			`{"list":[{"name":"x"},{"name":"x"}]} []`,
		},
		"NotThatElement": {
			"Whoever wrote the record, an element is only added by its own key.",
			`{"path":["f:spec","f:list","v:null"],"before":{"name":"x"}}`, `{list: [{name: p}]}`,
			Restoring{},
			`{"list":[{"name":"p"}]} []`,
		},
		"OfTwoChanges": {
			"The first one has been carried out, and what is left is not made anew by another client.",
			`{"path":["f:spec","f:m"],"before":{"p":1,"q":2}}`, `{a: 1, m: {q: 2}}`,
			Restoring{Asked: []Wish{asks(`{spec: {m: {p: null}}}`), asks(`{spec: {m: null}}`)}, Through: 2},
			`{"a":1} [{"path":["f:spec","f:m"],"before":{"p":1,"q":2}}]`,
		},
		"Large": {
			"An object has no room for it.", "", `{a: ` + strings.Repeat("x", maxRestore) + `}`,
			Restoring{Asked: []Wish{asks(`{spec: {a: 2}}`)}, Through: 1},
			"what the fields had before takes 65612 bytes, and an object keeps at most 65536",
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := decode[map[string]any](t, `{metadata: {name: o}, spec: `+tc.spec+`}`)
			if tc.kept != "" {
				object = WithField(object, restorePath, `{"`+rule.qualified()+`":[`+tc.kept+`]}`)
				if tc.kept == `{"path":` {
					object = WithField(object, restorePath, tc.kept)
				}
			}
			wish := Restore(rule, Object{}, object)
			for i := range tc.restoring.Asked {
				tc.restoring.Asked[i].Current = object
			}
			wish.Restoring = &tc.restoring
			built := Build([]Wish{wish}, Options{Grain: func(schema.GroupVersionResource, string) Grain { return merged{} }})
			got := ""
			for _, decision := range built.Decisions {
				got = decision.Reason
			}
			for _, o := range built.Operations {
				record := strings.TrimSuffix(strings.TrimPrefix(Annotation(o.Predicted, RestoreAnnotation), `{"`+rule.qualified()+`":`), "}")
				got = encode(t, o.Predicted["spec"]) + " " + cmp.Or(record, "[]")
			}
			if got != tc.want {
				t.Errorf("%s got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

type restoreCase struct {
	*rand.Rand
	options        Options
	together       bool
	object, theirs map[string]any
	number, writes int
}

type restoringRule struct {
	name    string
	patches []restoringPatch
}

type restoringPatch struct {
	Merge map[string]any `json:",omitempty"`
	// Of a JSON patch: what is done with the element of a list that has the name, as an expression finds it.
	Op, Name string `json:",omitempty"`
	Value    any    `json:",omitempty"`
}

func (c *restoreCase) first() map[string]any {
	spec := map[string]any{}
	if c.IntN(4) > 0 {
		spec["a"] = int64(1)
	}
	if c.IntN(4) > 0 {
		spec["m"] = map[string]any{"x": "x", "y": "y"}
	}
	if c.IntN(4) > 0 {
		spec["list"] = []any{map[string]any{"name": "p", "v": int64(1)}, map[string]any{"name": "q", "v": int64(2)}}
	}
	if c.IntN(4) > 0 {
		spec["set"] = []any{"s", "t"}
	}
	if c.IntN(4) > 0 {
		spec["atom"] = []any{"u", "v"}
	}
	if c.IntN(4) > 0 {
		spec["map"] = map[string]any{"atom": map[string]any{"x": "x", "y": "y"}}
	}
	object := map[string]any{"metadata": map[string]any{"name": "o"}, "spec": spec}
	if c.IntN(2) > 0 {
		object["metadata"].(map[string]any)["labels"] = map[string]any{"l": "l"}
	}
	return object
}

func clone(value any) (out map[string]any) { out, _ = deepCopy(value).(map[string]any); return out }

func deepCopy(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := maps.Clone(value)
		for key := range out {
			out[key] = deepCopy(out[key])
		}
		return out
	case []any:
		out := slices.Clone(value)
		for i := range out {
			out[i] = deepCopy(out[i])
		}
		return out
	default:
		return value
	}
}

// normal is an object without the annotation and without what is empty, with lists in order.
func normal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, below := range value {
			if below = normal(below); key != RestoreAnnotation && !IsEmpty(below) {
				out[key] = below
			}
		}
		return out
	case []any:
		var out []any
		for _, element := range value {
			out = append(out, normal(element))
		}
		slices.SortFunc(out, func(a, b any) int { return cmpText(a, b) })
		return out
	default:
		return value
	}
}

func cmpText(a, b any) int { return slices.Compare([]string{fmt.Sprint(a)}, []string{fmt.Sprint(b)}) }

// value is one that nobody else writes, but for both rules where they are evaluated by themselves: they would fight.
func (c *restoreCase) value(rule string) string {
	if !c.together {
		return "rules"
	}
	return rule + strconv.Itoa(c.IntN(2))
}

func (c *restoreCase) patches(rule string) (out []restoringPatch) {
	for _, kind := range c.Perm(11)[:1+c.IntN(2)] {
		var p restoringPatch
		spec := func(key string, value any) {
			p.Merge = map[string]any{"spec": map[string]any{key: value}}
		}
		switch kind {
		case 0:
			spec("a", c.value(rule))
		case 1:
			spec("m", map[string]any{"x": c.value(rule)})
		case 2:
			spec("m", map[string]any{"z": c.value(rule), "y": nil})
		case 3:
			p.Merge = map[string]any{"metadata": map[string]any{"labels": map[string]any{"k": c.value(rule)}}}
		case 4:
			spec("n", map[string]any{"deep": map[string]any{rule: "1"}})
		case 5:
			spec("atom", []any{"u", c.value(rule)})
		case 6:
			p = restoringPatch{Op: "replace", Name: []string{"p", "q"}[c.IntN(2)], Value: c.value(rule)}
		case 7:
			spec("map", map[string]any{"atom": map[string]any{rule: c.value(rule)}})
		case 8:
			spec("map", map[string]any{"atom": map[string]any{"x": c.value(rule)}})
		case 9:
			p = restoringPatch{Op: "add", Name: "n-" + rule, Value: map[string]any{"name": "n-" + rule}}
		default:
			p = restoringPatch{Op: "remove"}
		}
		out = append(out, p)
	}
	return out
}

// wish is the patch as an evaluation of the object makes it, nil where there is nothing that it is about.
func (p restoringPatch) wish(rule Rule, object, theirs map[string]any) *Wish {
	w := &Wish{Rule: rule, Current: object, Type: Merge, Body: p.Merge}
	if p.Op == "" {
		return w
	}
	if p.Op == "remove" {
		path := Path{"spec", "m", "y"}
		if _, there := Lookup(theirs, path); !there {
			return nil // The patch would fail.
		}
		w.Type, w.Body = JSON, []any{removal(path)}
		return w
	}
	list, _ := Lookup(object, Path{"spec", "list"})
	all, _ := list.([]any)
	at := slices.IndexFunc(all, func(element any) bool { return Text(element.(map[string]any), "name") == p.Name })
	path := "/spec/list/" + strconv.Itoa(at)
	switch {
	case list == nil, p.Op == "replace" && at < 0:
		return nil
	case p.Op == "replace":
		path += "/v"
	case p.Op == "add" && at < 0:
		path = "/spec/list/-"
	}
	op := map[string]any{"op": p.Op, "path": path}
	if p.Op == "add" && at >= 0 {
		op["op"] = "replace"
	}
	op["value"] = p.Value
	w.Type, w.Body = JSON, []any{op}
	return w
}

func (c *restoreCase) others() (told string) {
	c.number++
	both := func(told string, edit func(object map[string]any)) string {
		c.object, c.theirs = clone(c.object), clone(c.theirs)
		edit(c.object)
		edit(c.theirs)
		return told
	}
	value := "theirs" + strconv.Itoa(c.number)
	spec := func(object map[string]any) map[string]any { return object["spec"].(map[string]any) }
	merge := func(told string, patch map[string]any) string {
		return both(told, func(object map[string]any) {
			object["spec"] = mergePatched(spec(object), patch)
		})
	}
	switch c.IntN(9) {
	case 0:
		return merge("a="+value, map[string]any{"a": value})
	case 1:
		return merge("a gone", map[string]any{"a": nil})
	case 2:
		return merge("m.y="+value, map[string]any{"m": map[string]any{"y": value}})
	case 3:
		return merge("m.w="+value, map[string]any{"m": map[string]any{"w": value}})
	case 4:
		m, _ := spec(c.object)["m"].(map[string]any)
		theirs, _ := spec(c.theirs)["m"].(map[string]any)
		visible := func(key string) bool { return m[key] != nil && m[key] == theirs[key] }
		if len(theirs) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(m)), visible) {
			return "none" // All that others have there is hidden by rules, so nobody sees that they remove it.
		}
		return merge("m gone", map[string]any{"m": nil})
	case 5:
		return merge("atom", map[string]any{"atom": []any{value}})
	case 6:
		return merge("map.atom.y="+value, map[string]any{"map": map[string]any{"atom": map[string]any{"y": value}}})
	case 7:
		return both("an element", func(object map[string]any) {
			list, _ := spec(object)["list"].([]any)
			spec(object)["list"] = append(slices.Clone(list), map[string]any{"name": value})
		})
	default:
		return both("p.w", func(object map[string]any) {
			list, _ := spec(object)["list"].([]any)
			for _, element := range list {
				if element := element.(map[string]any); element["name"] == "p" {
					element["w"] = value
				}
			}
		})
	}
}

// settle evaluates the rules until nothing is written.
func (c *restoreCase) settle(t *testing.T, rules []*restoringRule) bool {
	t.Helper()
	for range 8 {
		changed := false
		var wishes []Wish
		build := func() {
			for _, o := range Build(wishes, c.options).Operations {
				body, isMap := o.Body.(map[string]any)
				if !isMap {
					t.Fatalf("a %s is sent", o.Type)
				}
				if after := mergePatched(c.object, body); !Equal(after, o.Predicted) {
					t.Fatalf("predicted %s, and it is %s", encode(t, o.Predicted), encode(t, after))
				}
				c.object, changed = clone(o.Predicted), true
				c.writes++
			}
			wishes = nil
		}
		for _, r := range rules {
			rule := Rule{Kind: "RuleSet", Set: "s", Name: r.name}
			restoring := []Wish{}
			for _, p := range r.patches {
				if w := p.wish(rule, c.object, c.theirs); w != nil {
					restoring = append(restoring, *w)
				}
			}
			for i, w := range restoring {
				w.Restoring = &Restoring{Asked: restoring, Through: i + 1}
				wishes = append(wishes, w)
			}
			if len(restoring) == 0 {
				wishes = append(wishes, Wish{Rule: rule, Current: c.object, Type: Merge, Body: map[string]any{}, Restoring: &Restoring{}})
			}
			if !c.together {
				build()
			}
		}
		if build(); !changed {
			return true
		}
	}
	return false
}

func TestBookkeeping(t *testing.T) {
	kept := map[string]any{RestoreAnnotation: "{}"}
	for name, tc := range map[string]struct {
		reason string
		change Change
		want   string
	}{
		"begins":  {"a rule changes something for a while", Change{Path: restorePath, After: "{}"}, "records what is to be restored"},
		"ends":    {"beside other annotations", Change{Path: restorePath, Before: "{}"}, "nothing is left to be restored"},
		"is last": {"an empty map of annotations goes", Change{Path: restorePath[:2], Before: kept}, "nothing is left to be restored"},
		"is first": {
			"the map is new", Change{Path: restorePath[:2], After: kept}, "records what is to be restored",
		},
		"others too": {"the other annotations must be seen", Change{Path: restorePath[:2], Before: map[string]any{RestoreAnnotation: "{}", "a": "b"}}, ""},
		"other":      {"what users write", Change{Path: Path{"metadata", "annotations", "a"}, Before: "{}"}, ""},
		"no map":     {"what is no annotation", Change{Path: Path{"spec"}, Before: kept}, ""},
	} {
		if got := tc.change.Bookkeeping(); got != tc.want {
			t.Errorf("%s: %s: have %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

// TestRestoreAfterOthers holds that what a rule has left, which is gone, does not decide about a field that another client has set since.
func TestRestoreAfterOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, kept string
		now          int // what another client has made of it
		want         string
	}{
		"decided":     {"The client has decided since.", `{"path":["f:spec","f:a"],"before":3,"written":0}`, 5, `{"a":5} {}`},
		"set back":    {"So it has where it is as it was before.", `{"path":["f:spec","f:a"],"before":3,"written":0}`, 3, `{"a":3} {}`},
		"not decided": {"The other rule may still want it.", `{"path":["f:spec","f:a"],"before":3,"written":0}`, 0, `{"a":0} {"s.gone-hash":[{"path":["f:spec","f:a"],"before":3,"written":0}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			rule := Rule{Kind: "RuleSet", Set: "s", Name: "r"}
			object := decode[map[string]any](t, fmt.Sprintf(`{metadata: {name: o}, spec: {a: %d}}`, tc.now))
			object = WithField(object, restorePath, `{"s.gone-hash":[`+tc.kept+`]}`)
			for _, body := range []string{`{spec: {a: 1}}`, ""} {
				wish := Restore(rule, Object{}, object)
				if body != "" {
					wish.Restoring = &Restoring{Asked: []Wish{{Rule: rule, Type: Merge, Body: decode[map[string]any](t, body), Current: object}}, Through: 1}
				}
				for _, o := range Build([]Wish{wish}, Options{}).Operations {
					object = o.Predicted
				}
			}
			if got := encode(t, object["spec"]) + " " + cmp.Or(Annotation(object, RestoreAnnotation), "{}"); got != tc.want {
				t.Errorf("%s got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestRestoreWithoutSchema holds that a record which was made with a schema is no reason to fail where the schema is not known.
func TestRestoreWithoutSchema(t *testing.T) {
	object := decode[map[string]any](t, `{metadata: {name: o}, spec: {list: [{name: p, v: 1}, {name: q, v: 2}]}}`)
	rule := Rule{Kind: "RuleSet", Set: "s", Name: "r"}
	object = WithField(object, restorePath, `{"`+rule.qualified()+`":[{"path":["f:spec","f:list","k:{\"name\":\"q\"}","f:v"],"before":1,"written":2}]}`)
	for _, o := range Build([]Wish{Restore(rule, Object{}, object)}, Options{}).Operations {
		object = o.Predicted
	}
	if got, want := encode(t, object["spec"]), `{"list":[{"name":"p","v":1},{"name":"q","v":1}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRestoreWholeList holds that a rule which changes an element of a list without keys for a while decides about the list: it is recorded, and
// restored, as a whole.
func TestRestoreWholeList(t *testing.T) {
	object := map[string]any{"metadata": map[string]any{"name": "o"}, "spec": map[string]any{"atom": []any{"u", "v"}}}
	wish := func(rule, op, path, value string, restore bool) Wish {
		w := Wish{
			Rule: Rule{Kind: "RuleSet", Set: "s", Name: rule}, Current: object, Type: JSON,
			Body: []any{map[string]any{"op": op, "path": "/spec/atom/" + path, "value": value}},
		}
		if restore {
			w.Restoring = &Restoring{Asked: []Wish{w}, Through: 1}
		}
		return w
	}
	const replaced, added = `{"atom":["a","v"]}`, `{"atom":["u","v","a"]}`
	for name, tc := range map[string]struct {
		reason    string
		one, two  Wish
		want, has string
	}{
		"Other":       {"Each would record the other's element.", wish("a", "replace", "0", "a", true), wish("b", "replace", "1", "b", true), "spec.atom", replaced},
		"Same":        {"They want the same.", wish("a", "replace", "0", "a", true), wish("b", "replace", "0", "a", true), "", replaced},
		"Added":       {"So they do at the end.", wish("a", "add", "-", "a", true), wish("b", "add", "-", "a", true), "", added},
		"AddedOthers": {"An element more is another list.", wish("a", "add", "-", "a", true), wish("b", "add", "-", "b", true), "spec.atom", added},
		"Stays":       {"A change that stays would keep the other one from being restored.", wish("a", "replace", "0", "a", true), wish("b", "replace", "1", "b", false), "spec.atom[1]", replaced},
		"StaysAsItIs": {"It agrees with what is there.", wish("a", "replace", "0", "a", true), wish("b", "replace", "1", "v", false), "", replaced},
	} {
		t.Run(name, func(t *testing.T) {
			for _, grain := range []Grain{merged{}, nil} { // Atomic, and unknown.
				built := Build([]Wish{tc.one, tc.two}, Options{Grain: func(schema.GroupVersionResource, string) Grain { return grain }})
				withheld := ""
				for _, d := range built.Decisions {
					withheld += d.Reason
				}
				if want := strings.TrimPrefix(tc.want+" is decided by rule s/a, which comes first", " is decided by rule s/a, which comes first"); withheld != want {
					t.Errorf("%s\nwithheld: %s\nwant: %s", tc.reason, withheld, want)
				}
				if got := encode(t, built.Operations[0].Predicted["spec"]); got != tc.has {
					t.Errorf("%s\nthe object becomes %s, want %s", tc.reason, got, tc.has)
				}
			}
		})
	}
}
