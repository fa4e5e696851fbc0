package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unsafe"
)

// positions knows where the elements of the lists of an object are while a plan changes it. Every JSON patch of the plan counts them as
// they were read, and as its own operations have moved them: it knows nothing of the other patches.
type positions struct {
	root    node
	patch   int  // the number of the patch that is applied
	rule    Rule // that has written it
	journal []saved
}

// node is a value of the object as it was read, or an element that a patch has inserted.
type node struct {
	read    any              // the value as it was read, nil for none
	index   int              // of an element: where it was read, -1 for one that was inserted
	by      []Rule           // of an inserted element: who wants it
	written int              // the last patch that has written or removed it
	saved   int              // the last patch for which it is in the journal
	keys    map[string]*node // of a map: what patches have led through

	// Of a list, once a patch has counted in it:

	first  []*node // the elements as they were read
	now    []slot  // the elements as they are
	known  []any   // the list with these elements
	view   []*node // the elements as the patch viewOf sees them
	viewOf int
}

// slot is the place of an element. It stays where the element is gone, for what is inserted before it.
type slot struct {
	*node
	gone bool
}

type saved struct {
	of  *node
	was node
}

func positionsOf(object map[string]any) positions { return positions{root: node{read: object}} }

// begin is called before each patch.
func (p *positions) begin(rule Rule) (mark int) {
	p.patch++
	p.rule = rule
	return p.mark()
}

// read is the object as it was read.
func (p *positions) read() map[string]any {
	object, _ := p.root.read.(map[string]any)
	return object
}

// mark is a time to which undo takes all back.
func (p *positions) mark() int { return len(p.journal) }

func (p *positions) undo(mark int) {
	for _, s := range slices.Backward(p.journal[mark:]) {
		*s.of = s.was
	}
	p.journal = p.journal[:mark]
}

// save is called before a change of a node.
func (p *positions) save(n *node) {
	if n.saved != p.patch {
		p.journal = append(p.journal, saved{n, *n})
		n.saved, n.now = p.patch, slices.Clone(n.now)
	}
}

// spot is where a path of a patch leads.
type spot struct {
	given Path // as the patch has it
	path  Path // as it leads there now
	read  Path // as it led there when the object was read
	// inserted says that it is in an element that the patch itself has inserted.
	inserted bool
	// lost says that it was there when the object was read, and that another patch has taken it away.
	lost  bool
	item  *node // the value, nil for one that was not read
	list  *node // the list that the last step counts in, nil for one that was not read
	at    int   // the last step in that list, as the patch sees the list
	lists []*node
}

// locate follows a path through an object as it is. With insert, its last step is the place of a new element.
func (p *positions) locate(object any, path Path, insert bool) (s spot, err error) {
	at, n := object, &p.root
	s.path, s.read, s.lists = make(Path, 0, len(path)), make(Path, 0, len(path)), make([]*node, 0, len(path))
	for i, step := range path {
		if n != nil && n.written == p.patch {
			n = nil // The patch counts as it has written itself.
		}
		s.list, s.item = nil, nil
		now, read := step, step
		list, isList := at.([]any)
		was, wasList := n.elements()
		switch inserts := insert && i == len(path)-1; {
		case isList && wasList:
			n.follow(was, list)
			s.list = n
			if s.at, err = p.index(n, step, inserts); err != nil {
				return s, missing(path[:i+1])
			}
			if inserts {
				now = spelled(step, n.before(p.seen(n), s.at))
				break
			}
			s.item = p.element(n, s.at)
			index, gone := n.find(s.item)
			read = spelled(step, s.item.index)
			if gone {
				s.lost = s.item.has(path[i+1:])
				return s, goneError{append(s.read, read)}
			}
			now, s.inserted = spelled(step, index), s.inserted || s.item.index < 0
		case !isList:
			if s.item = n.key(step); s.item == nil {
				break
			}
			if _, there := Lookup(at, Path{step}); !there {
				s.lost = s.item.written != p.patch && s.item.has(path[i+1:])
			}
		}
		s.path, s.read, s.lists = append(s.path, now), append(s.read, read), append(s.lists, s.list)
		at, _ = Lookup(at, Path{now})
		n = s.item
	}
	return s, nil
}

