package related

import (
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// branch is a step of the paths that are asked for. They are a tree, so that an
// object costs no more than the fields that it has, even if every asker names a
// field of its own.
type branch struct {
	pointer string
	ends    int // of the paths, here
	below   map[string]*branch
}

func (b *branch) add(path plan.Path) {
	at := b
	for i, step := range path {
		next := at.below[step]
		if next == nil {
			next = &branch{pointer: path[:i+1].Pointer()}
			if at.below == nil {
				at.below = map[string]*branch{}
			}
			at.below[step] = next
		}
		at = next
	}
	at.ends++
}

// remove takes back one add of the path.
func (b *branch) remove(path plan.Path) {
	if len(path) == 0 {
		b.ends--
		return
	}
	next := b.below[path[0]]
	next.remove(path[1:])
	if next.ends == 0 && len(next.below) == 0 {
		delete(b.below, path[0])
	}
}

// walk visits the values that paths lead to, as far as they are there.
func (b *branch) walk(value any, visit func(pointer string, value any)) {
	if b.ends > 0 {
		visit(b.pointer, value)
	}
	switch value := value.(type) {
	case map[string]any:
		b.walkMap(value, visit)
	case []any:
		for step, next := range b.below {
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(value) {
				next.walk(value[i], visit)
			}
		}
	}
}

func (b *branch) walkMap(value map[string]any, visit func(pointer string, value any)) {
	if len(value) < len(b.below) {
		for step, field := range value {
			if next := b.below[step]; next != nil {
				next.walk(field, visit)
			}
		}
		return
	}
	for step, next := range b.below {
		if field, ok := value[step]; ok {
			next.walk(field, visit)
		}
	}
}
