package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ledger is what the accepted rules want.
type ledger struct {
	Options
	accepted []Wish
	writers  map[Object][]Wish // of accepted, those that write to an object that is to stay
	trees    map[place]*claimTree
	// deleted has the first rule that deletes an object, unless that is on its
	// way out already: whoever writes to it then contradicts nobody, and may
	// have to for it to go.
	deleted map[Object]Rule
}

// accept drops the rules that lose a conflict, and what a rule still wants of
// an object that it deletes.
func (o Options) accept(wishes []Wish) (accepted []Wish, refused []Decision) {
	if len(wishes) == 1 { // As in most plans.
		return wishes, nil
	}
	l := &ledger{Options: o, writers: map[Object][]Wish{}, trees: map[place]*claimTree{}, deleted: map[Object]Rule{}}
	for len(wishes) > 0 {
		n := slices.IndexFunc(wishes, func(w Wish) bool { return w.Rule != wishes[0].Rule })
		if n < 0 {
			n = len(wishes)
		}
		if refusal := l.enter(wishes[:n]); refusal != nil {
			refused = append(refused, *refusal)
		}
		wishes = wishes[n:]
	}
	return l.accepted, refused
}

// enter records the wishes of a rule, or says why the rule cannot have them. It has its finalizer all the same: what is withheld now does
// not say what is to be done when the object is deleted.
func (l *ledger) enter(wishes []Wish) (lost *Decision) {
	applied := map[place][]Wish{} // What the rule applies to an object is one request.
	for _, wish := range wishes {
		if wish.Type == Apply {
			applied[wish.place()] = append(applied[wish.place()], wish)
		}
	}
	claims := make([][]claim, len(wishes))
	for i, wish := range wishes {
		claims[i] = l.claims(wish, applied[wish.place()])
		if wish.Type == Apply {
			delete(applied, wish.place())
		}
		if lost = l.conflict(wish, claims[i]); lost != nil {
			lost.Rule, lost.Outcome = wish.Rule, Withheld
			if i == 0 || !wishes[0].holds() {
				return lost
			}
			wishes = wishes[:1]
			break
		}
	}
	for i, wish := range wishes {
		_, gone := l.deleted[wish.Target]
		if gone && wish.Type != Delete && !wish.holds() {
			continue
		}
		l.accepted = append(l.accepted, wish)
		if wish.Type != Finalize && wish.Type != Delete && !wish.unnamed() {
			l.writers[wish.Target] = append(l.writers[wish.Target], wish)
		}
		switch {
		case wish.deletesLiving() && !gone:
			l.deleted[wish.Target] = wish.Rule
		case !gone && !wish.unnamed():
			for _, c := range claims[i] {
				l.tree(wish.place()).add(wish.Rule, c)
			}
		}
	}
	return lost
}

// conflict is what an earlier rule decides otherwise, nil where there is none.
func (l *ledger) conflict(wish Wish, all []claim) *Decision {
	if rule, gone := l.deleted[wish.Target]; gone && !wish.holds() { // A finalizer is put on before.
		if wish.Type == Delete || rule == wish.Rule {
			return nil
		}
		return &Decision{Reason: fmt.Sprintf("%s is deleted by rule %s, which comes first", wish.Target, rule), Winner: &rule}
	}
	if wish.deletesLiving() {
		// A rule that has what it wants needs no object to write it to. A finalizer is there for the day on which the object is
		// deleted.
		writers := l.writers[wish.Target]
		if i := slices.IndexFunc(writers, func(w Wish) bool { return w.Rule != wish.Rule && l.changesCurrent(w) }); i >= 0 {
			winner := writers[i].Rule
			return &Decision{Reason: fmt.Sprintf("%s is written by rule %s, which comes first", wish.Target, winner), Winner: &winner}
		}
	}
	for _, c := range all {
		if lost := l.tree(wish.place()).conflict(wish.Rule, c); lost != nil {
			return lost
		}
	}
	return nil
}

// tree is what the accepted rules want at a place.
func (l *ledger) tree(at place) *claimTree {
	if l.trees[at] == nil {
		l.trees[at] = &claimTree{}
	}
	return l.trees[at]
}

// claim is the value that a wish wants at a path, whether it is there already
// or not.
type claim struct {
	path  Path
	value any
	grain Grain // of the value, nil where it is not known
	// absent says that nothing may be there.
	absent bool
	// opaque says that the outcome depends on what is there, so no other wish
	// for the place agrees with it.
	opaque bool
	// merged says that nothing is known of this list, and the API server may merge it by its keys, so two
	// rules may each apply their own elements. It will say where they differ,
	// unless it is forced not to.
	merged bool
	// member says that the last step of the path is not a key or an index but a
	// value of the list, which is there or not.
	member bool
	// inserted says that the value becomes a further element of the list at the path.
	inserted bool
	// made says that the value is an empty map or list where there is none with something in it: it may be filled.
	made bool
}