// goneError is of a path through an element that another patch has taken away.
type goneError struct{ path Path }

func (e goneError) Error() string {
	return fmt.Sprintf("%.200s was taken away by an earlier action", e.path)
}

// spelled is an index of a list as a patch has written it, where it has.
func spelled(step string, index int) string {
	if given, err := strconv.Atoi(step); step == "-" || err == nil && given == index {
		return step
	}
	return strconv.Itoa(index)
}

// index is the place that a step names in a list as the patch sees it. Behind the elements that were read are those that other patches
// have added there.
func (p *positions) index(n *node, step string, insert bool) (int, error) {
	size := len(p.seen(n))
	if insert && step == "-" {
		return size, nil
	}
	index, err := strconv.Atoi(step)
	switch {
	case err != nil || index < 0:
	case index < size || insert && index == size:
		return index, nil
	case !insert && index < size+len(p.added(n)):
		return index, nil
	}
	return 0, errMissing
}

// element is the element at a place of a list as the patch sees it.
func (p *positions) element(n *node, place int) *node {
	seen := p.seen(n)
	if place < len(seen) {
		return seen[place]
	}
	return p.added(n)[place-len(seen)]
}

// seen are the elements of a list that the patch knows of.
func (p *positions) seen(n *node) []*node {
	if n.viewOf != p.patch {
		n.view, n.viewOf = slices.Clone(n.first), p.patch
	}
	return n.view
}

// added are the elements that other patches have inserted behind all that were read.
func (p *positions) added(n *node) (out []*node) {
	for _, at := range slices.Backward(n.now) {
		if at.index >= 0 {
			break
		}
		if !at.gone && !slices.Contains(p.seen(n), at.node) {
			out = append(out, at.node)
		}
	}
	slices.Reverse(out)
	return out
}

// elements are those of a list as it was read.
func (n *node) elements() (list []any, isList bool) {
	if n == nil {
		return nil, false
	}
	list, isList = n.read.([]any)
	return list, isList
}

// key returns what was read below a key of a map, nil for nothing.
func (n *node) key(key string) *node {
	if n == nil {
		return nil
	}
	fields, _ := n.read.(map[string]any)
	value, there := fields[key]
	if below := n.keys[key]; below != nil || !there {
		return below
	}
	if n.keys == nil {
		n.keys = map[string]*node{}
	}
	n.keys[key] = &node{read: value}
	return n.keys[key]
}

// has reports whether something was read at a path below.
func (n *node) has(path Path) bool {
	_, there := Lookup(n.read, path)
	return there
}

// find is the index of an element now.
func (n *node) find(element *node) (index int, gone bool) {
	for _, at := range n.now {
		if at.node == element {
			return index, at.gone
		}
		if !at.gone {
			index++
		}
	}
	return index, true
}

// before is the index now of what is inserted at a place of a list as it is seen.
func (n *node) before(seen []*node, place int) int {
	if place < len(seen) {
		index, _ := n.find(seen[place])
		return index
	}
	return len(n.known)
}

