// Package access asks the API server what the ServiceAccount that rules act as may do.
//
//	Impersonate -> a configuration that acts as the account
//	Reviewer    -> is there the account, may we act as it, which permissions are missing
//	Watcher     -> the same at once, each minute, and sooner where there is a reason -> Verdict
//	NewPace     -> spreads what the watchers of a process ask, so that many accounts cost little
//
// The answers are for people and for caches. What a request may do is decided by the
// API server alone, each time.
package access
