// Package corpus holds rules against the world as it is: the CRDs that other projects ship in their Go modules, and rules
// about them that are made from their schemas, right ones and ones with a single mistake.
//
// [Projects] pins the modules, [Files] fetches their files, [Keywords] and [Compare] hold what a reader of schemas makes
// of them against what is written. [Good] and [Bad] make rules about any resource, the same ones every time.
package corpus
