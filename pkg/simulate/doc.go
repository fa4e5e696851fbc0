// Package simulate runs rules without a cluster: the cases of RuleTest documents against
// goldens, single looks at single objects, and what is done about one in a time.
//
//	RuleTest -> Load -> Test -> Run -> Story per case -> golden -> Result -> Report
//	rules, object, related -> Evaluation -> Story, Timeline
//
// What happens is told by a scenario.Scenario: the controller's own engine on a
// simulated cluster. Each case runs until the rules rest, and again after each of its
// steps; where the order in which objects are looked at can matter, all of it runs once
// more in the reverse order. What a real cluster could not have stored is refused before
// anything is run.
//
// The package has no network and no clock, and reads and writes files only through
// [Files].
package simulate
