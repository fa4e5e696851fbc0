// Package dryrun shows the cluster as it would be after the writes of a dry run, as far
// as more depends on them: deletions.
//
//	Writer remembers what is simulated -> Reader, Live, Caches show it
//
// A child that a renamed rule takes over must not be deleted under it by the sweep. What
// an object leaves when it is gone must be pruned. Other changes are not shown: what
// rules would do because of them, a dry run does not tell.
package dryrun
