package config

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/userstate"
)

func TestScreenStateIsRemembered(t *testing.T) {
	dir := userstate.At(filepath.Join(t.TempDir(), "agentctl"))
	if LoadScreenState(dir).SideHidden {
		t.Error("a missing file hides the side column")
	}
	if err := (ScreenState{SideHidden: true}).Save(dir); err != nil {
		t.Fatal(err)
	}
	if !LoadScreenState(dir).SideHidden {
		t.Error("the saved state is not loaded")
	}
	if err := os.WriteFile(filepath.Join(dir.Path(), "screen.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if LoadScreenState(dir).SideHidden {
		t.Error("a damaged file hides the side column")
	}
}

func TestScreenStateFileOfAnEarlierVersionIsRead(t *testing.T) {
	dir := userstate.At(t.TempDir())
	old := []byte(`{"side_hidden":true,"list_hidden":true}`)
	if err := os.WriteFile(filepath.Join(dir.Path(), "screen.json"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	if !LoadScreenState(dir).SideHidden {
		t.Error("the choice is lost")
	}
	if err := (ScreenState{}).Save(dir); err != nil {
		t.Fatal(err)
	}
	if got := LoadScreenState(dir); got != (ScreenState{}) {
		t.Errorf("got %+v", got)
	}
}
