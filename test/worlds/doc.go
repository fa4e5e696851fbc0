// Package worlds tries the whole program in virtual time: replicas of it in a bubble of testing/synctest, in front of the simulated API
// server of pkg/simulate, between faults that a seed chooses.
//
//	plan (drawn by rapid, which shrinks it) -> World: users, replicas, faults -> history of requests -> oracle
//
// The oracle holds what the program promises whatever happens, so that a world needs no assertions of its own.
package worlds
