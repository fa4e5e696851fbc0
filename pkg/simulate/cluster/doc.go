// Package cluster is one simulated cluster: a world behind an API server without a
// network, with a clock that stands still until it is told to go on. It is what an
// engine works on in place of a real one: [Cluster] gives it its caches, its live reads,
// its writes and its Events.
//
//	engine -> write.Client, live.Reader, write.Recorder -> apiserver.Server -> storage.World
//	                       caches <- what has changed <-------------------------/
//
// Caches see what was written before the write returns. Besides the API server there is
// the part of a cluster that rules rely on: owner garbage collection.
package cluster