// claims lists the paths that a wish decides. The first apply of a rule to an object decides all that the rule applies to it, and the
// others nothing more.
func (o Options) claims(w Wish, applied []Wish) []claim {
	g := o.grain(w.place())
	switch {
	case w.Type != Apply:
		return w.claims(g)
	case len(applied) == 0:
		return nil
	}
	forced := slices.ContainsFunc(applied, func(w Wish) bool { return w.Force })
	return appliedClaims(nil, nil, o.joined(applied), g, !forced)
}

// claims lists the paths that a wish decides by itself. A deletion decides none of
// them: the object is to have no fields at all, which [ledger] watches.
func (w Wish) claims(g Grain) (out []claim) {
	switch body := w.Body.(type) {
	case []any:
		operations, _ := parseJSONPatch(body) // A patch that is wrong fails when it is applied.
		d := newDraft(w.Current)
		d.positions = new(positionsOf(w.Current))
		d.positions.begin(w.Rule)
		for _, op := range operations {
			for _, c := range op.claims(d) {
				c.made = w.makes(c)
				c.path, c.grain = keyed(c.path, w.Current, g)
				out = append(out, c)
			}
		}
		if w.Restoring != nil {
			for i, c := range out {
				out[i] = c.recorded(w.Current, d.object(), g)
			}
		}
	case Finalizer: // The claim is on the name only: rules may each have a finalizer of their own.
		out = []claim{{path: finalizersPath.child(body.Name), value: body.Name, absent: !body.Present, member: true}}
	case map[string]any:
		out = appliedClaims(nil, nil, w.fields(), nil, false)
		for i, c := range out {
			out[i].made = w.makes(c)
			_, out[i].grain = keyed(c.path, nil, g)
		}
	}
	return out
}

// recorded is the claim of a change for a while, from one value to another. A list in which it names no element by its key is recorded and
// restored as a whole, so the rule decides about all of it.
func (c claim) recorded(before, after any, g Grain) claim {
	path := c.steps(before, g)
	if n := len(path); n < len(c.path) || c.inserted && n == len(c.path) {
		list := found(after, path, g)
		if list == nil {
			return claim{path: c.path[:n], absent: true}
		}
		for _, step := range path {
			g = within(g, step)
		}
		return claim{path: c.path[:n], value: *list, grain: g}
	}
	return c
}

// makes reports whether a claim makes an empty map or list where there is none with something in it. Finalizers are put on before, so
// that an empty list of them would take them off.
func (w Wish) makes(c claim) bool {
	was, there := Lookup(w.Current, c.path)
	return IsEmpty(c.value) && !c.inserted && (!there || was == nil || IsEmpty(was)) && !slices.Equal(c.path, finalizersPath)
}

// appliedClaims appends a claim for each part of a value that its manager owns once it is applied: each leaf, the elements of a list that
// is merged by themselves, and a map or a list that is atomic as a whole. An empty map claims nothing else: it agrees with whatever is
// put into it. Where nothing is known of a list, it is merged or not.
func appliedClaims(out []claim, at Path, value any, g Grain, merged bool) []claim {
	switch value := value.(type) {
	case map[string]any:
		if g != nil && g.WholeMap() {
			return append(out, claim{path: at, value: value, grain: g})
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			var below Grain
			if g != nil {
				below = g.Below(key)
			}
			out = appliedClaims(out, at.child(key), value[key], below, merged)
		}
	case []any:
		if g == nil || g.WholeList() {
			return append(out, claim{path: at, value: value, grain: g, merged: g == nil && merged})
		}
		for _, element := range value {
			if step, hasKey := keyOf(element, g); hasKey {
				out = appliedClaims(out, at.child(step), element, g.Element(), merged)
			} else {
				out = append(out, claim{path: at.child(ScalarText(element)), value: element, member: true})
			}
		}
	case nil:
		out = append(out, claim{path: at, absent: true})
	default:
		out = append(out, claim{path: at, value: value})
	}
	return out
}

// keyOf is the step to an element of a list with keys, as FieldsV1 writes it.
func keyOf(element any, g Grain) (step string, ok bool) {
	pairs, ok := g.Key(element)
	if !ok {
		return "", false
	}
	data, err := json.Marshal(pairs) // With keys in order.
	return "k:" + string(data), err == nil
}

