package plan

import "slices"

// identity are the fields that say which object it is. Only a create writes
// them.
var identity = []Path{
	{"apiVersion"},
	{"kind"},
	{"metadata", "name"},
	{"metadata", "generateName"},
	{"metadata", "namespace"},
}

// servers are the fields that belong to the API server.
var servers = []Path{
	{"metadata", "uid"},
	{"metadata", "resourceVersion"},
	{"metadata", "generation"},
	{"metadata", "managedFields"},
	{"metadata", "creationTimestamp"},
	{"metadata", "deletionTimestamp"},
	{"metadata", "deletionGracePeriodSeconds"},
	{"metadata", "selfLink"},
}

// identityAndServers are the fields that no rule writes but by a create.
var identityAndServers = slices.Concat(identity, servers)

// ForbiddenField returns the field under body that no rule may write, or nil
// where there is none. The body of a JSON patch is judged by its paths.
func ForbiddenField(kind Type, body any) Path {
	forbidden := servers
	if kind != Create {
		forbidden = identityAndServers
	}
	if kind != JSON {
		fields, _ := body.(map[string]any)
		if i := slices.IndexFunc(forbidden, func(path Path) bool { return touches(fields, path) }); i >= 0 {
			return forbidden[i]
		}
		return nil
	}
	all, err := Wish{Type: kind, Body: body}.claims()
	if err != nil {
		return nil
	}
	for _, c := range all {
		for _, path := range forbidden {
			if c.path.hasPrefix(path) || path.hasPrefix(c.path) {
				return path
			}
		}
	}
	return nil
}

// touches reports whether a body writes the field at a path, something in it, or what it is in.
func touches(body map[string]any, path Path) bool {
	value, there := body[path[0]]
	below, isMap := value.(map[string]any)
	switch {
	case !there || !isMap:
		return there
	case len(path) == 1:
		return len(mapClaims(nil, nil, below, false)) > 0
	default:
		return touches(below, path[1:])
	}
}
