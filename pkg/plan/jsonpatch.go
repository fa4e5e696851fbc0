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

// jsonOperation is one step of an RFC 6902 patch.
type jsonOperation struct {
	op     string
	path   Path
	from   Path
	value  any
	fields map[string]any // as it is written
}

// ValidateJSONPatch returns an error that names the first thing wrong with an
// RFC 6902 patch.
func ValidateJSONPatch(body any) error {
	_, err := parseJSONPatch(body)
	return err
}

// ValidateJSONOperation is [ValidateJSONPatch] for one operation of a patch.
func ValidateJSONOperation(element any) error {
	_, err := parseJSONOperation(element)
	return err
}

func parseJSONPatch(body any) ([]jsonOperation, error) {
	list, ok := body.([]any)
	if !ok {
		return nil, errors.New("a json patch must be a list of operations")
	}
	if len(list) > maxSteps {
		return nil, fmt.Errorf("a json patch has at most %d operations, have %d", maxSteps, len(list))
	}
	out := make([]jsonOperation, len(list))
	for i, element := range list {
		op, err := parseJSONOperation(element)
		if err != nil {
			return nil, fmt.Errorf("operation %d of the json patch: %w", i, err)
		}
		out[i] = op
	}
	return out, nil
}

// operands are what each operation takes besides a path.
var operands = map[string]string{"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from", "remove": ""}

func parseJSONOperation(element any) (out jsonOperation, err error) {
	fields, isMap := element.(map[string]any)
	if !isMap {
		return out, errors.New("want a map with op and path")
	}
	out.op, _ = fields["op"].(string)
	operand, known := operands[out.op]
	value, hasValue := fields["value"]
	from, isFrom := pointerField(fields, "from")
	path, isPath := pointerField(fields, "path")
	out.value, out.from, out.path, out.fields = value, from, path, fields
	switch {
	case !known:
		return out, fmt.Errorf("op must be add, remove, replace, move, copy or test, have %.40q", out.op)
	case operand == "value" && !hasValue:
		return out, fmt.Errorf("%q needs a value", out.op)
	case operand == "from" && !isFrom:
		return out, fmt.Errorf("%q needs from, a JSON pointer such as /spec/replicas", out.op)
	case !isPath:
		return out, errors.New("path must be a JSON pointer such as /spec/replicas")
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != "op" && key != "path" && key != operand {
			return out, fmt.Errorf("%q has no field %.40q", out.op, key)
		}
	}
	return out, errors.Join(out.path.checkIndex(), out.from.checkIndex())
}

// pointerField refuses the empty pointer: it is the whole object, which no
// rule may replace.
func pointerField(fields map[string]any, key string) (Path, bool) {
	text, ok := fields[key].(string)
	if !ok || text == "" {
		return nil, false
	}
	if strings.Count(text, "/") > maxPointer {
		return make(Path, maxPointer+1), true // Refused by checkIndex.
	}
	return ParsePointer(text)
}

// maxPointer bounds the steps of a path.
const maxPointer = 256

// checkIndex refuses what the API server takes for an index from the end of a
// list. As the key of a map it cannot be told apart.
func (p Path) checkIndex() error {
	if len(p) > maxPointer {
		return fmt.Errorf("a path has at most %d steps, have %d", maxPointer, len(p))
	}
	signed := func(step string) bool {
		return len(step) > 1 && (step[0] == '-' || step[0] == '+') && strings.Trim(step[1:], "0123456789") == ""
	}
	if i := slices.IndexFunc(p, signed); i >= 0 {
		return fmt.Errorf("%.40q is no index: count from the start, or write - for behind the last element", p[i])
	}
	return nil
}

// maxSteps bounds the operations of a patch.
const maxSteps = 2000

// jsonDifference writes the way from before to after as JSON patch operations,
// for a merge patch that has to travel with a JSON patch.
func jsonDifference(before, after map[string]any) (steps []any) {
	var last Path
	for _, change := range changes(Rule{}, before, after) {
		path := change.Path
		for n := range path { // The first step that is not there is made with all that is in it.
			if _, there := Lookup(before, path[:n+1]); !there {
				path = path[:n+1]
				break
			}
		}
		value, there := Lookup(after, path)
		switch {
		case slices.Equal(path, last):
			continue
		case there:
			steps = append(steps, step("add", path, value))
		default:
			steps = append(steps, removal(path))
		}
		last = path
	}
	return steps
}

