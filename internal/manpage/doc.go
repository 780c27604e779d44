// Package manpage writes man pages: one for each command of a program with cobra's generator, and one
// for a document in Markdown with go-md2man. It must not know which commands and documents there are.
package manpage