// keyed returns a path with the keys of elements in place of their indexes, where lists have keys, and the grain of what it leads to.
func keyed(path Path, value any, g Grain) (out Path, of Grain) {
	out = slices.Clone(path)
	for i, step := range path {
		if g == nil {
			break
		}
		at, _ := Lookup(value, Path{step})
		if _, isList := value.([]any); !isList {
			value, g = at, g.Below(step)
			continue
		}
		if name, hasKey := keyOf(at, g); hasKey {
			out[i] = name
		}
		value, g = at, g.Element()
	}
	return out, g
}

// claims are those of an operation, which is carried out. Elements of lists are claimed by the places where they were read, which no other
// operation moves. What the patch has inserted itself nobody else claims.
func (o jsonOperation) claims(d *draft) (out []claim) {
	if o.op == "move" {
		s, err := d.find(o.from, false)
		out = d.claims(out, o.from, s, err, false, claim{opaque: true})
	}
	d.found = spot{}
	_, err := d.apply(o) // If it cannot be carried out, the patch fails when it is applied.
	c := claim{value: o.value}
	switch o.op {
	case "test":
		return nil
	case "remove":
		c.absent = true
	case "copy", "move":
		c.opaque = true
	}
	s := d.found
	if !slices.Equal(s.given, o.path) {
		s = spot{}
	}
	return d.claims(out, o.path, s, err, o.op != "replace" && o.op != "remove", c)
}

// claims appends a claim on the place that a path leads to, of an insertion on the list around it. A parent that is not there yet may become
// a list. Who counts finalizers decides them all: other rules name theirs.
func (d *draft) claims(out []claim, path Path, s spot, err error, insert bool, c claim) []claim {
	if s.inserted {
		return out
	}
	if c.path = path; err == nil && len(s.read) == len(path) {
		c.path = s.read
	}
	above, last := c.path[:len(path)-1], c.path[len(path)-1]
	parent, _ := Lookup(d.root, s.path[:max(0, len(s.path)-1)])
	if len(s.path) != len(path) {
		parent, _ = Lookup(d.from, above)
	}
	switch _, isMap := parent.(map[string]any); {
	case isMap || last != "-" && !isIndex(last):
	case slices.Equal(above, finalizersPath):
		c = claim{path: above, opaque: true}
	case insert:
		c.path, c.inserted = above, true
	}
	return append(out, c)
}

// Fields lists the paths of the fields that a merge patch or an apply has, a list as one.
func (o Operation) Fields() (out []Path) {
	body, _ := o.Body.(map[string]any)
	for _, c := range appliedClaims(nil, nil, body, nil, false) {
		out = append(out, c.path)
	}
	return out
}

// claimTree is what the accepted rules want of one object. It answers
// whether a further rule agrees with all of them.
type claimTree struct {
	children map[string]*claimTree
	claim    *claim
	rule     Rule
	inserted []insertion
}

// insertion is an element that a rule adds to a list.
type insertion struct {
	claim claim
	rule  Rule
}

// conflict returns the first disagreement of another rule with c, or nil. What
// a rule wants twice itself is no conflict: its later action wins.
func (t *claimTree) conflict(rule Rule, c claim) *Decision {
	at := t
	for i, step := range c.path {
		if at.claim != nil && at.rule != rule && !agree(*at.claim, c.path[i:], c) {
			return conflict(c.path, at.rule)
		}
		if at = at.children[step]; at == nil {
			return nil
		}
	}
	return at.conflictBelow(rule, c, nil)
}

// conflictBelow compares c with what is claimed at and under its own path.
func (t *claimTree) conflictBelow(rule Rule, c claim, below Path) *Decision {
	if t.claim != nil && t.rule != rule && !agree(c, below, *t.claim) {
		return conflict(t.claim.path, t.rule)
	}
	for _, other := range t.inserted {
		if other.rule != rule && !agree(c, below, other.claim) {
			return conflict(other.claim.path, other.rule)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(t.children)) {
		if found := t.children[step].conflictBelow(rule, c, below.child(step)); found != nil {
			return found
		}
	}
	return nil
}

// conflict says that two rules want different values for a field.
func conflict(path Path, winner Rule) *Decision {
	reason := fmt.Sprintf("%s is decided by rule %s, which comes first", withKeys(path), winner)
	if len(path) == 3 && slices.Contains([]string{LabelSet, LabelRule, LabelOwnerUID}, path[2]) {
		// Nobody wrote the label: it says whose child the object is.
		reason = fmt.Sprintf("the object is made by rule %s, which comes first", winner)
	}
	return &Decision{Reason: reason, Winner: &winner}
}

// withKeys writes a path with steps of [keyOf] as users read it, such as spec.containers[name=main].image.
func withKeys(path Path) string {
	for i, step := range path {
		var pairs map[string]any
		if !strings.HasPrefix(step, "k:{") || json.Unmarshal([]byte(step[len("k:"):]), &pairs) != nil {
			continue
		}
		rest := withKeys(path[i+1:])
		if rest != "" && rest[0] != '[' {
			rest = "." + rest
		}
		return path[:i].String() + "[" + KeyText(pairs) + "]" + rest
	}
	return path.String()
}

// KeyText writes the fields that tell an element of a list from others, such as name=main.
func KeyText(pairs map[string]any) string {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		texts = append(texts, key+"="+ScalarText(pairs[key]))
	}
	return strings.Join(texts, ",")
}

