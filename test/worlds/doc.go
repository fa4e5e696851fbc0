// Package worlds tries the whole program in virtual time: replicas of it in a bubble of testing/synctest, in front of the API server's own
// handlers in memory (pkg/simulate), with faults at the transport.
//
//	seed, workload -> plan -> World: users, replicas -> network -> history of requests -> oracle
//
// A workload is the rules of users, in a file or as a set object, and what they do beside them. A plan is all that happens but for what the program does. In a world the
// network carries the requests of replicas one at a time, each when nothing else moves, and the seed says which of those that are on their
// way is next. So the order of requests is a function of the plan, as far as the Go runtime draws no lots: timers of one moment, and the order of maps.
//
// The oracle holds what the program promises whatever happens, so that a plan needs no assertions of its own.
package worlds
