// Package informer keeps caches of what rules watch: one dynamic shared
// informer per (GVR, namespace, label selector, field selector), each with a
// context of its own, so that one can be stopped without the others. The
// client-go factory cannot do that (kubernetes#79610, #138800).
//
//	Want(keys) -> kept, added, removed
//	Deny(keys) -> dropped until they are not denied any more
//	event      -> Handler.Changed(name of the object, and what it was and is)
//	View(key, name) -> what the cache knows
//	Version(key)    -> how far it has seen
//	Read(question)  -> what matches, through indexes that are made when first asked for
//
// The informers of one API server, of one set or several, are Peers: they share a bound of first lists, the
// objects that several of them hold, and what is known of the health of that server.
//
// It does not know rules, and it never writes.
package informer
