package tempdir

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTemporaryFilesAreInMemory(t *testing.T) {
	t.Setenv("TMPDIR", "/somewhere")
	if InMemory(); os.TempDir() != "/somewhere" {
		t.Errorf("a directory that is set became %s", os.TempDir())
	}
	t.Setenv("TMPDIR", "")
	InMemory()
	var fs unix.Statfs_t
	if err := unix.Statfs(os.TempDir(), &fs); err != nil {
		t.Fatal(err)
	}
	if os.TempDir() != "/tmp" && (fs.Type != unix.TMPFS_MAGIC || os.WriteFile(t.TempDir()+"/file", nil, 0o600) != nil) {
		t.Errorf("%s is a file system of type %x, or takes no files", os.TempDir(), fs.Type)
	}
}
