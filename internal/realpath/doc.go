// Package realpath finds the file that a path names: links followed, elements that do not exist
// kept. It must not know which files may be named.
package realpath
