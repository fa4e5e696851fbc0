// Package dependencies is the reverse index from objects to the evaluations that asked for them: of an event it returns which
// watched objects must be evaluated again.
//
//	Ask(asker, question)      before the question is answered from a cache
//	Keep(asker, questions)    when the evaluation has ended
//	Concerned(event)       -> who asked what the object answers, or answered
//
// A question without answers is kept like any other, so that an object that appears later is noticed. The cost of an event
// depends on the object, on the questions that concern it and on how many different fields are asked for, and not on how many
// other questions there are: they are in buckets, such as "name x in namespace a" or "label app=web in any namespace", and an
// object is compared with those in the buckets of its own name, labels, fields and owner only.
//
// The package knows neither rules nor caches.
package dependencies
