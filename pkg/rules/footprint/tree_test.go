package footprint_test

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// read is a field as the tests write it.
type read struct {
	path footprint.Path
	how  footprint.Strength
}

func tree(reads ...read) *footprint.Tree {
	t := &footprint.Tree{}
	for _, r := range reads {
		t.Add(r.path, r.how)
	}
	return t
}

// at reads steps from a text: keys with dots between, numbers, * for all items and
// .* for all values.
func at(how footprint.Strength, text string) read {
	path := footprint.Path{}
	for step := range strings.FieldsSeq(strings.ReplaceAll(text, ".", " ")) {
		switch step {
		case "[*]":
			path = path.Then(footprint.Items())
		case "*":
			path = path.Then(footprint.Values())
		case "0", "1":
			path = path.Then(footprint.Index(int(step[0] - '0')))
		default:
			path = path.Then(footprint.Key(step))
		}
	}
	return read{path, how}
}

func exists(text string) read { return at(footprint.Exists, text) }
func length(text string) read { return at(footprint.Length, text) }
func value(text string) read  { return at(footprint.Value, text) }

func TestPaths(t *testing.T) {
	tests := map[string]struct {
		reason string
		reads  []read
		want   []string
	}{
		"empty":              {reason: "Nothing is nothing.", want: []string{}},
		"root":               {reason: "That there is an object is no field.", reads: []read{exists("")}, want: []string{}},
		"whole":              {reason: "The whole object takes all in.", reads: []read{value("spec.a"), value(""), length("b")}, want: []string{"*"}},
		"kinds":              {reason: "Each strength has its words.", reads: []read{exists("a"), length("b"), value("c")}, want: []string{"c", "exists(a)", "len(b)"}},
		"strongest":          {reason: "The strongest counts.", reads: []read{value("a"), exists("a"), length("b"), exists("b")}, want: []string{"a", "len(b)"}},
		"implied":            {reason: "What is below says that it is there.", reads: []read{exists("a"), value("a.b")}, want: []string{"a.b"}},
		"covered":            {reason: "A whole value takes in what is below.", reads: []read{value("a.b"), value("a"), value("a.c")}, want: []string{"a"}},
		"length beside":      {reason: "Keys beside a field are said.", reads: []read{length("a"), value("a.b")}, want: []string{"a.b", "len(a)"}},
		"length of items":    {reason: "All elements say how many there are.", reads: []read{length("a"), value("a.[*].b")}, want: []string{"a[*].b"}},
		"first and all":      {reason: "All elements take in the first.", reads: []read{value("a.0.b"), value("a.[*].b")}, want: []string{"a[*].b"}},
		"all and first":      {reason: "Whatever the order.", reads: []read{value("a.[*].b"), value("a.0.b")}, want: []string{"a[*].b"}},
		"more of the first":  {reason: "What is beyond them is said.", reads: []read{value("a.[*].b"), value("a.0.c"), exists("a.1.b")}, want: []string{"a[*].b", "a[0].c"}},
		"more below":         {reason: "At any depth.", reads: []read{value("a.[*].b.c"), value("a.0.b.d")}, want: []string{"a[*].b.c", "a[0].b.d"}},
		"values":             {reason: "Keys as elements.", reads: []read{value("a.*.b"), value("a.k.b"), value("a.k.c")}, want: []string{"a.*.b", "a.k.c"}},
		"dynamic":            {reason: "Any key or element by value is all.", reads: []read{value("a.*"), value("a.[*]")}, want: []string{"a"}},
		"dynamic object":     {reason: "Of the object too.", reads: []read{value("*"), value("[*]")}, want: []string{"*"}},
		"values of a map":    {reason: "A list would be another.", reads: []read{value("a.*")}, want: []string{"a.*"}},
		"odd keys":           {reason: "Keys that are no names are quoted.", reads: []read{value("a/b.c-d"), value("a.0x")}, want: []string{`["a/b"]["c-d"]`, `a["0x"]`}},
		"values and an item": {reason: "Both can be of one field.", reads: []read{value("a.*.b"), value("a.[*].b")}, want: []string{"a.*.b", "a[*].b"}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, tree(tc.reads...).Paths()); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestCovers(t *testing.T) {
	tests := map[string]struct {
		has, wants []read
		want       bool
	}{
		"nothing wants nothing":   {want: true},
		"everything":              {has: []read{value("")}, wants: []read{value("a.b"), length("c")}, want: true},
		"nothing has nothing":     {wants: []read{exists("a")}},
		"the same":                {has: []read{value("a.b")}, wants: []read{value("a.b")}, want: true},
		"a parent":                {has: []read{value("a")}, wants: []read{value("a.b")}, want: true},
		"a child":                 {has: []read{value("a.b")}, wants: []read{value("a")}},
		"less":                    {has: []read{exists("a")}, wants: []read{length("a")}},
		"more":                    {has: []read{length("a")}, wants: []read{exists("a")}, want: true},
		"all for one":             {has: []read{value("a.[*].b")}, wants: []read{value("a.0.b")}, want: true},
		"one for all":             {has: []read{value("a.0.b")}, wants: []read{value("a.[*].b")}},
		"values for a key":        {has: []read{value("a.*")}, wants: []read{value("a.k.c")}, want: true},
		"items are not values":    {has: []read{value("a.[*]")}, wants: []read{value("a.*")}},
		"beside what is there":    {has: []read{value("a.b")}, wants: []read{value("a.b"), exists("c")}},
		"existence is on the way": {has: []read{value("a.b.c")}, wants: []read{exists("a.b")}, want: true},
	}
	for name, tc := range tests {
		if got := tree(tc.has...).Covers(tree(tc.wants...)); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestTouches(t *testing.T) {
	tests := map[string]struct {
		reads []read
		path  string
		want  bool
	}{
		"nothing is read":             {path: "a"},
		"nothing, of the object":      {path: ""},
		"the object":                  {reads: []read{exists("a")}, path: "", want: true},
		"the field":                   {reads: []read{exists("a.b")}, path: "a.b", want: true},
		"a parent":                    {reads: []read{exists("a.b")}, path: "a", want: true},
		"below a value":               {reads: []read{value("a")}, path: "a.b.c", want: true},
		"below what only exists":      {reads: []read{exists("a")}, path: "a.b"},
		"beside":                      {reads: []read{value("a.b")}, path: "a.c"},
		"a key of counted ones":       {reads: []read{length("a")}, path: "a.b", want: true},
		"below a counted key":         {reads: []read{length("a")}, path: "a.b.c"},
		"an element of many":          {reads: []read{value("a.[*].b")}, path: "a.1", want: true},
		"its field":                   {reads: []read{value("a.[*].b")}, path: "a.1.b", want: true},
		"another field of it":         {reads: []read{value("a.[*].b")}, path: "a.1.c"},
		"another element":             {reads: []read{value("a.0.b")}, path: "a.1.b"},
		"another element comes":       {reads: []read{value("a.0.b")}, path: "a.1", want: true},
		"any element":                 {reads: []read{value("a.0.b")}, path: "a.[*].b", want: true},
		"any key":                     {reads: []read{value("a.k.b")}, path: "a.*.b", want: true},
		"any key, other field":        {reads: []read{value("a.k.b")}, path: "a.*.c"},
		"a string that in looks for":  {reads: []read{exists("a.x")}, path: "a.1", want: true},
		"what makes a map an object":  {reads: []read{value("a.spec.b")}, path: "a.kind", want: true},
		"but not where nobody looks":  {reads: []read{value("a.spec.b")}, path: "c.kind"},
		"a key under any":             {reads: []read{value("a.*.b")}, path: "a.k.b", want: true},
		"an element for a map's keys": {reads: []read{value("a.*.b")}, path: "a.1.b"},
	}
	for name, tc := range tests {
		if got := tree(tc.reads...).Touches(value(tc.path).path); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// drawReads is fields among few names, so that they meet.
func drawReads(t *rapid.T, label string) []read {
	step := rapid.SampledFrom([]string{"a", "b", "[*]", "*", "0", "1"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) read {
		how := rapid.SampledFrom([]footprint.Strength{footprint.Exists, footprint.Length, footprint.Value}).Draw(t, "how")
		return at(how, strings.Join(rapid.SliceOfN(step, 0, 4).Draw(t, "path"), "."))
	}), 0, 6).Draw(t, label)
}

// TestTreesAreSets makes sure that neither order nor repetition matters.
func TestTreesAreSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reads := drawReads(t, "reads")
		added := tree(reads...)
		shuffled := tree(rapid.Permutation(reads).Draw(t, "order")...)
		cut := rapid.IntRange(0, len(reads)).Draw(t, "cut")
		merged := footprint.Union(tree(reads[cut:]...), added, tree(reads[:cut]...))
		if !reflect.DeepEqual(added, shuffled) || !reflect.DeepEqual(added, merged) {
			t.Fatalf("added %v, in another order %v, merged %v", added.Paths(), shuffled.Paths(), merged.Paths())
		}
		for _, r := range reads {
			if !added.Covers(tree(r)) || !added.Touches(r.path) {
				t.Fatalf("%v does not have %v", added.Paths(), r.path)
			}
		}
		more := footprint.Union(added, tree(drawReads(t, "more")...))
		if !more.Covers(added) {
			t.Fatalf("%v does not cover %v", more.Paths(), added.Paths())
		}
		if added.Empty() != (len(reads) == 0) {
			t.Fatalf("%v empty: %v", reads, added.Empty())
		}
	})
}

// TestBelow shows a tree as who walks it sees it.
func TestBelow(t *testing.T) {
	tree := tree(value("stringData.a"), exists("l.[*]"), length("l.0"))
	tree.Alias("stringData", "data")
	tree.Alias("none", "other")
	got := map[string]footprint.Strength{}
	var walk func(path footprint.Path, n *footprint.Tree)
	walk = func(path footprint.Path, n *footprint.Tree) {
		for step, below := range n.Below() {
			at := path.Then(step)
			got[at.String()+" "+step.Key()+" "+strconv.Itoa(step.Index())] = below.Strength()
			walk(at, below)
		}
	}
	walk(nil, tree)
	want := map[string]footprint.Strength{
		"stringData stringData 0": footprint.Exists, "stringData.a a 0": footprint.Value, "data data 0": footprint.Exists, "data.a a 0": footprint.Value,
		"l l 0": footprint.Exists, "l[*]  0": footprint.Exists, "l[0]  0": footprint.Length,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeys(t *testing.T) {
	keys, through := footprint.Fields("a", "b.c").Keys()
	if !through || !slices.Equal(keys, []string{"a", "b.c"}) {
		t.Errorf("got %v", keys)
	}
	for _, step := range []footprint.Step{footprint.Items(), footprint.Values(), footprint.Index(0)} {
		if keys, through := footprint.Fields("a").Then(step).Keys(); through {
			t.Errorf("got %v", keys)
		}
	}
}
