package operator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// schemaLook is how often it is asked whether the schemas of the cluster have changed.
const schemaLook = 10 * time.Second

// object is a set object, and what became of it. It is immutable.
type object struct {
	source.Object
	// Of the present version.
	compilation
	// good is the newest version that was accepted. The zero value is none.
	good version
	// running is the version in effect: good, without what the present version suspends if that is refused.
	running version
	// mistakes are those of the present version, or why it does not fit the schemas any
	// more. With warnings.
	mistakes document.Errors
	// over is why the present version is not compiled, nil where it is: the sets of its account are too long.
	over error
	// taken says that a file has the same set, which then is the one that counts.
	taken bool
	// revision is when its status last had a reason to be another one that no tenant shows.
	revision uint64
}

// version is a version of a set object that was accepted.
type version struct {
	source.Object
	set *rules.Set
	// seen is what was known of the resources that it names when it was compiled, nil for what was not.
	seen map[apischema.GroupVersionResource]*schema.Resource
}

// refused reports whether the present version is not in effect.
func (s *object) refused() bool { return s.over != nil || len(s.mistakes.Of(document.Mistake)) > 0 }

// refusedSince reports whether it is refused, and was not as it was before, or was another version then.
func (s *object) refusedSince(was *object) bool {
	return s.refused() && (was == nil || was.Generation != s.Generation || !was.refused())
}

// why is why it is refused.
func (s *object) why() error {
	if s.over != nil {
		return s.over
	}
	return errors.New(s.mistakes.Of(document.Mistake)[0].Message)
}

// size is how much the set takes of what its account may have.
func (s *object) size() int64 {
	if s.good.set == nil {
		return 0
	}
	return int64(len(s.good.Document.Data))
}

// effective are the rules of the object that are to be in effect, nil for none.
func (s *object) effective() *rules.Set {
	if s.Deleting || s.taken {
		return nil
	}
	return s.running.set
}

