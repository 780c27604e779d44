// Package gitbranch reads the branch of a git repository from its files, without running git.
package gitbranch
