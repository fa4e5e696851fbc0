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
	all, err := Wish{Type: kind, Body: body}.claims()
	if err != nil {
		return nil
	}
	forbidden := servers
	if kind != Create {
		forbidden = identityAndServers
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
