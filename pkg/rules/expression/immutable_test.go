package expression

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestInputIsNeverChanged evaluates whatever builds something from its input and
// compares the input with a copy from before. Lists get room to grow, so that an
// append in place would show.
func TestInputIsNeverChanged(t *testing.T) {
	names := env{"object": sample(), "xs": roomy(int64(3), nil, int64(1), int64(2)), "ys": roomy("b", "a", "c")}
	names["nested"] = roomy(roomy(int64(2), int64(1)), roomy(roomy(int64(3))), value.Omitted{}, map[string]any{"a": value.Omitted{}})
	before := copied(names)
	for _, source := range []string{
		"sort(xs)", "sort(ys, \"desc\")", "sortBy(xs, #)", "sortBy(ys, [desc(#), #])", "reverse(xs)", "uniq(xs)", "flatten(nested)",
		"concat(xs, [9])", "concat(xs[:2], [9])", "concat(take(xs, 2), [9])", "concat(filter(xs, true), [9])", "take(xs, 2)",
		"reduce([1, 2], concat(#acc, [#]), xs[:1])", "xs[:2]", "median([2, 1, 3])", "median(map(filter(xs, # != nil), #))",
		"merge(object, {spec: {pd: {replicas: 9}}})", "merge(object.metadata, object.metadata)", "merge(nil, object)",
		"merge(object.spec, {pd: {replicas: nil}})", "groupBy(ys, #)", "fromPairs(toPairs(object))", "keys(object)", "values(object)",
		"object.metadata.annotations", "object.status", "{a: object, b: omit()}", "[xs, omit()]", "nested", "map(xs, #)", "toJSON(object)",
		"join(ys, \",\")", "min(filter(xs, # != nil))", "object == merge(object, {})", "condition(object, \"Ready\")", "default(xs, [])",
		"let a = xs; sort(a)", "xs | sort() | reverse()", "map(object.spec.ports, merge(#, {port: 1}))",
	} {
		v, err := names.eval(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := value.Strip(v, nil); err != nil {
			t.Errorf("Strip(%s): %v", source, err)
		}
		if diff := cmp.Diff(before, copied(names)); diff != "" {
			t.Fatalf("%s changed its input: (-before +after)\n%s", source, diff)
		}
	}
}

// TestConstantsAreNeverChanged makes sure that a literal that is built once gives
// the same value each time.
func TestConstantsAreNeverChanged(t *testing.T) {
	sources := []string{
		"concat([3, 1], [2])", "sort([3, 1, 2])", "reverse([1, 2])", "merge({a: {b: 1}}, {a: {c: 2}})", "sortBy([{n: 2}, {n: 1}], .n)",
		"concat([1, 2, 3][:1], [9]) == [1, 9]",
	}
	for _, f := range function.All() {
		sources = append(sources, f.Example.Expression)
	}
	for _, source := range sources {
		p := compiled(t, source, NewScope())
		first, err := p.Eval(&Evaluation{Instant: newYear()})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Eval(&Evaluation{Instant: newYear()})
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(second)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s gave %s and then %s", source, text, again)
		}
	}
}

func roomy(elements ...any) []any {
	return append(make([]any, 0, 2*len(elements)), elements...)
}

// copied copies v deeply, with the room behind the lists.
func copied(v any) any {
	switch v := v.(type) {
	case env:
		return copied(map[string]any(v))
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, element := range v {
			m[key] = copied(element)
		}
		return m
	case []any:
		list := make([]any, cap(v))
		for i, element := range v[:cap(v)] {
			list[i] = copied(element)
		}
		return list
	default:
		return v
	}
}