// follow is called with a list before a patch counts in it. If another patch has replaced the list, its elements are known by their values,
// or by their types and names.
func (n *node) follow(was, list []any) {
	if n.first == nil {
		n.first = make([]*node, 0, len(was))
		for i, element := range was {
			n.first = append(n.first, &node{read: element, index: i})
			n.now = append(n.now, slot{node: n.first[i]})
		}
		n.known = was
	}
	if sameList(n.known, list) {
		return
	}
	found := map[*node]int{} // where the elements are in the new list
	taken := make([]*node, len(list))
	for _, text := range []func(any) string{textOf, nameOf} {
		places := map[string][]int{}
		for i, element := range list {
			if name := text(element); taken[i] == nil && name != "" {
				places[name] = append(places[name], i)
			}
		}
		index := 0
		for _, at := range n.now {
			if at.gone {
				continue
			}
			name := text(n.known[index])
			index++
			if _, is := found[at.node]; !is && len(places[name]) > 0 {
				i := places[name][0]
				places[name], found[at.node], taken[i] = places[name][1:], i, at.node
			}
		}
	}
	lead := map[*node][]slot{} // what is gone, before what is there
	var gone []slot
	for _, at := range n.now {
		if _, is := found[at.node]; is {
			lead[at.node], gone = gone, nil
		} else {
			gone = append(gone, slot{at.node, true})
		}
	}
	n.now, n.known = nil, list
	for _, element := range taken {
		if element == nil {
			element = &node{index: -1}
		}
		n.now = append(append(n.now, lead[element]...), slot{node: element})
	}
	n.now = append(n.now, gone...)
}

func sameList(a, b []any) bool { return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b) }

// textOf is the same for equal values.
func textOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// nameOf tells a map in a list by its type and name, as far as it has them. It is empty for what has neither.
func nameOf(value any) string {
	if of, name := LookupPointer(value, "/type"), LookupPointer(value, "/name"); of != nil || name != nil {
		return textOf([]any{of, name})
	}
	return ""
}

// put records what a patch has done at a spot: it has written a value there, as a new element with insert. The element that is moved within
// its list stays the same.
func (p *positions) put(object any, s spot, insert bool, moved *node) {
	switch {
	case s.list != nil && insert:
		p.save(s.list)
		if moved == nil {
			moved = &node{index: -1, by: []Rule{p.rule}}
		}
		s.list.now = slices.DeleteFunc(s.list.now, func(at slot) bool { return at.node == moved })
		place := len(s.list.now)
		if seen := p.seen(s.list); s.at < len(seen) {
			place = slices.IndexFunc(s.list.now, func(at slot) bool { return at.node == seen[s.at] })
		}
		s.list.now = slices.Insert(s.list.now, place, slot{node: moved})
		s.list.view = slices.Insert(s.list.view, s.at, moved)
	case s.item != nil:
		p.save(s.item)
		s.item.written = p.patch
	}
	p.know(object, s)
}

// remove records that a patch has removed what is at a spot.
func (p *positions) remove(object any, s spot) {
	if s.list != nil && s.item != nil {
		p.save(s.list)
		place := slices.IndexFunc(s.list.now, func(at slot) bool { return at.node == s.item })
		s.list.now[place].gone = true
		if s.at < len(s.list.view) {
			s.list.view = slices.Delete(s.list.view, s.at, s.at+1)
		}
	} else if s.item != nil {
		p.save(s.item)
		s.item.written = p.patch
	}
	p.know(object, s)
}

// forget has the patch no longer see an element that another patch has taken away.
func (p *positions) forget(s spot) {
	if s.list != nil && len(s.path) == len(s.given)-1 {
		s.list.view = slices.Delete(p.seen(s.list), s.at, s.at+1)
	}
}

// know takes note of the lists that an operation has changed.
func (p *positions) know(object any, s spot) {
	for i, step := range s.path {
		if list, isList := object.([]any); isList && s.lists[i] != nil {
			p.save(s.lists[i])
			s.lists[i].known = list
		}
		object, _ = Lookup(object, Path{step})
	}
}

// share reports whether another rule has inserted an equal element, which the patch then sees at the spot as its own.
func (p *positions) share(s spot, value any) bool {
	index := 0
	for _, at := range s.list.now {
		if at.gone {
			continue
		}
		if at.index < 0 && len(at.by) > 0 && !slices.Contains(at.by, p.rule) && Equal(s.list.known[index], value) {
			p.save(at.node)
			p.save(s.list)
			at.by = append(slices.Clip(at.by), p.rule)
			s.list.view = slices.Insert(s.list.view, s.at, at.node)
			return true
		}
		index++
	}
	return false
}
