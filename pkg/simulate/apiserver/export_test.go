package apiserver

// BuiltIn lists the resources of the table.
func BuiltIn() []Resource { return builtIn() }
