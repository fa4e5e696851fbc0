// Package simulate evaluates rules without a cluster: the cases of RuleTest
// documents against goldens, and single objects.
//
//	RuleTest -> Load -> Test -> Run -> Result per case -> Report
//	                     \-> objects -> Evaluate -> Decided -> golden
//
// Rules are compiled and evaluated, and requests are guarded, by the code that
// the controller runs. A case is one evaluation of each of its objects; nothing
// is stored, so no rule sees what another one wrote.
//
// The package has no network and no clock, and reads and writes files only
// through [Files]. It does not check objects against a schema.
package simulate
