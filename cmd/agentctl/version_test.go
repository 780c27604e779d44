package main

import "testing"

// A release tells its commit. A build of a package, such as this one, has none.
func TestAReleaseTellsItsCommit(t *testing.T) {
	defer func() { commit, commitDate = "", "" }()
	commit, commitDate = "7ddc9413", "2026-03-01T09:00:00Z"
	if hash, date, modified := revision(); hash != commit || date != commitDate || modified {
		t.Errorf("revision is %s %s %t", hash, date, modified)
	}
}
