package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestExportIsACommandWithAnOptionalPath(t *testing.T) {
	s := open(t, tuitest.Scenes["decided"](), 80, 24)
	t.Chdir(t.TempDir())
	s.typeText("/export")
	s.press("enter")
	s.mustShow("export fix-tests", "path fix-tests.md", ".html, .jsonl or .cast")
	s.press("enter")
	s.mustShow("saved fix-tests.md, 6 bytes")
	s.typeText("/export fix.pdf")
	s.press("enter", "enter")
	s.mustShow("the extension chooses the format")
}
