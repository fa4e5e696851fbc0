// Package floors holds the import rules of the house: which package may import which, directly or through others.
//
// go list tells who imports whom ([List]); [House] and [Bans] are the rules, and [CheckFloors] and [CheckBans] name
// every import that breaks one. Packages of this module are written as the go command writes them, "./pkg/plan".
//
// The linter knows some of the same rules and shows them in the editor; it sees one file at a time, so it can neither
// follow an import of an import nor notice a package that no rule mentions. Imports of tests are free.
package floors
