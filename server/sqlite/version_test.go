package sqlite_test

import (
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"
)

func TestTheLibraryHasTheFixForLogRestarts(t *testing.T) {
	if sqlite3.VersionNumber < 3_051_003 {
		t.Errorf("SQLite %s", sqlite3.Version)
	}
}
