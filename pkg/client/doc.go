// Package client makes the clients of the process towards the API server. They follow no redirect and bound each answer, and they cost
// little: dynamic ones decode a part of each object, and REST clients are for single groups of the API.
//
// The typed clients of client-go share one scheme, with all types of Kubernetes: to import one of them takes 14 MB of a program, and 8 MB
// of memory in each of its processes.
package client
