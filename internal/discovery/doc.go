// Package discovery asks an API server which resources it serves, and what the
// objects of those that rules name look like.
//
//	discovery (all resources) + OpenAPI v3 (group-versions named by rules) -> Source
//
// All of it is asked at once, before rules are compiled, so that compiling stays
// a function of its input and an API server that does not answer is one error.
// Who compiles rules again and again follows the server: as long as nothing has
// changed, that is one small request.
package discovery
