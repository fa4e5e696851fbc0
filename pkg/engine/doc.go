// Package engine runs rules against a cluster.
//
//	event -> key -> snapshot -> plan -> write -> outcome
//
// An event of an informer queues the name of an object. A worker takes the
// newest copy of it from the caches, has all rules that watch it evaluated on
// that one snapshot, and writes what the plan says, guarded by the snapshot's
// uid and resourceVersion. What became of it decides when the object is looked
// at next: after the next event, once the caches have seen what was written,
// after a while, or at the moment at which time alone changes what rules want.
//
// The engine decides nothing about objects itself: rules do, in
// [github.com/dyncontroller/dyncontroller/pkg/rules], and they are pure.
package engine
