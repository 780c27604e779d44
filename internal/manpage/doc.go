// Package manpage writes man pages: one for each command of a program, in the order and the words
// of its help, and one for a document in Markdown. It must not know which commands and documents
// there are.
package manpage
