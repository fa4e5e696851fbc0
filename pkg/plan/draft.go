package plan

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// maxAdded bounds what one patch may add to an object, copies included, in
// bytes of JSON: twice what etcd stores.
const maxAdded = 3 << 20

// draft is an object while a JSON patch is applied to it. Only the maps and
// lists that the patch writes to are copied, each once, so that a thousand
// operations on a large object cost no more than a thousand on a small one.
type draft struct {
	root  any
	own   map[unsafe.Pointer]bool // copies, which nothing else shares
	added int
}

// jsonPatched returns current, which is not changed, with an RFC 6902 patch as
// the API server understands it: replace and test take a missing field of a map
// for null, and so does copy.
func jsonPatched(current map[string]any, body any) (map[string]any, error) {
	operations, err := parseJSONPatch(body)
	if err != nil {
		return nil, err
	}
	d := &draft{root: current, own: map[unsafe.Pointer]bool{}}
	for i, o := range operations {
		if err := d.apply(o); err != nil {
			return nil, fmt.Errorf("operation %d of the json patch, %s: %w", i, o.op, err)
		}
	}
	after, _ := d.root.(map[string]any)
	return after, nil
}

func (d *draft) apply(o jsonOperation) error {
	switch o.op {
	case "add", "replace":
		return d.write(o.path, o.value, o.op == "replace")
	case "remove":
		_, err := d.remove(o.path)
		return err
	case "move":
		value, err := d.remove(o.from)
		if err != nil {
			return err
		}
		return d.edit(o.path, func(at any, last string) (any, error) { return set(at, last, value, false) })
	case "copy":
		value, err := d.read(o.from)
		if err != nil {
			return err
		}
		d.share(value)
		return d.write(o.path, value, false)
	default:
		value, err := d.read(o.path)
		if err == nil && !Equal(value, o.value) {
			err = fmt.Errorf("%s has another value", shortened(o.path))
		}
		return err
	}
}

func missing(path Path) error { return fmt.Errorf("there is no %s", shortened(path)) }

func noContainer(path Path) error {
	return fmt.Errorf("%s is neither a map nor a list", shortened(path))
}

// shortened is a path for a message; its keys are the user's.
func shortened(path Path) string {
	const longest = 200
	text := path.String()
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

func (d *draft) read(path Path) (any, error) {
	at := d.root
	for i := range path {
		next, there := Lookup(at, path[i:i+1])
		_, isMap := at.(map[string]any)
		switch {
		case there:
		case isMap && i == len(path)-1:
			return nil, nil
		case isScalar(at):
			return nil, noContainer(path[:i])
		default:
			return nil, missing(path[:i+1])
		}
		at = next
	}
	return at, nil
}

// write puts a value that was not there before.
func (d *draft) write(path Path, value any, replace bool) error {
	if d.added += sizeOf(value); d.added > maxAdded {
		return fmt.Errorf("it would add more than %d bytes to the object", maxAdded)
	}
	return d.edit(path, func(at any, last string) (any, error) { return set(at, last, value, replace) })
}

func (d *draft) remove(path Path) (removed any, err error) {
	err = d.edit(path, func(at any, last string) (any, error) {
		var there bool
		if removed, there = Lookup(at, Path{last}); !there {
			return nil, errMissing
		}
		if fields, isMap := at.(map[string]any); isMap {
			delete(fields, last)
			return at, nil
		}
		list, _ := at.([]any)
		index, _ := strconv.Atoi(last)
		return slices.Delete(list, index, index+1), nil
	})
	return removed, err
}

var errMissing = errors.New("missing")

// set puts a value at a key, or at an index of a list: in place of what is there, or before it.
func set(at any, last string, value any, replace bool) (any, error) {
	if fields, isMap := at.(map[string]any); isMap {
		fields[last] = value
		return at, nil
	}
	list, _ := at.([]any)
	index, err := strconv.Atoi(last)
	switch {
	case last == "-" && !replace:
		index = len(list)
	case err != nil || index < 0 || index > len(list) || replace && index == len(list):
		return nil, errMissing
	case replace:
		list[index] = value
		return list, nil
	}
	return slices.Insert(list, index, value), nil
}

// edit has the map or the list changed that the last step of a path leads into.
func (d *draft) edit(path Path, change func(at any, last string) (any, error)) (err error) {
	d.root, err = d.editBelow(d.root, path, 0, change)
	return err
}

func (d *draft) editBelow(at any, path Path, depth int, change func(at any, last string) (any, error)) (any, error) {
	switch {
	case isScalar(at):
		return nil, noContainer(path[:depth])
	case !d.own[memory(at)]:
		at = shallow(at)
	}
	step := path[depth]
	if depth == len(path)-1 {
		after, err := change(at, step)
		if errors.Is(err, errMissing) {
			return nil, missing(path)
		}
		d.own[memory(after)] = true
		return after, err
	}
	below, there := Lookup(at, Path{step})
	if !there {
		return nil, missing(path[:depth+1])
	}
	below, err := d.editBelow(below, path, depth+1, change)
	if err == nil {
		at, err = set(at, step, below, true)
	}
	d.own[memory(at)] = true
	return at, err
}

// shallow is a copy of a map or a list with the same values in it.
func shallow(value any) any {
	if list, isList := value.([]any); isList {
		return slices.Clone(list)
	}
	fields, _ := value.(map[string]any)
	out := make(map[string]any, len(fields))
	maps.Copy(out, fields)
	return out
}

// share makes copies of all within a value that is in two places from now on, once they are written to.
func (d *draft) share(value any) {
	if isScalar(value) || !d.own[memory(value)] {
		return // And so is all within it.
	}
	delete(d.own, memory(value))
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			d.share(below)
		}
	case []any:
		for _, below := range value {
			d.share(below)
		}
	}
}

// memory tells a map or a list from an equal one.
func memory(value any) unsafe.Pointer { return reflect.ValueOf(value).UnsafePointer() }

// sizeOf is about how many bytes a value has as JSON.
func sizeOf(value any) int {
	const scalar, between = 5, 3
	switch value := value.(type) {
	case string:
		return len(value) + between
	case []any:
		size := between
		for _, element := range value {
			size += between + sizeOf(element)
		}
		return size
	case map[string]any:
		size := between
		for key, element := range value {
			size += between + len(key) + sizeOf(element)
		}
		return size
	default:
		return scalar
	}
}
