// Package compact keeps objects in little memory. An unstructured object of 3 KB of JSON takes 15 KB or more as maps, for its
// many small maps, strings and interfaces. A compact one is one string, from which maps are made each time that it is read.
package compact
