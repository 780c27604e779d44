package tuitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/golden"
)

// Golden compares got with testdata/NAME.golden. NAME is the last element of the test name. The
// flag -update rewrites the file.
func Golden(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.Base(t.Name())+".golden")
	if golden.Update() {
		golden.Write(t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got screen\n%s\nwant\n%s", got, want)
	}
}

// ScreenText returns a view without styles and trailing spaces, as golden files hold it.
func ScreenText(v tea.View) string {
	lines := strings.Split(ansi.Strip(v.Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
