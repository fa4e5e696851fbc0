package conflict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// Repeats is how many repeats may go by. The next one names the conflict.
	Repeats = 5
	// Window is how far apart two repeats may be, and how long after the last of them a rule stays slowed down.
	Window = 10 * time.Minute
	// Interval is how often a rule that is slowed down may write to the object: two or three rules against each other write
	// at most six times a minute in all.
	Interval = 30 * time.Second
)

// Object names an object.
type Object = guard.Object

// Kind says who undoes what a rule writes.
type Kind string

// The kinds of rivals.
const (
	// Itself is the rule: it wants something else each time that it sees what it wrote.
	Itself Kind = "itself"
	// Rule is another one of the same identity, or the same for another watched object.
	Rule Kind = "rule"
	// OtherIdentity is a rule that is sent as somebody else.
	OtherIdentity Kind = "another identity"
	// Admission changes the field in the very request.
	Admission Kind = "admission"
	// Manager is a field manager that is none of ours.
	Manager Kind = "manager"
	// Unknown is somebody who has left no name.
	Unknown Kind = "unknown"
	// Recursion is no rival: the rule makes objects because of objects that it has made. Target is the last of them.
	Recursion Kind = "recursion"
)

// Rival is who undoes what a rule writes. It is comparable.
type Rival struct {
	Kind    Kind
	Rule    plan.Rule // of kind Rule, and of Recursion where there is another one between
	Watched Object    // of kind Rule: for which that rule writes
	// Manager, Operation and Subresource name an entry of managedFields, of the kinds Manager and OtherIdentity.
	Manager, Operation, Subresource string
}

// manager is the field manager as people find it in managedFields.
func (r Rival) manager() string {
	out := fmt.Sprintf("field manager %q", r.Manager)
	switch {
	case r.Subresource != "":
		out += fmt.Sprintf(" (%s, %s)", r.Operation, r.Subresource)
	case r.Operation != "":
		out += fmt.Sprintf(" (%s)", r.Operation)
	}
	return out
}

// String is who it is, in short.
func (r Rival) String() string {
	switch r.Kind {
	case Rule:
		return r.Rule.String()
	case Manager:
		return r.Manager
	default:
		return string(r.Kind)
	}
}

// Conflict is a rule that is undone again and again in one object. It has paths and names, but no values.
type Conflict struct {
	Rule    plan.Rule
	Watched Object // for which the rule wrote last
	Target  Object
	// Paths are the fields, in the order in which they were found; an empty one is the object as a whole. They only grow, so
	// copies may share them.
	Paths []plan.Path
	Rival Rival // the last that was seen
	// Next is when the rule may write to the target again.
	Next time.Time

	last time.Time // of the repeats
	held bool      // the rule has had to wait since it wrote last
}

// names reports whether a field is among those of the conflict.
func (c *Conflict) names(path plan.Path) bool {
	return slices.ContainsFunc(c.Paths, func(p plan.Path) bool { return slices.Equal(p, path) })
}

// add adds a field, unless it is there or there are too many.
func (c *Conflict) add(path plan.Path) {
	if !c.names(path) && len(c.Paths) < maxFields {
		c.Paths = append(c.Paths, slices.Clone(path))
	}
}

// shownPaths is how many fields of a conflict are named.
const shownPaths = 3

// String says which fields of which object are in conflict, and with whom.
func (c Conflict) String() string {
	if c.Rival.Kind == Recursion {
		through := ""
		if c.Rival.Rule != (plan.Rule{}) {
			through = " through rule " + c.Rival.Rule.String()
		}
		return fmt.Sprintf("rule %s makes objects because of objects that it has made%s: %s because of %s", c.Rule, through, c.Target, c.Watched)
	}
	where, fields := c.Target.String(), []string{}
	for _, path := range c.Paths {
		if len(path) > 0 {
			fields = append(fields, path.String())
		}
	}
	if more := len(fields) - shownPaths; more > 0 {
		fields = append(fields[:shownPaths], fmt.Sprintf("%d more", more))
	}
	if len(fields) > 0 {
		where = strings.Join(fields, ", ") + " of " + where
	}
	rule, rival := "rule "+c.Rule.String(), map[Kind]string{
		Rule: "rule " + c.Rival.Rule.String(), OtherIdentity: "a rule of another identity, " + c.Rival.manager() + ",", Admission: "admission",
		Manager: c.Rival.manager(), Unknown: "somebody unknown",
	}[c.Rival.Kind]
	switch {
	case c.Rival.Kind == Itself:
		return where + ": " + rule + " undoes itself"
	case c.Rival.Kind == Rule && c.Rival.Watched != c.Watched:
		return fmt.Sprintf("%s: %s for %s undoes what %s writes for %s", where, rival, c.Rival.Watched, rule, c.Watched)
	}
	return where + ": " + rival + " undoes what " + rule + " writes"
}

