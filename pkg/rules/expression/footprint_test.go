package expression

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// String writes what a program reads of the objects of a world.
func (s *worldShapes) String() string {
	paths := s.object.Paths()
	for _, path := range s.other.Paths() {
		paths = append(paths, "other:"+path)
	}
	for _, path := range s.pods.Paths() {
		paths = append(paths, "pods:"+path)
	}
	return strings.Join(paths, " ")
}

func TestFootprint(t *testing.T) {
	tests := []struct{ reason, source, want string }{
		{"A chain reads its last field; those before it only have to be there.", `object.spec.pd.replicas`, "spec.pd.replicas"},
		{"A whole object is everything.", `object`, "*"},
		{"No object, no reads.", `1 + len("a") + params.n`, ""},
		{"A key in brackets is a key.", `object.metadata.labels["a/b"]`, `metadata.labels["a/b"]`},
		{"A constant index is that element.", `object.spec.items[0].name`, "spec.items[0].name"},
		{"A key that is not known can be any, or the index of a list.", `object.spec.pools[params.key].size`, "spec.pools.*.size spec.pools[*].size"},
		{"By value, any is all.", `object.metadata.labels[params.key]`, "metadata.labels"},
		{"Where the object itself is used dynamically, it is everything.", `object[params.key]`, "*"},
		{"What gives the key is read.", `object.spec.m[object.spec.key]`, "spec.key spec.m"},
		{"A slice needs the length.", `object.spec.items[1:]`, "spec.items[*]"},
		{"And no more where only the length counts.", `len(object.spec.items[1:])`, "len(spec.items)"},
		{"A bound is read.", `len(object.spec.items[object.spec.n:])`, "len(spec.items) spec.n"},

		{"Comparing with nil looks whether it is there.", `object.spec.pd != nil`, "exists(spec.pd)"},
		{"Of what a literal is made a reason tells.", `nil == {a: object.spec.a}`, "spec.a"},
		{"A field below says that too.", `object.spec.pd != nil && object.spec.pd.replicas > 1`, "spec.pd.replicas"},
		{"Comparing with a value reads it.", `object.spec.phase == "Ready"`, "spec.phase"},
		{"A constant key of in is looked for alone.", `"a" in object.metadata.labels`, "exists(metadata.labels.a)"},
		{"In a list too.", `"a" not in object.metadata.finalizers`, "exists(metadata.finalizers.a)"},
		{"Another needs all.", `object.spec.zone in object.spec.zones`, "spec.zone spec.zones"},
		{"?? gives either side, and looks whether the left is there.", `(object.spec.a ?? object.spec.b).c`, "spec.a.c spec.b.c"},
		{"?: gives either branch and reads the condition.", `(object.spec.on ? object.spec.a : other).c`, "spec.a.c spec.on other:c"},
		{"Of a chain of comparisons all.", `1 < object.spec.a < object.spec.b`, "spec.a spec.b"},

		{"A map that is built keeps its values apart.", `let x = {a: object.spec.b, c: object.status}; x.a`, "spec.b"},
		{"A key that is built can be any.", `let x = {(object.kind): object.spec.b}; x.a`, "kind spec.b"},
		{"A list that is built does not.", `[object.spec.a, object.spec.b][0].c`, "spec.a.c spec.b.c"},
		{"What a built map lacks reads nothing.", `{a: object.spec}.b == nil`, ""},

		{"And no more than is used of them.", `map(values(object.spec.m), .a)`, "spec.m.*.a"},
		{"Pairs as well.", `map(toPairs(object.spec.m), #[1].a)`, "spec.m.*.a"},
		{"merge gives keys of all its maps.", `merge(object.metadata.labels, {x: object.spec.a}).x`, "metadata.labels.x spec.a"},
		{"default needs to know what is empty.", `default(object.spec.a, [])`, "spec.a"},
		{"get with a constant key is that key.", `get(object.metadata.labels, "a")`, "metadata.labels.a"},
		{"A condition is looked for by its type.", `condition(object, "Ready")?.status == "True"`, "status.conditions[*].status status.conditions[*].type"},
		{"Other functions read all of their arguments.", `toJSON(object.spec)`, "spec"},

		{"A predicate reads fields of all elements.", `any(object.spec.items, .name == "a" && #.port > 1)`, "spec.items[*].name spec.items[*].port"},
		{"filter passes elements on.", `filter(object.spec.items, .on)[0].name`, "spec.items[*].name spec.items[*].on"},
		{"sortBy does, with all of its keys.", `first(sortBy(pods, [.spec.a, desc(.spec.b)]))?.kind`, "pods:kind pods:spec.a pods:spec.b"},
		{"Going through several.", `last(reverse(take(concat(pods, [other]), object.spec.n)))?.kind`, "spec.n other:kind pods:kind"},
		{"map gives what the predicate gives.", `map(pods, {{n: .metadata.name, s: .spec}}) | map(.n)`, "pods:metadata.name"},
		{"groupBy keeps the elements.", `values(groupBy(pods, .spec.nodeName))[0][0].kind`, "pods:kind pods:spec.nodeName"},
		{"flatten looks into lists, and for lists in those.", `len(flatten(map(pods, .spec.containers)))`, "pods:spec.containers[*][*]"},
		{"Of the elements it reads what is used.", `flatten(map(pods, .spec.tags))`, "pods:spec.tags"},
		{"Which ones pass is decided by what is read.", `count(pods, .status.phase == "Failed")`, "pods:status.phase"},
		{"reduce follows the result.", `reduce(pods, #.spec.n > #acc.spec.n ? # : #acc).metadata.name`, "pods:metadata.name pods:spec.n"},
		{"Up to a point.", `reduce(pods, ({n: #acc, e: #}), nil).n`, "pods:*"},
		{"Nested predicates know their elements.", `any(pods, any(.spec.containers, .image == object.spec.image))`, "spec.image pods:spec.containers[*].image"},
		{"omit gives nothing.", `object.spec.on ? omit() : 1`, "spec.on"},

		{"What is not an object has no spec that is always there.", `object.spec.template.spec.a`, "spec.template.spec.a"},
		{"Of what an expression builds, apiVersion and kind say so.", `{apiVersion: object.spec.v, kind: "K"}.spec == nil`, "exists(spec.v)"},
		{"For labels they are those above metadata.", `{apiVersion: object.spec.v, kind: "K", metadata: {}}.metadata.labels == nil`, "exists(spec.v)"},
	}
	for _, tc := range tests {
		shapes := &worldShapes{}
		compiled(t, tc.source, worldScope).Shape(shapes).Read(footprint.Value)
		if diff := cmp.Diff(tc.want, shapes.String()); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.reason, tc.source, diff)
		}
	}
}

