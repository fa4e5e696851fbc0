// Package quarantine keeps the books of rules that fail for an object: how often they
// did, whether they are in quarantine, and when they are tried again.
//
//	Holds -> an attempt -> Fail -> Next -> Holds ... -> Release
//
// A rule that fails is tried again as somebody else says, until it has failed too often or
// what it was answered is final. From then on it is tried ever more slowly for that object,
// without end, and if it fails again it is in quarantine: one failure is no proof that it
// keeps failing. A change of what it was decided by, which is its
// [Grounds], has it tried sooner; that the engine has written itself is no change
// ([Ward.Echo]). What failed for nothing of the object's, such as a server that does not
// answer, leads to no quarantine.
//
// It knows neither the objects nor the rules, nor does it try anything: who does asks
// first, and says what became of it. The zero rule stands for all of them, where they were
// not even asked.
package quarantine