// agree compares what one claim wants at a path under it with what the other,
// which is for that path, wants there.
func agree(a claim, below Path, b claim) bool {
	n := len(below)
	switch {
	case a.inserted || b.inserted:
		return agreeInserted(a, n, b)
	case a.made && n > 0:
		return !b.absent
	case a.merged && b.merged:
		return true
	case a.opaque || b.opaque:
		return false
	case a.merged && b.member && !b.absent:
		return true // The API server merges finalizers as a set.
	}
	value, there, known := a.wants(below, b)
	switch {
	case !known || there == b.absent:
		return false
	case !there:
		return true
	default:
		return Equal(value, b.value) || b.made && reflect.TypeOf(value) == reflect.TypeOf(b.value)
	}
}

// wants returns what the claim wants at a path below it, for which another claim is. It is not known where the other one has counted
// the last step in another list.
func (c claim) wants(below Path, other claim) (value any, there, known bool) {
	value, there = c.at(below)
	if n := len(below); n > 0 {
		parent, _ := c.at(below[:n-1])
		list, isList := parent.([]any)
		if other.member { // The last step names an element of a list.
			value, there = other.value, slices.ContainsFunc(list, func(element any) bool { return Equal(element, other.value) })
		} else if isList && other.absent && isIndex(below[n-1]) {
			return nil, false, false
		}
	}
	return value, there && !c.absent, true
}

// agreeInserted is agree where one of the claims is an insertion into a list, and the other is for something that many steps above it, or
// below.
func agreeInserted(a claim, steps int, b claim) bool {
	switch name := nameOf(a.value); {
	case a.inserted && steps > 0:
		return true // The elements that were there stay where they were.
	case a.inserted && b.inserted:
		return !a.opaque && !b.opaque && Equal(a.value, b.value) || name == "" || name != nameOf(b.value)
	default:
		return a.made || b.made
	}
}

// at follows a path into the value of the claim, by the keys of elements too.
func (c claim) at(below Path) (value any, there bool) {
	value, there = c.value, true
	g := c.grain
	for _, step := range below {
		name := "f:" + step
		if _, isList := value.([]any); isList {
			name = "i:" + step
			if strings.HasPrefix(step, "k:") {
				step, _ = stepOf(value, step, g)
			}
		}
		g = within(g, name)
		if value, there = Lookup(value, Path{step}); !there {
			return nil, false
		}
	}
	return value, there
}

// add records an accepted claim. The first rule to claim a place stays its
// owner, unless it has only made what the other fills; a rule's own later claim replaces its earlier ones above and below.
func (t *claimTree) add(rule Rule, c claim) {
	at := t
	for _, step := range c.path {
		if at.rule == rule {
			at.claim = nil
		}
		next := at.children[step]
		if next == nil {
			next = &claimTree{}
			if at.children == nil {
				at.children = map[string]*claimTree{}
			}
			at.children[step] = next
		}
		at = next
	}
	if c.inserted {
		if at.inserted = append(at.inserted, insertion{c, rule}); at.claim != nil && at.rule == rule && !at.claim.made {
			at.claim = &claim{path: c.path, opaque: true} // The list is another than the rule has claimed.
		}
		return
	}
	at.drop(rule)
	if at.claim == nil || at.claim.made && !c.made {
		at.claim, at.rule = &c, rule
	}
}

// drop forgets the claims of a rule at and below a place.
func (t *claimTree) drop(rule Rule) {
	if t.rule == rule {
		t.claim = nil
	}
	t.inserted = slices.DeleteFunc(t.inserted, func(i insertion) bool { return i.rule == rule })
	for _, child := range t.children {
		child.drop(rule)
	}
}
