// Package filechange owns the changes to files that a tool call or an approval carries: it reads
// them from content, patches and arguments, and draws them as diffs. The user decides by what it
// draws, so it must show every byte of a change or say how much it leaves out.
package filechange
