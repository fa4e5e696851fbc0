// Package projection keeps of an object no more than rules and the engine need.
//
//	footprint.Tree -> New -> Fields
//	object         -> Fields.Project -> projected object
//	JSON           -> Fields.Decode  -> projected object
//
// A projected object has the shape of the whole one. Fields that nobody needs are
// absent, and elements of lists that nobody needs are nil.
package projection
