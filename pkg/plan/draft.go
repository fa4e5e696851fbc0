package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxAdded bounds what one patch may add to an object, copies included, in
// bytes of JSON: twice what etcd stores.
const maxAdded = 3 << 20

// draft is an object while a JSON patch is applied to it. Only the maps and
// lists that the patch writes to are copied, each once, so that a thousand
// operations on a large object cost no more than a thousand on a small one.
type draft struct {
	root  *container
	added int
}

// container is a map or a list of the draft's own. Others within it are
// containers too, or still those of the object and not to be changed.
type container struct {
	fields map[string]any
	list   []any
}

// jsonPatched returns current, which is not changed, with an RFC 6902 patch as
// the API server understands it: replace and test take a missing field of a map
// for null, and so does copy.
func jsonPatched(current map[string]any, body any) (map[string]any, error) {
	operations, err := parseJSONPatch(body)
	if err != nil {
		return nil, err
	}
	d := &draft{root: &container{fields: maps.Clone(current)}}
	if d.root.fields == nil {
		d.root.fields = map[string]any{}
	}
	for i, o := range operations {
		if err := d.apply(o); err != nil {
			return nil, fmt.Errorf("operation %d of the json patch, %s: %w", i, o.op, err)
		}
	}
	after, _ := plain(d.root).(map[string]any)
	return after, nil
}

func (d *draft) apply(o jsonOperation) error {
	switch o.op {
	case "add":
		return d.add(o.path, o.value)
	case "replace":
		return d.replace(o.path, o.value)
	case "remove":
		_, err := d.remove(o.path)
		return err
	case "move":
		value, err := d.remove(o.from)
		if err != nil {
			return err
		}
		return d.insert(o.path, value)
	case "copy":
		value, err := d.read(o.from)
		if err != nil {
			return err
		}
		return d.add(o.path, value)
	default:
		value, err := d.read(o.path)
		if err == nil && !Equal(value, o.value) {
			err = fmt.Errorf("%s has another value", shortened(o.path))
		}
		return err
	}
}

// parent returns the container that the last step of a path leads into.
func (d *draft) parent(path Path) (*container, error) {
	at := d.root
	for i, step := range path[:len(path)-1] {
		value, err := at.get(step)
		if err != nil {
			return nil, missing(path[:i+1])
		}
		var own *container
		switch value := value.(type) {
		case *container:
			own = value
		case map[string]any:
			own = &container{fields: maps.Clone(value)}
		case []any:
			own = &container{list: slices.Clone(value)}
		default:
			return nil, fmt.Errorf("%s is neither a map nor a list", shortened(path[:i+1]))
		}
		at.put(step, own)
		at = own
	}
	return at, nil
}

func missing(path Path) error { return fmt.Errorf("there is no %s", shortened(path)) }

// shortened is a path for a message; its keys are the user's.
func shortened(path Path) string {
	const longest = 200
	text := path.String()
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

// read returns a value that stays as it is, whatever becomes of the draft: what
// is read is no container any more.
func (d *draft) read(path Path) (any, error) {
	at, err := d.parent(path)
	if err != nil {
		return nil, err
	}
	last := path[len(path)-1]
	value, err := at.get(last)
	switch {
	case err != nil && at.fields != nil:
		return nil, nil
	case err != nil:
		return nil, missing(path)
	}
	value = plain(value)
	at.put(last, value)
	return value, nil
}

// add inserts a value that was not there before.
func (d *draft) add(path Path, value any) error {
	if err := d.charge(value); err != nil {
		return err
	}
	return d.insert(path, value)
}

func (d *draft) charge(value any) error {
	if d.added += sizeOf(value); d.added > maxAdded {
		return fmt.Errorf("it would add more than %d bytes to the object", maxAdded)
	}
	return nil
}

func (d *draft) insert(path Path, value any) error {
	at, err := d.parent(path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	if at.fields != nil {
		at.fields[last] = value
		return nil
	}
	index := len(at.list)
	if last != "-" {
		if index, err = strconv.Atoi(last); err != nil || index < 0 || index > len(at.list) {
			return missing(path)
		}
	}
	at.list = slices.Insert(at.list, index, value)
	return nil
}

func (d *draft) replace(path Path, value any) error {
	if err := d.charge(value); err != nil {
		return err
	}
	at, err := d.parent(path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	if _, err := at.get(last); err != nil && at.fields == nil {
		return missing(path)
	}
	at.put(last, value)
	return nil
}

func (d *draft) remove(path Path) (any, error) {
	at, err := d.parent(path)
	if err != nil {
		return nil, err
	}
	last := path[len(path)-1]
	value, err := at.get(last)
	if err != nil {
		return nil, missing(path)
	}
	if at.fields != nil {
		delete(at.fields, last)
		return value, nil
	}
	index, _ := strconv.Atoi(last)
	at.list = slices.Delete(at.list, index, index+1)
	return value, nil
}

var errMissing = errors.New("missing")

// get returns what is at a key or an index.
func (c *container) get(step string) (any, error) {
	if c.fields != nil {
		value, ok := c.fields[step]
		if !ok {
			return nil, errMissing
		}
		return value, nil
	}
	index, err := strconv.Atoi(step)
	if err != nil || index < 0 || index >= len(c.list) {
		return nil, errMissing
	}
	return c.list[index], nil
}

// put replaces what is at a key or at an index that get has found.
func (c *container) put(step string, value any) {
	if c.fields != nil {
		c.fields[step] = value
		return
	}
	index, _ := strconv.Atoi(step)
	c.list[index] = value
}

// plain turns the containers of a value back into maps and lists. They are not
// used as containers any more.
func plain(value any) any {
	own, ok := value.(*container)
	if !ok {
		return value
	}
	for key, value := range own.fields {
		if inner, ok := value.(*container); ok {
			own.fields[key] = plain(inner)
		}
	}
	for i, value := range own.list {
		if inner, ok := value.(*container); ok {
			own.list[i] = plain(inner)
		}
	}
	if own.fields != nil {
		return own.fields
	}
	return own.list
}

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
