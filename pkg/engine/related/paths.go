package related

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// pathTree are the paths that are asked for, so that an object costs no more than the fields
// that it has, even if every asker names a field of its own.
type pathTree struct {
	pointer string
	ends    int // of the paths, here
	below   map[string]*pathTree
}

func (t *pathTree) add(path plan.Path) {
	for i, step := range path {
		next := t.below[step]
		if next == nil {
			next = &pathTree{pointer: t.pointer + path[i:i+1].Pointer()}
			if t.below == nil {
				t.below = map[string]*pathTree{}
			}
			t.below[step] = next
		}
		t = next
	}
	t.ends++
}

// remove takes back one add of the path.
func (t *pathTree) remove(path plan.Path) {
	if len(path) == 0 {
		t.ends--
		return
	}
	next := t.below[path[0]]
	next.remove(path[1:])
	if next.ends == 0 && len(next.below) == 0 {
		delete(t.below, path[0])
	}
}

// walk visits the values that paths lead to, as far as they are there.
func (t *pathTree) walk(value any, visit func(pointer string, value any)) {
	if t.ends > 0 {
		visit(t.pointer, value)
	}
	if fields, ok := value.(map[string]any); ok && len(fields) < len(t.below) {
		for step, field := range fields {
			if next := t.below[step]; next != nil {
				next.walk(field, visit)
			}
		}
		return
	}
	for step, next := range t.below {
		if field, ok := plan.Lookup(value, plan.Path{step}); ok {
			next.walk(field, visit)
		}
	}
}
