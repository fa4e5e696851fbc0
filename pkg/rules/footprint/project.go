package footprint

import "strings"

// identity is what is kept of every object's metadata, as the engine needs it
// whatever the rules read.
var identity = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers",
}

// Project returns the object with nothing but the fields of the tree, its
// identity, its owners, its finalizers, its deletion, and the managedFields
// entries of a field manager and of those named manager/... . An expression that
// reads no more than the tree says has the same value or error on either.
//
// Scalars are kept as they are. A list that is looked into keeps its length, and
// nil in the place of elements that are not. The object is not changed; the
// result may share whole values with it and must not be changed either.
func (t *Tree) Project(object map[string]any, manager string) map[string]any {
	if t.All() {
		return object
	}
	kept := t.root.projectMap(object)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return kept
	}
	node := t.root.at(Key("metadata"))
	if node == nil {
		node = &zero
	}
	if node.how < Value {
		kept["metadata"] = node.projectMetadata(metadata, manager)
	}
	return kept
}

// zero is the node of what nobody reads.
var zero node

func (n *node) projectMetadata(metadata map[string]any, manager string) map[string]any {
	kept := n.projectMap(metadata)
	for _, key := range identity {
		if v, found := metadata[key]; found {
			kept[key] = v
		}
	}
	entries, _ := metadata["managedFields"].([]any)
	node := n.at(Key("managedFields"))
	if node != nil && node.how == Value {
		return kept
	}
	if owned := node.managed(entries, manager); len(owned) > 0 {
		kept["managedFields"] = owned
	}
	return kept
}

// managed keeps the manager's entries whole and of the others what n reads.
func (n *node) managed(entries []any, manager string) []any {
	var owned []any
	for i, element := range entries {
		entry, _ := element.(map[string]any)
		name, _ := entry["manager"].(string)
		rule, below := strings.CutPrefix(name, manager)
		switch {
		case below && (rule == "" || rule[0] == '/'):
			owned = append(owned, element)
		case n != nil:
			owned = append(owned, n.projectElement(i, element))
		}
	}
	return owned
}

// project returns nil for what is not read, which n being nil says.
func (n *node) project(v any) any {
	if n == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if n.how == Value {
			return v
		}
		return n.projectMap(v)
	case []any:
		if n.how == Value {
			return v
		}
		return n.projectList(v)
	default:
		return v
	}
}

// alwaysKept reports whether a key stays in every map: a map that has both is an
// object, whose spec and status read as empty maps where they are absent.
func alwaysKept(key string) bool { return key == "apiVersion" || key == "kind" }

func (n *node) projectMap(m map[string]any) map[string]any {
	projected := make(map[string]any, len(n.fields)+2)
	if n.how >= Length || n.values != nil {
		for key, v := range m {
			if child := n.at(Key(key)); child != nil || n.how >= Length {
				projected[key] = child.project(v)
			}
		}
	} else {
		for key, child := range n.fields {
			if v, found := m[key]; found {
				projected[key] = child.project(v)
			}
		}
	}
	for _, key := range [...]string{"apiVersion", "kind"} {
		if v, found := m[key]; found && n.fields[key] == nil {
			projected[key] = v
		}
	}
	return projected
}

func (n *node) projectList(list []any) []any {
	if n.how < Length && n.items == nil && len(n.elements) == 0 && len(n.fields) == 0 {
		return []any{}
	}
	projected := make([]any, len(list))
	for i, v := range list {
		projected[i] = n.projectElement(i, v)
	}
	return projected
}

// projectElement keeps a string that "in" may ask for.
func (n *node) projectElement(i int, v any) any {
	if child := n.at(Index(i)); child != nil {
		return child.project(v)
	}
	if text, ok := v.(string); ok && len(n.fields) > 0 {
		return text
	}
	return nil
}
