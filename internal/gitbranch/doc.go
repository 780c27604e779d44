// Package gitbranch finds the git repository of a directory and reads its branch from its files,
// without running git.
package gitbranch
