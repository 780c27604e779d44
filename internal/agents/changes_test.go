package agents

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/server/session"
)

var _ session.FileKeeper = (*Current)(nil)

func TestRecordsOfRemovedSessionsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"kept", "removed"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	NewCurrent(&Registry{Changes: dir}).RemoveFiles(func(session string) bool { return session == "kept" })
	if _, err := os.Stat(filepath.Join(dir, "kept", "x")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "removed")); err == nil {
		t.Error("the records of the removed session are left")
	}
	NewCurrent(&Registry{}).RemoveFiles(func(string) bool { t.Error("without a directory"); return true })
}
