// Package highlight owns what a line of source is made of: it cuts lines into
// comments, strings, keywords and the like, language by language.
//
// It reads untrusted text on the screen's own goroutine, so a line costs what it
// is long, whatever is in it: no expression backtracks. What a line leaves open
// (a comment, a string) is all that it tells the next one, so a text that is
// still growing is coloured as the whole of it is.
//
// It must not know colours, widths or terminals. The tables of a language are
// made when it is first asked for.
package highlight
