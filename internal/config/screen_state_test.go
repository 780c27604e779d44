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

func TestScreenStateFileKeepsTheOtherChoices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "screen.json")
	f := OpenScreenState(path)
	for _, change := range []func(*ScreenState){
		func(s *ScreenState) { s.SideHidden = true },
		func(s *ScreenState) { s.ListHidden = true },
	} {
		if err := f.Change(change); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := OpenScreenState(path).State(), (ScreenState{SideHidden: true, ListHidden: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
