package apiserver

// BuiltIn lists the resources of the table.
func BuiltIn() (out []Resource) {
	for _, row := range table() {
		out = append(out, Resource{row.groupVersionResource(), row.GroupVersionKind, !row.is(clusterWide), row.is(hasStatus)})
	}
	return out
}
