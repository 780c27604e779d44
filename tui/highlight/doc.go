// Package highlight splits lines of source code into tokens: comments, strings, keywords and
// others, by language.
//
// It runs on untrusted text in the screen's goroutine. The cost of a line is linear in its length
// for any input: no pattern backtracks. An open comment or string is the only state carried from
// one line to the next, so growing text gets the same tokens as the complete text.
//
// It must not know colours, widths or terminals. The tables of a language are built on first use.
package highlight
