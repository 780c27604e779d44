package review

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// testReview is a review on a screen of a fixed size.
type testReview struct {
	*View
	t             testing.TB
	width, height int
	comments      Comments
	last          ui.Response
}

// open returns a review of a patch.
func open(t testing.TB, patch string, width, height int) *testReview {
	t.Helper()
	files, ok := diff.Parse(transcript.Reveal(patch))
	if !ok {
		t.Fatal("not a patch")
	}
	r := &testReview{t: t, width: width, height: height}
	r.View = New(ui.NewStyles(time.UTC, ""), "patch", Content{
		Changes: filechange.New(files), Comments: &r.comments, Unread: true,
	})
	r.text()
	return r
}

// text draws the screen.
func (r *testReview) text() string {
	r.t.Helper()
	lines, _ := r.View.View(r.width, r.height)
	if len(lines) != r.height {
		r.t.Fatalf("got %d lines, want %d", len(lines), r.height)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > r.width {
			r.t.Fatalf("line %d has %d cells, want at most %d: %q", i, n, r.width, line)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// press presses keys, and draws the screen after each.
func (r *testReview) press(keys ...string) {
	for _, key := range keys {
		r.last = r.Update(tuitest.KeyPress(key))
		r.text()
	}
}

// write types a text.
func (r *testReview) write(text string) {
	for _, c := range text {
		r.Update(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

func (r *testReview) mustShow(want ...string) {
	r.t.Helper()
	text := r.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			r.t.Errorf("the screen does not show %q:\n%s", w, text)
		}
	}
}

func (r *testReview) mustHide(what string) {
	r.t.Helper()
	if text := r.text(); strings.Contains(text, what) {
		r.t.Errorf("the screen shows %q:\n%s", what, text)
	}
}

// smallPatch changes files in every way.
const smallPatch = `diff --git a/store/store.go b/store/store.go
index 1..2 100644
--- a/store/store.go
+++ b/store/store.go
@@ -1,5 +1,5 @@
 package store
 
-const limit = 2
+const limit = 20 // more than enough for every list of sessions that the dashboard shows at once
 
 // Add adds n.
@@ -40,3 +40,4 @@ func (s *Store) Add(n int) {
 	s.n += n
+	s.dirty = true
 }
 
diff --git a/store/old.go b/store/new.go
similarity index 90%
rename from store/old.go
rename to store/new.go
--- a/store/old.go
+++ b/store/new.go
@@ -1,1 +1,1 @@
-package old
+package store
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
diff --git a/added.txt b/added.txt
new file mode 100644
--- /dev/null
+++ b/added.txt
@@ -0,0 +1,1 @@
+one
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`

// manyFiles is a patch of files with a number of added lines each.
func manyFiles(files, lines int) string {
	var out strings.Builder
	for i := range files {
		fmt.Fprintf(&out, "--- a/pkg/file%d.go\n+++ b/pkg/file%d.go\n@@ -1,1 +1,%d @@\n package pkg\n", i, i, lines+1)
		for j := range lines {
			fmt.Fprintf(&out, "+var v%d_%d = %d\n", i, j, j)
		}
	}
	return out.String()
}

func TestGoldenReview(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("changes_%dx%d", size[0], size[1]), func(t *testing.T) {
			r := open(t, smallPatch, size[0], size[1])
			r.press("J", "down", "down", "down", "m")
			r.write("why 20?")
			r.press("enter", "J")
			tuitest.Golden(t, r.text())
		})
		t.Run(fmt.Sprintf("files_%dx%d", size[0], size[1]), func(t *testing.T) {
			r := open(t, smallPatch, size[0], size[1])
			r.press("]", "J", "m")
			r.write("keep the old name")
			r.press("enter", "f", "down")
			tuitest.Golden(t, r.text())
		})
	}
}

func TestKeysMoveByFileAndHunk(t *testing.T) {
	r := open(t, smallPatch, 80, 12)
	for _, step := range []struct{ key, want string }{
		{"[", "this is the first file"},
		{"]", " file 2 of 6 ▏ store/new.go renamed +1 −1"},
		{"J", "▏ 1   - package old"},
		{"[", " file 2 of 6"},
		{"[", " file 1 of 6 ▏ store/store.go +2 −1"},
		{"J", "▏  1  1   package store"},
		{"J", "⋯ func (s *Store) Add(n int) {"},
		{"K", "▏  3    - const limit = 2"},
		{"G", " file 6 of 6 ▏ run.sh mode"},
		{"]", "this is the last file"},
		{"J", "this is the last hunk"},
		{"g", " file 1 of 6"},
	} {
		r.press(step.key)
		r.mustShow(step.want)
	}
}

func TestLongLinesAreMarkedWhereTheyContinue(t *testing.T) {
	r := open(t, smallPatch, 60, 24)
	r.mustShow("▏     3 + const limit = 20", "▏       ↪ ")
}

func TestTheLayoutFollowsTheWidthAndTheKey(t *testing.T) {
	r := open(t, smallPatch, 109, 24)
	r.mustHide(" │ ")
	r.press("d")
	r.mustShow("- const limit = 2", " │ ")
	r.press("d")
	r.width = 110
	r.mustShow(" │ ")
}

func TestACommentIsWrittenEditedAndRemoved(t *testing.T) {
	r := open(t, smallPatch, 80, 24)
	r.press("m")
	r.mustShow("select a line of a change")
	r.press("J", "down", "down", "m")
	r.write("yc[q")
	r.mustShow("comment on store/store.go:3 (removed): ") // the removed line is first
	r.press("esc")
	if r.comments.Len() != 0 {
		t.Errorf("got %d comments, want none after esc", r.comments.Len())
	}
	r.press("down", "m")
	r.write("too many")
	r.press("enter")
	r.mustShow("┕ too many")
	r.press("m")
	r.write("!")
	r.press("enter", "J", "down", "down", "m")
	r.write("why?")
	r.press("enter")
	want := "store/store.go:3: too many!\nstore/store.go:41: why?"
	if got := r.comments.Text(); got != want {
		t.Errorf("got comments\n%s\nwant\n%s", got, want)
	}
	r.press("X")
	r.mustHide("why?")
	r.press("f", "X")
	r.mustShow("select a line of a change")
	r.press("esc", "g", "J", "down", "down", "down", "X")
	if got := r.comments.Text(); got != "" {
		t.Errorf("got comments %q, want none", got)
	}
}

func TestACommentOnALineWithoutANumberQuotesIt(t *testing.T) {
	r := open(t, "*** Begin Patch\n*** Update File: a.go\n@@\n-old\n+new\n*** End Patch\n", 80, 24)
	r.press("G", "m")
	r.write("no")
	r.press("enter")
	if got := r.comments.Text(); got != `a.go: "new": no` {
		t.Errorf("got %q", got)
	}
}

func TestAFileIsReadWhenAllItsLinesWereOnTheScreen(t *testing.T) {
	r := open(t, manyFiles(3, 30), 80, 24)
	r.mustShow("3 files not read", "· not read")
	r.press("pgdown")
	r.mustShow("2 files not read")
	r.press("f")
	r.mustShow("✓ ▏   file0.go", "○ ▏   file1.go", "○ ▏   file2.go")
	r.press("down", "down", "enter")
	r.press("pgdown", "pgdown")
	r.mustShow("1 file not read")
	r.press("u")
	r.mustShow("file 2 of 3")
	r.press("pgdown")
	r.mustShow("all read")
	r.press("u")
	r.mustShow("all lines were on the screen")
}

// The list of files shows no line of the changes, and a line that wraps counts when all of it was
// shown in one layout.
func TestOnlyDrawnLinesCount(t *testing.T) {
	r := open(t, "--- a/x\n+++ b/x\n@@ -1,0 +1,1 @@\n+"+strings.Repeat("word ", 400)+"\n", 80, 10)
	for range 3 {
		r.press("pgdown")
		r.width-- // the lines of another layout are others
		r.mustShow("not read")
	}
	r.press("g")
	for range 10 {
		r.press("pgdown")
	}
	r.mustShow("all read")
	r = open(t, manyFiles(1, 60), 80, 20)
	r.press("f", "G", "pgdown", "f")
	r.mustShow("not read")
}

func TestHostilePathsAndLinesStayInTheGutter(t *testing.T) {
	patch := "--- a/x\x1b[2J\u202eog.x\n+++ b/x\x1b[2J\u202eog.x\n@@ -1,2 +1,3 @@\n one\n+@@ -1,1 +1,1 @@ fake\n" +
		"+▏ real.go +1 −1\n two\n"
	for _, size := range [][2]int{{40, 15}, {80, 24}, {200, 40}} {
		r := open(t, patch, size[0], size[1])
		r.mustShow("‹U+202E›")
		text := r.text()
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%v: the screen holds control characters:\n%q", size, text)
		}
		r.mustShow("+ @@ -1,1 +1,1 @@ fake", "+ ▏ real.go +1 −1")
	}
}

// BenchmarkDrawLargePatch draws a page of a patch of 20,000 lines after each key.
func BenchmarkDrawLargePatch(b *testing.B) {
	patch := manyFiles(20, 1000)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			open(b, patch, 200, 60)
		}
	})
	b.Run("page", func(b *testing.B) {
		r := open(b, patch, 200, 60)
		for b.Loop() {
			if r.press("pgdown"); r.body.list.Following() {
				r.press("g")
			}
		}
	})
	b.Run("line", func(b *testing.B) {
		r := open(b, patch, 200, 60)
		for b.Loop() {
			r.press("down")
		}
	})
}
