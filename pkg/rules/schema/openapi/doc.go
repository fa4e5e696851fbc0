// Package openapi reads schemas: the JSON schemas of OpenAPI v3 and of
// CustomResourceDefinitions, and whole OpenAPI v3 documents.
//
//	map[string]any, as decoded -> Reader -> schema.Type
//	document of a group and version -> Parse -> Document -> schema.Resource
//
// What a schema says beyond the language of types, such as oneOf of two objects, is
// left out: the type then allows more than the API server does, never less.
package openapi
