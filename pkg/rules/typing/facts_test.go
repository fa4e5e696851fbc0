package typing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// TestFactsWith makes sure that the pointer changes with what is known, and only
// with that, as it is the key of what has been checked.
func TestFactsWith(t *testing.T) {
	var unknown *typing.Facts
	some := unknown.With(0, "spec", "a").With(-1)
	tests := map[string]struct {
		reason string
		root   int
		path   []string
		same   bool
	}{
		"again":           {"It is known.", 0, []string{"spec", "a"}, true},
		"a parent":        {"It must be there.", 0, []string{"spec"}, true},
		"the root":        {"It must be there.", 0, nil, true},
		"below":           {"It is more.", 0, []string{"spec", "a", "b"}, false},
		"beside":          {"It is more.", 0, []string{"spec", "b"}, false},
		"another root":    {"It is more.", 1, nil, false},
		"a root again":    {"It is known.", -1, nil, true},
		"below that root": {"It is more.", -1, []string{"x"}, false},
	}
	for name, tt := range tests {
		more := some.With(tt.root, tt.path...)
		if (more == some) != tt.same {
			t.Errorf("%s: the same is %v: %s", name, more == some, tt.reason)
		}
		if !more.Has(tt.root, tt.path...) || some.Has(tt.root, tt.path...) != tt.same {
			t.Errorf("%s: it is not known then, or was before", name)
		}
		if !more.Has(0, "spec", "a") || !more.Has(-1) {
			t.Errorf("%s: something is forgotten", name)
		}
	}
	if unknown.Has(0) || unknown.With(0) == nil || unknown.Named() != nil {
		t.Error("nothing is known of nothing")
	}
	if named := some.Named(); !named.Has(0, "spec", "a") || named.Has(-1) || named.Named() != named {
		t.Error("names have roots that are not below zero")
	}
}

func TestFactsCommon(t *testing.T) {
	var unknown *typing.Facts
	a := unknown.With(0, "a")
	ab := a.With(0, "b", "c")
	other := unknown.With(1)
	tests := map[string]struct {
		reason string
		f, g   *typing.Facts
		want   []string // The paths of root 0.
		same   bool
	}{
		"itself":           {"All of it.", ab, ab, []string{"", "a", "b"}, true},
		"less":             {"What both know.", ab, a, []string{"", "a"}, false},
		"more":             {"What both know.", a, ab, []string{"", "a"}, true},
		"another":          {"Only the root.", unknown.With(0, "b"), a, []string{""}, false},
		"another root":     {"Nothing.", a, other, nil, false},
		"nothing":          {"Nothing.", a, nil, nil, false},
		"of nothing":       {"Nothing.", nil, a, nil, true},
		"one root of two":  {"That one.", ab.With(1), ab, []string{"", "a", "b"}, false},
		"a parent of both": {"The parent.", unknown.With(0, "b", "d"), unknown.With(0, "b", "c"), []string{"", "b"}, false},
	}
	for name, tt := range tests {
		common := tt.f.Common(tt.g)
		for _, path := range []string{"", "a", "b", "c"} {
			var keys []string
			if path != "" {
				keys = []string{path}
			}
			want := false
			for _, known := range tt.want {
				want = want || known == path
			}
			if common.Has(0, keys...) != want {
				t.Errorf("%s: that %q is there is known: %v, want %v: %s", name, path, !want, want, tt.reason)
			}
		}
		if (common == tt.f) != tt.same || len(tt.want) == 0 && !tt.same && common != nil {
			t.Errorf("%s: the same is %v", name, common == tt.f)
		}
	}
}

// TestFactsIs holds that a text which is known is all that can be there, as long as all facts say so.
func TestFactsIs(t *testing.T) {
	path := []string{"metadata", "labels", "app"}
	read := func(f *typing.Facts) []any {
		at := f.Apply(0, object)
		for _, key := range path {
			at, _ = read(at, key)
		}
		all, _ := at.Constants()
		return all
	}
	var none *typing.Facts
	web, there := none.Is("web", 0, path...), none.With(0, path...)
	tests := map[string]struct {
		reason string
		facts  *typing.Facts
		want   []any
	}{
		"is":            {"It is that text.", web, []any{"web"}},
		"later":         {"It was only there.", there.Is("web", 0, path...), []any{"web"}},
		"still":         {"That it is there is no news.", web.With(0, path...), []any{"web"}},
		"and another":   {"Beside what else is known.", web.With(0, "metadata", "labels", "tier"), []any{"web"}},
		"both":          {"Both say it.", web.Common(none.Is("web", 0, path...)), []any{"web"}},
		"only there":    {"One says no more.", web.Common(there), nil},
		"either of two": {"It may be the other one.", web.Common(none.Is("db", 0, path...)), nil},
	}
	if web.Is("web", 0, path...) != web {
		t.Error("what is known is told as news")
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, read(tt.facts)); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", name, tt.reason, diff)
		}
		if !tt.facts.Has(0, path...) {
			t.Errorf("%s: it is not there", name)
		}
	}
}
