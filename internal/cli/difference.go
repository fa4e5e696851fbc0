//go:build !operator

package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// written is what writes go to: an object, by its resource, namespace and name, or a subresource that is an object of another
// kind.
type written struct {
	plan.Object
	subresource string
}

// difference is what a dry run makes of one object, which may take several writes.
type difference struct {
	written
	before, after map[string]any // nil where there is none
	rules         []plan.Rule
	hidden        []*redact.Values // by each of the writes, nil of a clean-up, which does not know it
	applied       []applyOf
	derived       plan.Derived
	secret        bool     // A rule reads Secrets, so that what was there may be a copy of a value that one had.
	finalizers    []string // of an object that is deleted, which stays until they are gone
	owns          int      // so many of what it owns are deleted as well
	orphans       bool     // It is deleted, and what it owns stays.
}

// applyOf is what an apply wanted, and what came of it.
type applyOf struct {
	wanted, answer map[string]any
}

// pruned leaves, of an object before and after, what is shown of it.
type pruned func(before, after any) (old, now any)

// prepare leaves what may be shown, and reports whether that is anything: of a new object all, of one that is gone which it
// was, of any other what is left by prune.
func (d *difference) prepare(prune pruned) bool {
	if d.before != nil && d.after != nil && slices.Contains(d.hidden, nil) { // Something is cleaned up.
		for _, apply := range d.applied {
			d.after = compare.Kept(d.after, apply.wanted, apply.answer)
		}
	}
	before, after := d.before, d.after
	if before != nil {
		before = plan.WithoutMetadata(before, serverFields...)
	}
	if after != nil {
		after = plan.WithoutMetadata(after, serverFields...)
	}
	switch {
	case plan.Equal(before, after):
		return false
	case before != nil && after != nil:
		old, now := prune(before, after)
		oldFields, _ := old.(map[string]any)
		nowFields, _ := now.(map[string]any)
		before, after = d.identified(oldFields), d.identified(nowFields)
	case before != nil:
		before = d.identified(map[string]any{})
	}
	for _, values := range d.hidden {
		if values != nil {
			d.Namespace, d.Name = values.Text(d.Namespace), values.Text(d.Name)
		}
	}
	shownBefore, shownAfter := compare.TellApart(before, after, d.mask(before, true), d.mask(after, false))
	d.before, _ = shownBefore.(map[string]any)
	d.after, _ = shownAfter.(map[string]any)
	return true
}

// forReading prepares what is read as a text: with what stays around each change, which may be shown if no rule reads Secrets.
func (d *difference) forReading(secrets bool) bool {
	if d.after != nil {
		d.after = compare.WithOwnership(d.before, d.after)
	}
	neighbours := !secrets && !slices.ContainsFunc(d.hidden, d.mayHaveCopies)
	if !d.prepare(func(before, after any) (old, now any) {
		return compare.Around(unidentified(before, after), unidentified(after, before), neighbours)
	}) {
		return false
	}
	before, after := compare.Excerpts(d.before, d.after)
	d.before, _ = before.(map[string]any)
	d.after, _ = after.(map[string]any)
	return true
}

// unidentified is an object without what identified adds, and without metadata that is the same in the other version.
func unidentified(of, other any) any {
	object, _ := of.(map[string]any)
	version, _ := other.(map[string]any)
	object, version = plan.WithoutMetadata(object, "name", "namespace"), plan.WithoutMetadata(version, "name", "namespace")
	if plan.Equal(object["metadata"], version["metadata"]) {
		delete(object, "metadata")
	}
	delete(object, "apiVersion")
	delete(object, "kind")
	return object
}

// serverFields are the fields of metadata that only the API server sets.
var serverFields = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"}

// identified adds which object it is, nil for none.
func (d *difference) identified(fields map[string]any) map[string]any {
	if fields == nil {
		return nil
	}
	object := d.after
	if object == nil {
		object = d.before
	}
	out := maps.Clone(fields)
	out["apiVersion"], out["kind"] = object["apiVersion"], object["kind"]
	if out = plan.WithField(out, plan.Path{"metadata", "name"}, d.Name); d.Namespace != "" {
		out = plan.WithField(out, plan.Path{"metadata", "namespace"}, d.Namespace)
	}
	return out
}

// mask masks what the writes must not show, nil for no object. Of rules that are gone nobody knows what they have copied from
// Secrets, nor which values a Secret had before that a rule reads. There, all texts are masked but those that say which
// object it is, and its finalizers.
func (d *difference) mask(object map[string]any, old bool) any {
	if object == nil {
		return nil
	}
	out := d.derived.Hide(object, (&redact.Values{}).Whole)
	for _, values := range d.hidden {
		if values != nil {
			out = values.Tree(out)
		}
		if values != nil && (!old || !d.mayHaveCopies(values)) {
			continue
		}
		shown, _ := out.(map[string]any)
		masked, _ := withoutTexts(out).(map[string]any)
		if finalizers, found := plan.Lookup(shown, plan.Path{"metadata", "finalizers"}); found {
			masked = plan.WithField(masked, plan.Path{"metadata", "finalizers"}, finalizers)
		}
		out = d.identified(masked)
	}
	return out
}

// mayHaveCopies reports whether what was there before a write may have copies of Secrets that nobody knows.
func (d *difference) mayHaveCopies(values *redact.Values) bool {
	return values == nil || d.secret || !values.Empty()
}

func withoutTexts(value any) any {
	switch value := value.(type) {
	case string:
		return redact.Plain(value)
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, below := range value {
			out[key] = withoutTexts(below)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = withoutTexts(element)
		}
		return out
	default:
		return value
	}
}

// text is a unified diff of the YAML, in whose head are the object and the rules that change it. A deletion is one line.
func (d *difference) text() (string, error) {
	before, after, err := d.yaml()
	if err != nil {
		return "", err
	}
	rules := strings.Join(ruleNames(d.rules...), ", ")
	from, to := d.title(), d.title()
	switch d.change() {
	case "create":
		from = os.DevNull
	case "delete":
		return printable.Line(fmt.Sprintf("delete %s (%s)%s", from, rules, d.consequences())) + "\n", nil
	}
	return compare.Whole(printable.Line(from)+"\tlive", printable.Line(to)+"\t"+printable.Line(rules), before, after), nil
}

// consequences says what a deletion leads to, as far as it is known here.
func (d *difference) consequences() string {
	out := ""
	if d.owns > 0 {
		out = fmt.Sprintf(", with %s that it owns", document.Count(d.owns, "object"))
	}
	if d.orphans {
		out += ", without what it owns"
	}
	if len(d.finalizers) > 0 {
		out += ": it stays until its finalizers are removed: " + strings.Join(d.finalizers, ", ")
	}
	return out
}

func (d *difference) title() string {
	if d.subresource == "" {
		return d.String()
	}
	return d.String() + "/" + d.subresource
}

// yaml is the object before and after, empty where there is none.
func (d *difference) yaml() (before, after string, err error) {
	texts := [2]string{}
	for i, object := range []map[string]any{d.before, d.after} {
		if object == nil {
			continue
		}
		data, err := compare.YAML(object)
		if err != nil {
			return "", "", internal(fmt.Errorf("showing %s: %w", d.title(), err))
		}
		texts[i] = string(data)
	}
	return texts[0], texts[1], nil
}
