package filechange

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/tui/diff"
)

func TestJoinSumsTheChangesOfAFile(t *testing.T) {
	step := func(label, patch string) Step {
		files, ok := diff.Parse(patch)
		if !ok {
			t.Fatalf("%s: not a patch", label)
		}
		return Step{label, New(files).Files()}
	}
	joined := Join([]Step{
		step("09:41", "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+one\n--- a/b\n+++ b/b\n@@ -4,1 +4,1 @@ f\n-x\n+y\n"),
		step("09:42", "--- a/a\n+++ b/a\n@@ -1,1 +1,2 @@\n one\n+two\n"),
		step("09:43", "diff --git a/b b/c\nrename from b\nrename to c\n"),
		step("09:44", "--- a/c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-y\n"),
	})
	var got []string
	for i := range joined {
		f := &joined[i]
		added, removed := f.Stat()
		line := fmt.Sprintf("%s→%s +%d −%d", f.Old, f.New, added, removed)
		for _, h := range f.Hunks {
			line += " [" + h.Section + "]"
		}
		got = append(got, line)
	}
	want := "→a +2 −0 [09:41] [09:42]\nb→ +1 −2 [09:41 · f] [09:44]"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
