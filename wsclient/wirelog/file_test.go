package wirelog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyOwnFilesAreAppendedTo(t *testing.T) {
	dir := t.TempDir()
	own, full := filepath.Join(dir, "own"), filepath.Join(dir, "full")
	if err := os.WriteFile(own, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := errors.Join(os.Symlink(own, link), os.Symlink(filepath.Join(dir, "none"), dangling),
		os.WriteFile(full, nil, 0o600), os.Truncate(full, MaxSize)); err != nil {
		t.Skip(err)
	}
	foreign := "/etc/passwd"
	if os.Geteuid() == 0 { // root may write to all files
		foreign = filepath.Join(dir, "foreign")
		if err := errors.Join(os.WriteFile(foreign, nil, 0o666), os.Chown(foreign, 4321, -1)); err != nil {
			t.Skip(err)
		}
	}
	others := []string{link, dangling, dir, os.DevNull, full, foreign, filepath.Join(dir, "none", "x")}
	for _, path := range others {
		if l, err := Open(path); err == nil {
			t.Errorf("%s is taken: %v", path, l.Close())
		}
	}
	l, err := Open(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil || string(text) != "{}\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a link was followed")
	}
}
