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
	secret        bool // A rule reads Secrets, so that what was there may be a copy of a value that one had.
}

// applyOf is what an apply wanted, and what came of it.
type applyOf struct {
	wanted, answer map[string]any
}

// prepare leaves what may be shown, and reports whether that is anything: of a new object all, of one that is gone which it
// was, of any other the fields that change.
func (d *difference) prepare() bool {
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
	case before == nil && after == nil:
		return false
	case before != nil && after != nil:
		old, now := compare.Only(before, after)
		oldFields, _ := old.(map[string]any)
		nowFields, _ := now.(map[string]any)
		if len(oldFields)+len(nowFields) == 0 {
			return false
		}
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
		unknown := values == nil || old && (d.secret || !values.Empty())
		if values != nil {
			out = values.Tree(out)
		}
		if !unknown {
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

// unified is a unified diff of the YAML. In its head are the object and the rules that change it.
func (d *difference) unified() (string, error) {
	before, after, err := d.yaml()
	if err != nil {
		return "", err
	}
	from, to := d.title(), d.title()
	switch d.change() {
	case "create":
		from = os.DevNull
	case "delete":
		to = os.DevNull
	}
	return compare.Unified(printable.Line(from)+"\tlive", printable.Line(to)+"\t"+printable.Line(strings.Join(ruleNames(d.rules...), ", ")), before, after), nil
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
