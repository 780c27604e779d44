package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestScreenStateIsRemembered(t *testing.T) {
	dir := t.TempDir()
	for _, env := range []map[string]string{{"XDG_STATE_HOME": dir, "HOME": "/nowhere"}, {"HOME": dir}} {
		path := ScreenStatePath(func(name string) string { return env[name] })
		if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) {
			t.Fatalf("path %q, want one below %q", path, dir)
		}
		if LoadScreenState(path).SideHidden {
			t.Error("a missing file hides the side column")
		}
		if err := (ScreenState{SideHidden: true}).Save(path); err != nil {
			t.Fatal(err)
		}
		if !LoadScreenState(path).SideHidden {
			t.Error("the saved state is not loaded")
		}
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if LoadScreenState(path).SideHidden {
			t.Error("a damaged file hides the side column")
		}
	}
	if ScreenStatePath(func(string) string { return "" }) != "" {
		t.Error("a path without a home directory")
	}
}

func TestScreenStateFileOfAnEarlierVersionIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.json")
	if err := os.WriteFile(path, []byte(`{"side_hidden":true,"list_hidden":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := OpenScreenState(path)
	if !f.State().SideHidden {
		t.Error("the choice is lost")
	}
	if err := f.Change(func(s *ScreenState) { s.SideHidden = false }); err != nil {
		t.Fatal(err)
	}
	if got := OpenScreenState(path).State(); got != (ScreenState{}) {
		t.Errorf("got %+v", got)
	}
}
