// Package schema says what the API server lets objects be: which fields there
// are, of which types, which of them are always there.
//
//	CRD files, OpenAPI, what is built in -> Catalog -> Resource -> Type
//
// It is data: readers of its sources fill it (the packages below), the checker of
// rules asks it. A place of which nothing is known is open to everything, so that
// not knowing is never an error.
package schema