// maxAdded bounds what one patch may add to an object, copies included, in
// bytes of JSON: twice what etcd stores.
const maxAdded = 3 << 20

// draft is an object while a JSON patch is applied to it. Only the maps and
// lists that the patch writes to are copied, each once, so that a thousand
// operations on a large object cost no more than a thousand on a small one.
type draft struct {
	root  any
	from  any                     // root before the patch
	own   map[unsafe.Pointer]bool // copies, which nothing else shares
	added int
	// Of a patch that is not the first of a plan:
	positions *positions     // of the elements that it counts; nil for those of root
	asked     map[string]any // the object with what the plan has left out, for nothing would come of it alone
	sent      []any          // the operations as they are sent
	found     spot           // where the last path led
}

// jsonPatched returns current, which is not changed, with an RFC 6902 patch as
// the API server understands it: replace and test take a missing field of a map
// for null, and so does copy.
func jsonPatched(current map[string]any, body any) (map[string]any, error) {
	d := newDraft(current)
	err := d.patch(body)
	return d.object(), err
}

func newDraft(object map[string]any) *draft {
	return &draft{root: object, from: object, own: map[unsafe.Pointer]bool{}}
}

func (d *draft) object() map[string]any {
	object, _ := d.root.(map[string]any)
	return object
}

// patch applies all operations of a patch.
func (d *draft) patch(body any) error {
	operations, err := parseJSONPatch(body)
	if err != nil {
		return err
	}
	tested := 0
	var asRead *draft // what the patch alone makes of the object as it was read
	for i, o := range operations {
		sent, err := d.apply(o)
		if err != nil && o.op == "test" && d.positions != nil {
			// What other patches have changed no test of this one is about. The object has its resourceVersion for that.
			if asRead == nil {
				asRead = newDraft(d.positions.read())
			}
			for ; tested <= i; tested++ {
				if _, wrong := asRead.apply(operations[tested]); wrong != nil {
					break
				}
			}
			if tested > i {
				continue
			}
		}
		if lack := (missingError{}); errors.As(err, &lack) {
			err = missing(d.found.given[:len(lack.path)])
		}
		if err != nil {
			return fmt.Errorf("operation %d of the json patch, %s: %w", i, o.op, err)
		}
		if sent != nil {
			d.sent = append(d.sent, sent)
		}
	}
	return nil
}

// parent makes what an operation misses where an earlier action of the plan was to make it: of an empty map or list alone nothing is stored.
func (d *draft) parent(err error) bool {
	var lack missingError
	if d.asked == nil || !errors.As(err, &lack) {
		return false
	}
	for n := range lack.path {
		path := lack.path[:n+1]
		if _, there := Lookup(d.root, path); there {
			continue
		}
		above, _ := Lookup(d.root, path[:n])
		_, isMap := above.(map[string]any)
		_, was := Lookup(d.from, path)
		value, asked := Lookup(d.asked, path)
		if !isMap || was || !asked || d.write(path, value, false) != nil {
			return false
		}
		if d.positions != nil {
			d.positions.know(d.root, d.found)
		}
		d.sent = append(d.sent, step("add", path, value))
		return true
	}
	return false
}

// find follows a path of the patch.
func (d *draft) find(path Path, insert bool) (s spot, err error) {
	s.path = path
	if d.positions != nil {
		s, err = d.positions.locate(d.root, path, insert)
	}
	s.given = path
	d.found = s
	return s, err
}

// apply returns the operation as it is sent, nil for none.
func (d *draft) apply(o jsonOperation) (map[string]any, error) {
	var from spot
	var err error
	if o.from != nil {
		if from, err = d.find(o.from, false); err != nil {
			return nil, err
		}
	}
	switch o.op {
	case "remove":
		return d.take(o)
	case "test":
		return d.test(o)
	case "move":
		if o.value, err = d.remove(from); err != nil {
			return nil, err
		}
	case "copy":
		if o.value, err = d.read(from.path); err != nil {
			return nil, err
		}
		d.share(o.value)
	}
	return d.put(o, from)
}

