package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Old contents of files may hold secrets: only the user of the server can read the records.
func TestRecordsOfChangesAreForTheirUserAlone(t *testing.T) {
	r := newRig(t, map[string]string{"a": "a secret\n"})
	r.record()
	r.must("read", args{"path": "a"})
	r.must("write", args{"path": "a", "content": "new\n"})
	changes := filepath.Join(filepath.Dir(r.dir), "changes")
	found := 0
	err := filepath.WalkDir(changes, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v", path, info.Mode())
		}
		if !e.IsDir() {
			found++
		}
		return nil
	})
	if err != nil || found != 1 {
		t.Errorf("%d records, %v", found, err)
	}
}

// The records of a session are bounded by number and by size. The newest stays.
func TestTheOldestRecordsOfChangesAreRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		records int
		size    int64
		want    string
	}{
		"all":            {10, 1000, "1 2 3 4"},
		"by number":      {2, 1000, "3 4"},
		"by size":        {10, 250, "3 4"},
		"one over":       {10, 10, "4"},
		"number of none": {0, 1000, "4"},
	} {
		j := journal{dir: t.TempDir()}
		for _, n := range []string{"1", "2", "3", "4"} {
			path := filepath.Join(j.dir, n+completeRecord)
			if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j.trim(c.records, c.size)
		var left []string
		for _, path := range j.names(completeRecord) {
			left = append(left, strings.TrimSuffix(filepath.Base(path), completeRecord))
		}
		if got := strings.Join(left, " "); got != c.want {
			t.Errorf("%s: left %s, want %s", name, got, c.want)
		}
	}
}
