package dependencies

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// naive goes through all questions.
type naive map[int]map[string]plan.Read

func (n naive) ask(asker int, q plan.Read) {
	if n[asker] == nil {
		n[asker] = map[string]plan.Read{}
	}
	n[asker][q.Key()] = q
}

func (n naive) keep(asker int, questions []plan.Read) {
	delete(n, asker)
	for _, q := range questions {
		n.ask(asker, q)
	}
}

func (n naive) who(from plan.Selection, asked func(plan.Read) bool) []int {
	var out []int
	for asker, questions := range n {
		if slices.ContainsFunc(slices.Collect(maps.Values(questions)), func(q plan.Read) bool {
			return slices.Contains(q.From, from) && asked(q)
		}) {
			out = append(out, asker)
		}
	}
	return out
}

func (n naive) concerned(from plan.Selection, before, after map[string]any) []int {
	return n.who(from, func(q plan.Read) bool {
		return before != nil && q.Matches(before) || after != nil && q.Matches(after)
	})
}

// TestLikeNaive does any of the operations in any order, and holds that the index
// says what going through all questions does.
func TestLikeNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index, reference := NewIndex[int](), naive{}
		askers := rapid.IntRange(1, 5)
		maybe := rapid.OneOf(objects, rapid.Just[map[string]any](nil))
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				asker, q := askers.Draw(t, "asker"), questions.Draw(t, "question")
				index.Ask(asker, q)
				reference.ask(asker, q)
			},
			"keep": func(t *rapid.T) {
				asker, kept := askers.Draw(t, "asker"), rapid.SliceOfN(questions, 0, 4).Draw(t, "kept")
				if rapid.Bool().Draw(t, "some of before") {
					kept = append(kept, slices.Collect(maps.Values(reference[asker]))...)
				}
				index.Keep(asker, kept)
				reference.keep(asker, kept)
			},
			"forget": func(t *rapid.T) {
				asker := askers.Draw(t, "asker")
				index.Forget(asker)
				reference.keep(asker, nil)
			},
			"concerned": func(t *rapid.T) {
				from, before, after := froms.Draw(t, "from"), maybe.Draw(t, "before"), maybe.Draw(t, "after")
				same(t, index.Concerned(from, before, after), reference.concerned(from, before, after))
			},
			"": func(t *rapid.T) {
				from := froms.Draw(t, "from")
				same(t, index.Asking(from), reference.who(from, func(plan.Read) bool { return true }))
				distinct := map[string]bool{}
				for _, asked := range reference {
					for key := range asked {
						distinct[key] = true
					}
				}
				if len(index.questions) != len(distinct) || len(index.askers) != len(reference) {
					t.Fatalf("%d questions of %d askers are kept, not %d of %d",
						len(index.questions), len(index.askers), len(distinct), len(reference))
				}
				checkBuckets(t, index)
			},
		})
		for asker := range 6 {
			index.Forget(asker)
		}
		checkEmpty(t, index)
	})
}

// TestAnyTwo compares more questions and objects than a sequence of operations
// comes across.
func TestAnyTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index, reference := NewIndex[int](), naive{}
		for i, q := range rapid.SliceOfN(questions, 1, 40).Draw(t, "questions") {
			index.Ask(i, q)
			reference.ask(i, q)
		}
		before, after, from := objects.Draw(t, "before"), objects.Draw(t, "after"), froms.Draw(t, "from")
		same(t, index.Concerned(from, before, after), reference.concerned(from, before, after))
	})
}

func same(t *rapid.T, got, want []int) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the index says %v, all questions %v", got, want)
	}
}

type failer interface{ Fatalf(string, ...any) }

func checkEmpty[K comparable](t failer, x *Index[K]) {
	if len(x.askers) != 0 || len(x.questions) != 0 || len(x.selections) != 0 {
		t.Fatalf("%d askers, %d questions and %d selections are left", len(x.askers), len(x.questions), len(x.selections))
	}
}

// checkBuckets holds that what is kept of a selection is what its questions ask for.
func checkBuckets[K comparable](t failer, x *Index[K]) {
	for from, s := range x.selections {
		paths, found := map[string]int{}, map[*question[K]]bool{}
		for _, bucket := range s.buckets {
			for _, q := range bucket {
				found[q] = true
			}
		}
		for q := range found {
			if x.questions[q.digest] != q {
				t.Fatalf("%v has a question that is forgotten", from)
			}
			if q.at.key.By == plan.ByFields {
				paths[q.at.key.Of]++
			}
		}
		for pointer, counted := range s.paths {
			if counted.questions != paths[pointer] {
				t.Fatalf("%v counts %d questions with the path %s, not %d", from, counted.questions, pointer, paths[pointer])
			}
		}
		if len(s.paths) != len(paths) {
			t.Fatalf("%v keeps %d paths, not %d", from, len(s.paths), len(paths))
		}
	}
}
