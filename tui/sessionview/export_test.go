package sessionview

import (
	"os"
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestASessionIsExportedInTheFormatOfTheExtension(t *testing.T) {
	s := open(t, tuitest.Scenes["decided"](), 80, 24)
	t.Chdir(t.TempDir())
	s.typeText("/export")
	s.press("enter")
	s.mustShow("export fix-tests", "path fix-tests.md", ".html, .jsonl or .cast")
	s.press("enter")
	s.mustShow("saved fix-tests.md, 6 bytes")
	if b, err := os.ReadFile("fix-tests.md"); string(b) != "as md\n" {
		t.Errorf("saved %q, %v", b, err)
	}
	s.typeText("/export fix.cast")
	s.press("enter", "enter")
	if b, err := os.ReadFile("fix.cast"); string(b) != "as asciicast\n" {
		t.Errorf("saved %q, %v", b, err)
	}
	s.typeText("/export fix.pdf")
	s.press("enter", "enter")
	s.mustShow("the extension chooses the format")
	s.press("esc")
	s.typeText("/export fix.cast")
	s.press("enter", "enter")
	s.mustShow("fix.cast exists", "replace it?")
}
