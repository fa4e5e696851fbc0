// Package conflict finds out that what rules write is undone, says by whom, and says how long a rule has to wait before it
// writes there again.
//
// It observes every write that changed an object. Of each field that a rule wrote it remembers what was written, for which
// watched object, and what that was decided by. A write is a repeat where
//
//   - somebody else, or admission, has changed the field since, and the rule writes what it wrote before; or
//   - the rule itself, or another one, has written the field last, nothing that was read has changed since but by our own
//     writes, and the clock has no part in it. The clock has a part where a moment has come that the rules waited for when
//     they wrote, or where they wanted nothing until a moment came; or
//   - the rule is slowed down, and has had to wait before it wrote the field again.
//
// So a rule that follows a source, one that follows the clock, two rules that take turns as a third party changes something,
// and one that corrects each new value that a user enters are left alone. An object as a whole, which is made or deleted under
// one name again and again, counts as a field with an empty path. A name that the API server chooses, or the engine in its
// place, is not watched: another name is another object, and that the last one is gone may be just what the rules are about.
//
// After a few repeats the conflict is named, and the rule may write to the object only once in a while, until there has been
// no repeat for some time. Nothing is dropped: the guard says when to try again.
//
// It also finds rules that make objects because of objects that they have made, which no single object shows: see lineage.go.
package conflict