// Follow keeps the rules of set objects in effect until the context is done.
func (o *Operator) Follow(ctx context.Context, objects *source.Objects, schemas source.Schemas) {
	ticker := o.options.Clock.NewTicker(schemaLook)
	defer ticker.Stop()
	for {
		if objects.Synced() && o.SetObjects(ctx, objects.List(), schemas) && ctx.Err() == nil {
			continue
		}
		select {
		case <-objects.Changed():
		case <-schemas.Changed():
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// SetObjects replaces the rules that come from set objects. One that is wrong is
// refused, and changes nothing: what it said before stays in effect. What cannot be put
// into effect is logged and tried again with the next change. It reports whether it is
// to be called again, since accounts have more changed sets than are compiled in a turn.
func (o *Operator) SetObjects(ctx context.Context, all []source.Object, schemas source.Schemas) (again bool) {
	o.mu.Lock()
	inEffect := o.accepted()
	o.mu.Unlock()
	known, news := schemas.Ask(ctx, named(append(inEffect, all...)))
	o.mu.Lock()
	defer o.mu.Unlock()
	before, first := o.objects, !o.listed
	o.listed = true
	turn := &turn{compiled: map[types.NamespacedName]int64{}}
	if !first { // At the start, a set that is not known would be taken for one that is gone.
		turn.limit = o.options.Settings.AccountRules
	}
	o.take(all, known, news, turn)
	defer o.lookWhatIsAsked(before)
	if !first && !o.undone && maps.EqualFunc(before, o.objects, sameRules) {
		if !maps.Equal(before, o.objects) {
			o.changed()
		}
		return turn.ended
	}
	err := o.regroup()
	if o.undone = err != nil; err != nil {
		o.options.Log.Error("rules of set objects could not be put into effect", "err", err)
	}
	return turn.ended
}

// lookWhatIsAsked has those who run sets read them of which another version asks for something else than what they have last read. The lock
// is held.
func (s *state) lookWhatIsAsked(before map[source.Key]*object) {
	for key, set := range s.objects {
		was, t := before[key], s.runs[key]
		if was != nil && t != nil && was.ResourceVersion != set.ResourceVersion && !slices.Equal(t.book.asked(key), set.asked()) {
			t.engine.Tidy()
		}
	}
}

// asked names the rules that the object asks to resume, as far as the watch shows.
func (s *object) asked() []string { return spec.Resumed(s.Annotations[spec.ResumeAnnotation]) }

// take judges set objects, by what is known of schemas, of which some may be news. One that is refused leaves the version
// before in effect. What has no turn stays as it was. The lock is held.
func (c *core) take(all []source.Object, known *schema.Catalog, news bool, turn *turn) {
	before, views, files := c.objects, &views{known, map[[2]*schema.Resource]bool{}}, owners(c.rules)
	c.objects = make(map[source.Key]*object, len(all))
	long := map[types.NamespacedName]int64{} // the sets of each account
	for _, one := range byAge(all) {
		_, taken := files[one.Key]
		was := before[one.Key]
		if was != nil && was.UID != one.UID {
			was = nil // It was another object of the same name.
		}
		over := c.overlong(one, long[one.Account])
		if was != nil && !news && was.taken == taken && text(was.over) == text(over) && reflect.DeepEqual(was.Object, one) {
			c.objects[one.Key] = was
			long[one.Account] += was.size()
			continue
		}
		if over == nil && !turn.has(was, one) {
			if was != nil {
				c.objects[one.Key] = was
				long[one.Account] += was.size()
			}
			continue
		}
		now := &object{Object: one, taken: taken, over: over, revision: c.revision()}
		if over == nil {
			now.compilation = c.compiledAfter(was, one, views, news)
		}
		now.mistakes = append(slices.Clone(now.found), now.misplaced()...)
		switch {
		case !now.refused():
			now.good = version{one, now.built, now.seen}
		case was != nil && c.fits(long[one.Account]+was.size()):
			if now.good = was.good; news {
				now.good = c.unchecked(now.good, views)
			}
		}
		now.running = c.stopped(was, now, views)
		long[one.Account] += now.size()
		if now.refusedSince(was) {
			c.options.Log.Warn("a rule set is refused, its status says why", "set", one.String(), "err", now.why())
		}
		c.objects[one.Key] = now
	}
}

// stopped is the version in effect. What a user suspends stops, though the present version is refused. A refused version starts nothing.
func (c *core) stopped(was, now *object, views *views) version {
	out := now.good
	if out.set == nil || !now.refused() {
		return out
	}
	out.Object = now.good.Suspending(now.Object)
	switch {
	case bytes.Equal(out.Document.Data, now.good.Document.Data):
		return now.good
	case was.good.set == now.good.set && bytes.Equal(out.Document.Data, was.running.Document.Data):
		return was.running
	}
	out.set = c.loaded(out.Document, views)
	return out
}

// compiledAfter compiles a set object, as far as what its version before was compiled to does not hold any more.
func (c *core) compiledAfter(was *object, one source.Object, views *views, news bool) compilation {
	switch {
	case was == nil || was.Generation != one.Generation || was.over != nil:
		return c.compiled(one, views)
	case news:
		return c.recompiled(one, was.compilation, views)
	default:
		return was.compilation
	}
}

// sameRules reports whether nothing has changed that an engine must know.
func sameRules(a, b *object) bool {
	return a == b || a.effective() == b.effective() && a.Deleting == b.Deleting && a.UID == b.UID && slices.Equal(a.accounts(), b.accounts())
}

// nameless is the mistake of a set that does not say who acts. Only a file may leave
// that out.
func nameless(one source.Object) document.Errors {
	sets, _ := spec.Parse([]document.File{one.Document}, one.Namespace)
	var out document.Errors
	for _, set := range sets {
		if set.Identity == (types.NamespacedName{}) && !set.Faulty() {
			out = append(out, set.Node().Get("spec").Errorf("name one: it is who reads and writes",
				"a %s in the cluster must have a serviceAccountName", set.Kind))
		}
	}
	return out
}

// misplaced are the mistakes that are not of what the set says.
func (s *object) misplaced() document.Errors {
	var out document.Errors
	if s.LostNull != "" {
		out = append(out, &document.Error{
			File: s.Document.Name, Path: s.LostNull, Message: "a null was lost on its way into the cluster",
			Hint: "apply with --server-side, or write ${nil} in a body",
		})
	}
	if s.taken {
		out = append(out, &document.Error{
			File: s.Document.Name, Message: fmt.Sprintf("a file that dyncontroller runs has the same %s", s.Kind),
			Hint: "rename one of them, or take away the file",
		})
	}
	return out
}

// owners are the sets of rules, and who acts for each.
func owners(set *rules.Set) map[source.Key]types.NamespacedName {
	out := map[source.Key]types.NamespacedName{}
	for _, rule := range set.Rules() {
		out[keyOf(rule.ID)] = rule.Identity()
	}
	return out
}

// named lists the resources that set objects name, each once.
func named(all []source.Object) []apischema.GroupVersionResource {
	out := map[apischema.GroupVersionResource]bool{}
	for _, one := range all {
		for _, gvr := range one.Resources {
			out[gvr] = true
		}
	}
	return slices.SortedFunc(maps.Keys(out), byResource)
}

func byResource(a, b apischema.GroupVersionResource) int { return cmp.Compare(a.String(), b.String()) }