func TestFootprintOfTemplates(t *testing.T) {
	for _, tc := range []struct{ reason, text, prefix, want string }{
		{"An expression alone keeps its type, and may be used in part.", " ${object.spec} ", "", "exists(spec)"},
		{"A text reads its expressions.", "a/${object.spec.a}-${len(pods)}-${object.spec.b}", "a/", "spec.a spec.b"},
		{"Without expressions there is nothing to read.", "a$${b}", "a${b}", ""},
		{"Nor in none.", "", "", ""},
	} {
		template, err := CompileTemplate(tc.text, worldScope)
		if err != nil {
			t.Fatal(err)
		}
		shapes := &worldShapes{}
		template.Shape(shapes).Read(footprint.Exists)
		if got := shapes.String(); got != tc.want {
			t.Errorf("%s %q reads %s, want %s", tc.reason, tc.text, got, tc.want)
		}
		if got := template.Prefix(); got != tc.prefix {
			t.Errorf("%s %q starts with %q, want %q", tc.reason, tc.text, got, tc.prefix)
		}
	}
}

// TestFootprintIsBounded makes sure that what cannot be followed is read whole, and
// soon.
func TestFootprintIsBounded(t *testing.T) {
	doubled := "let a0 = {x: object.spec.a, y: object.spec.b}; "
	for i := range 40 {
		doubled += fmt.Sprintf("let a%d = {x: a%d, y: a%d}; ", i+1, i, i)
	}
	var fields []string
	for i := range 300 {
		fields = append(fields, fmt.Sprintf("object.f%d", i))
	}
	rounds := "object.spec.a" + strings.Repeat(" + object.a", 400) + " + #acc.b"
	for range maxPredicates {
		rounds = "reduce(pods, " + rounds + ", object)"
	}
	for name, tc := range map[string]struct{ source, want string }{
		"each variable twice":      {doubled + "a40.x.kind", "spec.a spec.b"},
		"one of many":              {"[" + strings.Join(fields, ",") + "][0].x", "f0 f1 f10"},
		"many indexes":             {"object.spec" + strings.Repeat("[params.key]", 60), "spec"},
		"many rounds":              {rounds, "* pods:*"},
		"results in results":       {"reduce(1..9, reduce(1..9, [#acc, object.spec.a]), object.spec.b)", "spec.a spec.b"},
		"results that grow inward": {"reduce(1..9, ({n: #acc, e: object.spec}), nil).n.n.n.n.n.e.x", "spec"},
	} {
		p := compiled(t, tc.source, worldScope)
		shapes := &worldShapes{}
		start := time.Now()
		p.Shape(shapes).Read(footprint.Value)
		if taken := time.Since(start); taken > time.Second {
			t.Errorf("%s: took %v", name, taken)
		}
		if got := shapes.String(); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: reads %s, want %s", name, got, tc.want)
		}
	}
}

// richWorld has values of every kind.
func richWorld() *world {
	object := sample()
	spec, _ := object["spec"].(map[string]any)
	spec["a"], spec["items"] = map[string]any{"b": int64(1), "name": "a"}, spec["ports"]
	spec["nested"] = []any{spec["ports"], []any{int64(1), nil, []any{"a"}}}
	spec["whole"] = map[string]any{"apiVersion": "v1", "kind": "Pod"}
	object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}, "odd"}}
	return &world{object: object, pods: []any{sample(), object}}
}

// FuzzFootprint makes sure that no expression breaks the promise of the footprint.
func FuzzFootprint(f *testing.F) {
	for _, row := range function.All() {
		f.Add(row.Example.Expression)
	}
	for seed := range 200 {
		f.Add(generateExpression().Example(seed))
	}
	w := richWorld()
	f.Fuzz(func(t *testing.T, source string) {
		p, err := Compile(source, worldScope)
		if err != nil {
			return
		}
		if _, err := w.eval(p); errors.Is(err, value.ErrBudget) {
			return // Less to read is less to pay for.
		}
		for _, how := range []footprint.Strength{footprint.Exists, footprint.Length, footprint.Value} {
			_, _ = checkSame(t, p, w, how)
		}
	})
}

// theObject resolves the one name of the example.
type theObject struct{ reads *footprint.Tree }

func (o theObject) Shape(int) footprint.Shape { return footprint.Object(o.reads) }

func ExampleProgram_Shape() {
	p, err := Compile(`object.spec.paused != true && any(object.spec.ports, .name == "client")`, NewScope("object"))
	if err != nil {
		fmt.Println(err)
		return
	}
	reads := &footprint.Tree{}
	p.Shape(theObject{reads}).Read(footprint.Value)
	fmt.Println(reads.Paths())
	// Output: [spec.paused spec.ports[*].name]
}
