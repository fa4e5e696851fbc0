// Package controllers has what dyncontroller is compared with: for each job, controllers that do by hand what the rule
// file of that job says in ../rules. They are written to be as cheap as controller-runtime lets them be:
//
//   - Predicates look at the objects of the cache, so an event that changes nothing that matters is not queued.
//   - The cache drops managedFields, and nothing copies the objects that it hands out.
//   - A patch has just the field that it changes, and the resourceVersion that it was decided by. Of its answer, only the
//     metadata is asked for.
//   - Nothing is read live. There are no limits of the client, no metrics, no leader election.
//
// The loop of bare.go is no controller. It is the floor under all of them.
package controllers
