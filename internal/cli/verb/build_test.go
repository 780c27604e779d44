package verb

import "testing"

// A release reports its commit. A build of a package, such as this one, has no commit.
func TestAReleaseTellsItsCommit(t *testing.T) {
	b := Build{Commit: "7ddc9413", Date: "2026-03-01T09:00:00Z"}
	if hash, date, modified := b.Revision(); hash != b.Commit || date != b.Date || modified {
		t.Errorf("revision is %s %s %t", hash, date, modified)
	}
}
