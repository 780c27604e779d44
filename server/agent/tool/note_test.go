package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The notes have the environment, told once, then the files with instructions, the nearest last. They are read anew
// each time, never through a link out of the repository.
func TestNotesOfTheDirectory(t *testing.T) {
	r := newRig(t, map[string]string{
		"../.git/HEAD": "ref: refs/heads/feature\n", "../.git/MERGE_HEAD": "", "../AGENTS.md": "be brief",
		"CLAUDE.md": "be kind", "../user/AGENTS.md": "be mine", "../../secret": "secret",
	})
	r.options.Instructions = filepath.Join(r.dir, "../user/AGENTS.md")
	r.options.Env = []string{"PATH=" + filepath.Join(r.dir, "bin")}
	r.put("bin/rg", "")
	if err := os.Chmod(filepath.Join(r.dir, "bin/rg"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.link("../../secret", "AGENTS.md")
	notes := r.Notes(1000)
	var all []string
	for _, n := range notes {
		all = append(all, n.Text)
	}
	text := strings.Join(all, "\n")
	at := 0
	for _, want := range []string{
		"System: ", "Date: ", "Working directory: " + r.dir, "Git: branch feature, in the middle of a merge", "found: rg",
		"of the user for all directories", "be mine", "be brief", "be kind",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing or too early in:\n%s", want, text)
		}
		at += i
	}
	if strings.Contains(text, "secret") || !notes[0].Once || len(notes) != 4 {
		t.Errorf("got %d notes:\n%s", len(notes), text)
	}
	r.put("CLAUDE.md", strings.Repeat("x", 1500))
	notes = r.Notes(1200)
	if last := notes[len(notes)-1]; last.Of != "instructions left out" || len(notes) != 3 ||
		!strings.Contains(last.Text, "../user/AGENTS.md"[3:]) || !strings.Contains(notes[1].Text, "the last 300 bytes") {
		t.Errorf("too large: %+v", notes)
	}
}