func (d *draft) take(o jsonOperation) (map[string]any, error) {
	at, err := d.find(o.path, false)
	if err == nil {
		_, err = d.remove(at)
	}
	if err != nil && at.lost {
		d.positions.forget(at)
		return nil, nil // Both patches want it to be gone.
	}
	return o.at(at, spot{}), err
}

func (d *draft) test(o jsonOperation) (map[string]any, error) {
	at, err := d.find(o.path, false)
	if err != nil {
		return nil, err
	}
	value, err := d.read(at.path)
	if err == nil && !Equal(value, o.value) && value == nil && d.parent(missing(at.path)) {
		value, err = d.read(at.path)
	}
	if err == nil && !Equal(value, o.value) {
		err = fmt.Errorf("%.200s has another value", o.path)
	}
	return o.at(at, spot{}), err
}

// put writes the value of an operation, which comes from a spot if it is moved or copied.
func (d *draft) put(o jsonOperation, from spot) (map[string]any, error) {
	at, err := d.find(o.path, o.op != "replace")
	if err != nil {
		return nil, err
	}
	if (o.op == "add" || o.op == "copy") && at.list != nil && d.positions.share(at, o.value) {
		return nil, nil
	}
	if o.op != "move" {
		if d.added += sizeOf(o.value); d.added > maxAdded {
			return nil, fmt.Errorf("it would add more than %d bytes to the object", maxAdded)
		}
	}
	if err := d.write(at.path, o.value, o.op == "replace"); err != nil {
		return nil, err
	}
	if d.positions != nil {
		var moved *node
		if o.op == "move" && from.list == at.list {
			moved = from.item
		}
		d.positions.put(d.root, at, o.op != "replace", moved)
	}
	return o.at(at, from), nil
}

// at is the operation with other paths.
func (o jsonOperation) at(path, from spot) map[string]any {
	if slices.Equal(o.path, path.path) && slices.Equal(o.from, from.path) {
		return o.fields
	}
	out := maps.Clone(o.fields)
	out["path"] = path.path.Pointer()
	if o.from != nil {
		out["from"] = from.path.Pointer()
	}
	return out
}

// missingError is of a path that leads to nothing. Its keys are the user's, so the text cuts it.
type missingError struct{ path Path }

func (e missingError) Error() string { return fmt.Sprintf("there is no %.200s", e.path) }

func missing(path Path) error { return missingError{slices.Clone(path)} }

// read returns nil for a field that a map does not have.
func (d *draft) read(path Path) (any, error) {
	value, there := Lookup(d.root, path)
	parent, _ := Lookup(d.root, path[:len(path)-1])
	if _, isMap := parent.(map[string]any); !there && !isMap {
		return nil, missing(path)
	}
	return value, nil
}

func (d *draft) write(path Path, value any, replace bool) error {
	return d.edit(path, func(at any, last string) (any, error) { return set(at, last, value, replace) })
}

func (d *draft) remove(s spot) (removed any, err error) {
	err = d.edit(s.path, func(at any, last string) (any, error) {
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
	if err == nil && d.positions != nil {
		d.positions.remove(d.root, s)
	}
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
	root, err := d.editBelow(d.root, path, 0, change)
	for err != nil && d.parent(err) {
		root, err = d.editBelow(d.root, path, 0, change)
	}
	if err == nil {
		d.root = root
	}
	return err
}

func (d *draft) editBelow(at any, path Path, depth int, change func(at any, last string) (any, error)) (after any, err error) {
	if isScalar(at) {
		return nil, missing(path[:depth+1])
	}
	if after = at; !d.own[memory(at)] {
		after = shallow(at)
	}
	step := path[depth]
	if below, there := Lookup(at, Path{step}); depth == len(path)-1 {
		after, err = change(after, step)
	} else if err = errMissing; there {
		if below, err = d.editBelow(below, path, depth+1, change); err == nil {
			after, err = set(after, step, below, true)
		}
	}
	if errors.Is(err, errMissing) {
		return nil, missing(path[:depth+1])
	}
	d.own[memory(after)] = true
	return after, err
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