// Error is why a rule does not write now: it is slowed down.
type Error struct{ Conflict Conflict }

// Error implements [error].
func (e *Error) Error() string {
	what := "write"
	if e.Conflict.Rival.Kind == Recursion {
		what = "new object"
	}
	return fmt.Sprintf("%s; slowed down to one %s in %s", e.Conflict, what, Interval)
}

// managerOf is who has changed a field before it was written, as the managedFields of the target say: who owns it, the one that has
// written last where there are several. If nothing but owners of fields was written, it is who else owns those. Of an object that comes
// or goes as a whole it is who was there first, and has made it. The manager of an apply is the rule's own, and no rival of it.
func (w *written) managerOf(f field) Rival {
	managers, first := plan.Managers(w.live, f.path), len(f.path) == 0
	if f.before == foreign {
		managers, first = nil, false
		for _, path := range w.applied {
			managers = append(managers, plan.Managers(w.live, path)...)
		}
	}
	var found plan.Manager
	for _, manager := range managers {
		later := cmp.Compare(manager.Time, found.Time) // RFC 3339 in UTC.
		if manager.Name != w.own && (found.Name == "" || later > 0 && !first || later < 0 && first) {
			found = manager
		}
	}
	rival := Rival{Kind: Manager, Manager: found.Name, Operation: found.Operation, Subresource: found.Subresource}
	switch {
	case found.Name == "":
		return Rival{Kind: Unknown}
	case found.Name == plan.FieldManager || strings.HasPrefix(found.Name, plan.FieldManager+"/"):
		// Rules of one identity are known by what they write; others have the same name.
		rival.Kind = OtherIdentity
	}
	return rival
}

// written is one request that changed an object.
type written struct {
	watched    Object // for which the rules were evaluated
	watchedUID types.UID
	target     Object
	uid        types.UID // of the target; as it came back where it was made
	// found is the resourceVersion that was written to, and left the one that came back. Either is empty where there is none,
	// or it is not known.
	found, left string
	fields      []field
	basis       *basis
	// own is the field manager of an apply, empty for others, which all rules share, and applied are the fields that it has.
	own     string
	applied []plan.Path
	// live is the target as it was read live just before, nil where it was not. It has all of its managedFields.
	live map[string]any
}

// field is what a rule wrote to one field.
type field struct {
	rule  plan.Rule
	path  plan.Path
	shown plan.Path // the path as it may be told
	// before is the value that was found, after the one that was sent, and answered the one that came back.
	before, after, answered any
}

// What stands for the value of an object as a whole.
const (
	absent  = "absent"
	present = "present"
	foreign = "owned by others"
	owned   = "owned"
)

// makes reports whether an operation makes an object.
func makes(o plan.Operation) bool {
	return o.Type == plan.Create || o.Target.UID == "" && o.Type != plan.Delete
}

// fieldsOf are what was written, with the paths as they may be told.
func fieldsOf(o guard.Operation, result write.Result) []field {
	var out []field
	if len(o.Changes) == 0 || o.Target.UID == "" {
		before, after := foreign, owned
		switch {
		case o.Type == plan.Delete:
			before, after = present, absent
		case makes(o.Operation):
			before, after = absent, present
		}
		for _, rule := range o.Rules {
			out = append(out, field{rule: rule, before: before, after: after, answered: after})
		}
		return out
	}
	// Some subresources answer with an object of another kind.
	readable := result.Object != nil && (o.Subresource == "" || result.Object["kind"] == o.Predicted["kind"])
	for i, change := range o.Changes {
		answered := change.After
		if readable {
			answered, _ = plan.Lookup(result.Object, change.Path)
		}
		same := func(f field) bool { return f.rule == change.Rule && slices.Equal(f.path, change.Path) }
		if at := slices.IndexFunc(out, same); at >= 0 { // It is as it was found first and left last.
			out[at].after, out[at].answered = change.After, answered
			continue
		}
		out = append(out, field{change.Rule, change.Path, o.Told.Changes[i].Path, change.Before, change.After, answered})
	}
	return out
}
