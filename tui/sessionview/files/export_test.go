package files

import (
	"os"
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
)

func TestASessionIsExportedInTheFormatOfTheExtension(t *testing.T) {
	r := paneltest.New(t, tuitest.Scenes["decided"]())
	r.ApplyJournal()
	x := New(Config{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Overlays: &r.Overlays})
	t.Chdir(t.TempDir())
	r.Run(x.Export(""))
	r.MustShow("export fix-tests", "path fix-tests.md")
	r.Press("enter")
	r.MustShow("saved fix-tests.md, 6 bytes")
	if b, err := os.ReadFile("fix-tests.md"); string(b) != "as md\n" {
		t.Errorf("saved %q, %v", b, err)
	}
	r.Run(x.Export("fix.cast"))
	r.Press("enter")
	if b, err := os.ReadFile("fix.cast"); string(b) != "as asciicast\n" {
		t.Errorf("saved %q, %v", b, err)
	}
	r.Run(x.Export("fix.pdf"))
	r.Press("enter")
	r.MustShow("the extension chooses the format")
	r.Press("esc")
	r.Run(x.Export("fix.cast"))
	r.Press("enter")
	r.MustShow("fix.cast exists", "replace it?")
}
