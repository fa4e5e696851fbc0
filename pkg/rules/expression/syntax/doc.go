// Package syntax reads the text of an expression into a tree, and says what is
// wrong with one that cannot be read in words that say what to write instead.
//
// The grammar is expr's: its lexer and parser read the text. Before they see it, it
// is checked for what would exhaust them, and afterwards the tree knows where its
// nodes are.
//
// What is written is all that matters here. What names mean, and whether a call or
// an operator makes sense, is for those to say who compile or check the tree.
package syntax
