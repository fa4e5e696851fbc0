// Package operator runs rules: those of files and those of set objects, each as the
// identity that its set names.
//
//	files   -> SetFiles   \                         / tenant (shop/bot): engine, caches, writer
//	objects -> SetObjects -> rules.Join -> Set.Of -> tenant (the process's own)
//	                                                \ ...
//	access.Watcher -> verdict -> gate, Engine.Deny -> status of the set objects
//
// There is one engine for each identity, and everything that it reads and writes with
// impersonates that ServiceAccount: nothing in an engine can mix two of them. Nothing
// is sent as a ServiceAccount that is not there.
//
// A process that leads runs its engines; one that waits for the lease keeps their
// caches warm.
package operator
