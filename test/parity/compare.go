package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// column is a group of fields that is compared.
type column struct {
	name string
	of   func(view) any
}

// view is the normalised objects of a namespace at a moment, by kind.
type view map[string][]object

func (w *world) view(namespace string) view {
	v := view{}
	for kind := range w.informers {
		for _, o := range w.list(kind, namespace) {
			if normal, is := w.normal(namespace, "", o.Object).(object); is {
				v[kind] = append(v[kind], normal)
			}
		}
	}
	return v
}

var (
	timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	uidPattern  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aloneNodes  = regexp.MustCompile(`^alone-\d+$`)
	generated   = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	unspecific  = []string{"resourceVersion", "managedFields", "creationTimestamp", "clusterIP", "clusterIPs"}
	ownPrefix   = "dyncontroller.dev/"
	labelsOrSo  = []string{"labels", "annotations"}
	unordered   = []string{"conditions", "ports"} // The order of ports in Endpoints is that of a hash.
)

// normal is a value without what two runs cannot have in common: names that are generated, uids, times, versions, and
// our labels.
func (w *world) normal(namespace, key string, value any) any {
	switch value := value.(type) {
	case object:
		out := object{}
		for k, v := range value {
			ours := slices.Contains(labelsOrSo, key) && strings.HasPrefix(k, ownPrefix)
			if !ours && !slices.Contains(unspecific, k) {
				out[k] = w.normal(namespace, k, v)
			}
		}
		if len(out) == 0 && slices.Contains(labelsOrSo, key) {
			return nil
		}
		return out
	case list:
		out := make(list, len(value))
		for i := range value {
			out[i] = w.normal(namespace, "", value[i])
		}
		if slices.Contains(unordered, key) {
			sorted(out)
		}
		return out
	case string:
		switch {
		case timePattern.MatchString(value):
			return "TIME"
		case aloneNodes.MatchString(value):
			return "alone"
		}
		value = uidPattern.ReplaceAllStringFunc(value, func(uid string) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return "uid of " + cmp.Or(w.names[uid], "nothing")
		})
		return generated.ReplaceAllString(strings.ReplaceAll(value, namespace, "NAMESPACE"), "-*")
	default:
		return value
	}
}

// text is JSON, which is the same for what is equal.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// each has some fields of each object of a kind, in any order.
func each(kind string, paths ...string) func(view) any {
	return func(v view) any {
		out := list{}
		for _, o := range v[kind] {
			one := object{}
			for _, path := range paths {
				if value := at(o, path); value != nil {
					one[path] = value
				}
			}
			out = append(out, one)
		}
		return sorted(out)
	}
}

func at(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		o, is := value.(object)
		if !is {
			return nil
		}
		value = o[part]
	}
	return value
}

func sorted(of list) list {
	slices.SortFunc(of, func(a, b any) int { return cmp.Compare(text(a), text(b)) })
	return of
}

// moment is what the columns hold after a step.
type moment []any

// differences tells where two values differ, a line each: theirs, then ours.
func differences(path string, theirs, ours any) []string {
	if reflect.DeepEqual(theirs, ours) {
		return nil
	}
	var out []string
	if a, is := theirs.(object); is {
		if b, is := ours.(object); is {
			both := maps.Clone(a)
			maps.Copy(both, b)
			for _, key := range slices.Sorted(maps.Keys(both)) {
				out = append(out, differences(path+"."+key, a[key], b[key])...)
			}
			return out
		}
	}
	if a, is := theirs.(list); is {
		if b, is := ours.(list); is {
			a, b := without(a, b), without(b, a)
			for i := range max(len(a), len(b)) {
				out = append(out, differences(path+"[]", element(a, i), element(b, i))...)
			}
			if out == nil {
				out = []string{path + ": another order"}
			}
			return out
		}
	}
	return []string{strings.TrimPrefix(path, ".") + ": " + text(theirs) + " != " + text(ours)}
}

// without is a multiset without the elements of another.
func without(of, other list) list {
	rest := map[string]int{}
	for _, one := range other {
		rest[text(one)]++
	}
	return slices.DeleteFunc(slices.Clone(of), func(one any) bool {
		rest[text(one)]--
		return rest[text(one)] >= 0
	})
}

func element(of list, i int) any {
	if i < len(of) {
		return of[i]
	}
	return nil
}

// known is a difference that has a reason.
type known struct {
	match *regexp.Regexp // of "EXAMPLE | COLUMN | SCENARIO | after STEP: DIFFERENCE"
	why   string         // Markdown, with a link
}

// cell is what the comparison of a column says.
type cell struct {
	unknown []string
	why     []int // of the list of known differences
}

// judge compares a column after each step. The title is that of the example, the column and the scenario.
func judge(title string, steps []step, theirs, ours list) (c cell) {
	for i := range min(len(theirs), len(ours)) {
		for _, line := range differences("", theirs[i], ours[i]) {
			line = "after " + steps[i].say + ": " + line
			reason := slices.IndexFunc(explained(), func(k known) bool { return k.match.MatchString(title + " | " + line) })
			switch {
			case reason < 0:
				c.unknown = append(c.unknown, line)
			case !slices.Contains(c.why, reason):
				c.why = append(c.why, reason)
			}
		}
	}
	return c
}
