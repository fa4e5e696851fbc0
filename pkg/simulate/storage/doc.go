// Package storage is what etcd is to a real API server: a [World] holds the objects of
// one simulated cluster, and [Decorate] lets the API server's own registries work on the
// world of a request's context.
//
//	request with a world in its context -> registry.Store -> store -> World
//
// What a real server takes from its surroundings is made repeatable here, where all of it
// passes through: the time comes from the clock of the world, and uids are counted.
package storage
