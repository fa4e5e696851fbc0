// Package breaker is a circuit breaker for each rule and object. A rule that keeps failing for an object is in quarantine,
// as users are told: its circuit is open.
//
// A circuit is closed while a rule does not fail. A rule that fails is tried again with the object, until it has failed too
// often or the answer is final. From then on it is tried ever more slowly for that object, without end (half-open), and if
// it fails again the circuit is open: one failure is no proof that it keeps failing. A change of the [Inputs] that it was
// decided by has it tried sooner; what the engine has written itself is no change. What failed for nothing of the object's,
// such as a server that does not answer, opens no circuit.
//
// The zero rule stands for all rules, where an object could not be looked at.
package breaker
