package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Applied returns the object after a manager has applied the body to it with force, as [plan.Options] asks for it. It is the merge of
// the API server itself, by structured-merge-diff: lists and maps are merged as the schema says, and what the manager's entry in
// managedFields has and the body does not goes, unless another entry has it too. A manager without a name gives nothing up.
//
// Where nothing is known of the resource, maps are merged and lists are replaced, as the API server does without a schema. A body that
// the API server refuses is merged in the same way. The result shares what it can with both, so it is read only.
func (c *Catalog) Applied(gvr schema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any {
	return c.applied(gvr, subresource, manager, object, body, false)
}

// AppliedWhole is [Catalog.Applied] of a whole object, with all that others own of it.
func (c *Catalog) AppliedWhole(gvr schema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any {
	return c.applied(gvr, subresource, manager, object, body, true)
}

func (c *Catalog) applied(gvr schema.GroupVersionResource, subresource, manager string, object, body map[string]any, whole bool) map[string]any {
	found := c.Resource(gvr)
	t := Open()
	if found != nil {
		t = found.Type
	}
	after, err := t.applied(subresource, manager, object, body, whole)
	if err != nil && whole {
		after, err = t.applied(subresource, manager, object, body, false)
	}
	if err != nil {
		after, _ = Open().applied(subresource, "", object, body, false)
	}
	if _, apart := found.subresource("status"); apart && after != nil {
		after = statusApart(subresource, object, after)
	}
	return after
}

func (r *Resource) subresource(name string) (t *Type, there bool) {
	if r == nil {
		return nil, false
	}
	t, there = r.Subresources[name]
	return t, there
}

// statusApart undoes what the API server passes over: the status in a write of the object, and all else in one of the status.
func statusApart(subresource string, before, after map[string]any) map[string]any {
	kept, from := maps.Clone(after), before
	switch subresource {
	case "status":
		kept, from = maps.Clone(before), after
	case "":
	default:
		return after
	}
	delete(kept, "status")
	if status, there := from["status"]; there {
		kept["status"] = status
	}
	return kept
}

// anyVersion is that of all entries of managedFields: fields are taken to have the same names in all versions of a resource.
const anyVersion fieldpath.APIVersion = "v"

func (t *Type) applied(subresource, manager string, object, body map[string]any, whole bool) (map[string]any, error) {
	managers := fieldpath.ManagedFields{}
	var own map[string]any
	if manager != "" {
		own = managersOf(managers, subresource, manager, object)
	}
	var before map[string]any
	if name := plan.Text(object, "metadata", "name"); whole && name != "" {
		before = plan.WithField(object, plan.Path{"metadata", "managedFields"}, nil)
		body = plan.WithField(body, plan.Path{"metadata", "name"}, name) // As each apply has it, so that the metadata stay.
	} else {
		before, _ = t.cut(object, body, own).(map[string]any)
	}
	m := model{refs: map[*Type]int{}}
	root := m.ref(t, before, body)
	m.Types = append(m.Types, *unknown)
	live, err := typed.AsTyped(value.NewValueInterface(before), &m.Schema, root, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	config, err := typed.AsTyped(value.NewValueInterface(body), &m.Schema, root)
	if err != nil {
		return nil, err
	}
	builder := merge.UpdaterBuilder{Converter: oneVersion{}, ReturnInputOnNoop: true}
	out, _, err := builder.BuildUpdater().Apply(live, config, anyVersion, managers, manager, true)
	if err != nil {
		return nil, err
	}
	after, _ := out.AsValue().Unstructured().(map[string]any)
	return put(object, before, after), nil
}

// managersOf adds the entries of managedFields where the manager has one, and returns what that one has as a tree.
func managersOf(out fieldpath.ManagedFields, subresource, manager string, object map[string]any) (own map[string]any) {
	found, _ := plan.Lookup(object, plan.Path{"metadata", "managedFields"})
	list, _ := found.([]any)
	for i, element := range list {
		entry, _ := element.(map[string]any)
		tree := plan.FieldSet(entry)
		if tree == nil {
			continue
		}
		name, applies := strconv.Itoa(i), entry["operation"] == "Apply"
		if applies && entry["manager"] == manager && plan.Text(entry, "subresource") == subresource {
			name, own = manager, tree
		}
		set := fieldpath.NewSet()
		if data, err := json.Marshal(tree); err != nil || set.FromJSON(bytes.NewReader(data)) != nil {
			continue // The API server sends none of another form.
		}
		out[name] = fieldpath.NewVersionedSet(set, anyVersion, applies)
	}
	if own == nil {
		clear(out)
	}
	return own
}

// cut returns the part of an object that an apply may concern: what is in the body, or what the manager owns as a tree of FieldsV1.
// The rest costs time, and a cache may not have kept all of it. What is not a map that is merged is whole.
func (t *Type) cut(object, body any, owned map[string]any) any {
	fields, isMap := object.(map[string]any)
	wanted, wantsMap := body.(map[string]any)
	if !isMap || body != nil && !wantsMap || len(owned)+len(wanted) == 0 || t != nil && t.Map != nil && t.Map.Atomic {
		return object
	}
	out := map[string]any{}
	for key, old := range fields {
		next, given := wanted[key]
		tree, isOwned := owned["f:"+key].(map[string]any)
		if given || isOwned {
			f, _ := t.Field(key)
			out[key] = f.Type.cut(old, next, tree)
		}
	}
	return out
}

// put returns the object with a part that was cut from it as it is after.
func put(object, before, after map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for key, cut := range before {
		whole, isMap := object[key].(map[string]any)
		part, _ := cut.(map[string]any)
		next, there := after[key]
		below, stays := next.(map[string]any)
		switch partial := isMap && !sameMap(whole, part); {
		case partial && (stays || next == nil): // A map of which all was removed is nil.
			if rest := put(whole, part, below); len(rest) > 0 {
				out[key] = rest
			} else if there {
				out[key] = next
			} else {
				delete(out, key)
			}
		case there:
			out[key] = next
		default:
			delete(out, key)
		}
	}
	for key, next := range after {
		if _, was := before[key]; !was {
			out[key] = next
		}
	}
	return out
}

// sameMap reports whether both are one map.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// oneVersion implements [merge.Converter].
type oneVersion struct{}

// Convert implements [merge.Converter].
func (oneVersion) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}

var errMissingVersion = errors.New("there is no such version")

// IsMissingVersionError implements [merge.Converter].
func (oneVersion) IsMissingVersionError(err error) bool { return errors.Is(err, errMissingVersion) }

// model is a type as structured-merge-diff reads it, as far as some values reach. So its size is bounded by theirs, though types may
// contain themselves.
type model struct {
	smd.Schema
	refs map[*Type]int // the index of each in the schema
}

var (
	scalar       = smd.Untyped
	unknownName  = "unknown"
	unknownRef   = smd.TypeRef{NamedType: &unknownName}
	unknownAtoms = smd.Atom{
		Scalar: &scalar,
		List:   &smd.List{ElementType: unknownRef, ElementRelationship: smd.Atomic},
		Map:    &smd.Map{ElementType: unknownRef, ElementRelationship: smd.Separable},
	}
	// unknown is a place of which nothing is known: maps are merged and lists are replaced.
	unknown = &smd.TypeDef{Name: unknownName, Atom: unknownAtoms}
)

// atomOf returns how a type is merged, with nothing known of what is in it.
func atomOf(t *Type) smd.Atom {
	out := smd.Atom{Scalar: &scalar}
	if t.Map != nil {
		out.Map = &smd.Map{ElementType: unknownRef, ElementRelationship: smd.Separable}
		if t.Map.Atomic {
			out.Map.ElementRelationship = smd.Atomic
		}
	}
	if t.List != nil {
		out.List = &smd.List{ElementType: unknownRef, ElementRelationship: smd.Atomic}
		if t.List.Kind != Atomic {
			out.List.ElementRelationship, out.Keys = smd.Associative, t.List.Keys
		}
	}
	return out
}

// ref returns the type of values.
func (m *model) ref(t *Type, values ...any) smd.TypeRef {
	if t == nil || t.Map == nil && t.List == nil && !t.Known() || t == open {
		return unknownRef
	}
	at, known := m.refs[t]
	if !known {
		at = len(m.Types)
		m.refs[t], m.Types = at, append(m.Types, smd.TypeDef{Name: strconv.Itoa(at), Atom: atomOf(t)})
	}
	def := m.Types[at]
	if t.Map != nil && !t.Map.Atomic {
		m.fields(def.Map, t, values)
	}
	if t.List != nil && t.List.Kind != Atomic {
		var elements []any
		for _, v := range values {
			list, _ := v.([]any)
			elements = append(elements, list...)
		}
		def.List.ElementType = m.ref(t.List.Items, elements...)
		if at, known := m.refs[t.List.Items]; known && t.List.Items.Map != nil {
			m.keys(m.Types[at].Map, t.List.Items, t.List.Keys)
		}
	}
	name := def.Name
	return smd.TypeRef{NamedType: &name}
}

// fields adds the types of what is in maps.
func (m *model) fields(of *smd.Map, t *Type, values []any) {
	below := map[string][]any{}
	var others []any
	for _, v := range values {
		fields, _ := v.(map[string]any)
		for key, item := range fields {
			if _, named := t.Map.Fields[key]; named {
				below[key] = append(below[key], item)
			} else {
				others = append(others, item)
			}
		}
	}
	for key, items := range below {
		f := t.Map.Fields[key]
		ref := m.ref(f.Type, items...)
		add(of, smd.StructField{Name: key, Type: ref, Default: f.Default})
	}
	if len(others) > 0 && t.Map.Values != nil {
		of.ElementType = m.ref(t.Map.Values, others...)
	}
}

// keys adds the fields that tell elements of a list apart: the defaults of those that are not written count.
func (m *model) keys(of *smd.Map, t *Type, names []string) {
	for _, name := range names {
		if f, there := t.Map.Fields[name]; there {
			add(of, smd.StructField{Name: name, Type: m.ref(f.Type), Default: f.Default})
		}
	}
}

func add(of *smd.Map, field smd.StructField) {
	for _, known := range of.Fields {
		if known.Name == field.Name {
			return
		}
	}
	of.Fields = append(of.Fields, field)
}

// Grain returns how server-side apply treats the objects of a resource, nil where that is not known; see [plan.Grain].
func (c *Catalog) Grain(gvr schema.GroupVersionResource, subresource string) plan.Grain {
	found := c.Resource(gvr)
	if found == nil || subresource != "" && subresource != "status" {
		return nil
	}
	return grain{found.Type}
}

// grain implements [plan.Grain].
type grain struct{ *Type }

// Below implements [plan.Grain].
func (g grain) Below(key string) plan.Grain {
	f, _ := g.Field(key)
	return grainOf(f.Type)
}

// Element implements [plan.Grain].
func (g grain) Element() plan.Grain { return grainOf(g.Items()) }

func grainOf(t *Type) plan.Grain {
	if !t.Known() {
		return nil
	}
	return grain{t}
}

// WholeMap implements [plan.Grain].
func (g grain) WholeMap() bool { return g.Map != nil && g.Map.Atomic }

// WholeList implements [plan.Grain].
func (g grain) WholeList() bool { return g.List == nil || g.List.Kind == Atomic }

// Key implements [plan.Grain].
func (g grain) Key(element any) (pairs map[string]any, ok bool) {
	if g.List == nil {
		return nil, false
	}
	return g.List.Pairs(element)
}

// Pairs returns the fields that tell an element of a list with keys from others, with their defaults. It is not ok where there are none.
func (l *List) Pairs(element any) (pairs map[string]any, ok bool) {
	fields, isMap := element.(map[string]any)
	if l.Kind != Keyed || !isMap {
		return nil, false
	}
	pairs = map[string]any{}
	for _, name := range l.Keys {
		v := fields[name]
		if v == nil {
			f, _ := l.Items.Field(name)
			v = f.Default
		}
		if v != nil {
			pairs[name] = v
		}
	}
	return pairs, len(pairs) > 0
}
