// Package filelist lists the files below a directory, as git would: without those that .gitignore
// files name. It reads no git configuration and runs no program, and its work is bounded.
package filelist
