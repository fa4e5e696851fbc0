// Package coverage notes which rules the cases of tests exercise, and for each
// condition in their `when` whether it was seen true and seen false.
//
//	Recorder.Rules(set)      what there is to exercise
//	Recorder.Case()          -> Case.Evaluated(set, snapshot, decisions), each time
//	Recorder.Report()        -> Report: as text, or as JSON
//
// It is pure: it asks the rules again, and changes nothing about a case.
package coverage
