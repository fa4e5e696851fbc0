// Package floors holds the order of the house: which package may import which, directly or through others, and how many
// references between the files of pkg/engine may run from the bottom to the top.
//
// go list tells who imports whom ([List]); [House] and [Bans] are the rules, and [CheckFloors] and [CheckBans] name
// every import that breaks one. Packages of this module are written as the go command writes them, "./pkg/plan".
//
// The linter knows some of the same rules and shows them in the editor; it sees one file at a time, so it can neither
// follow an import of an import nor notice a package that no rule mentions. Imports of tests are free.
//
// Inside a package the compiler allows every reference. [Load] and [Refer] find those of pkg/engine by their types, and
// [Against] lists the ones that run against layers.txt, the order of its files. [Circles] and [Sizes] say how large the
// parts are that can only be read together; make scorecard prints them.
package floors
