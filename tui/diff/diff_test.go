package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/tui/transcript"
)

// bracketChanged renders changed text in brackets.
func bracketChanged(text string, style transcript.Style) string {
	if style&transcript.Changed != 0 {
		return "[" + text + "]"
	}
	return text
}

func render(files []File, width int, sideBySide bool) string {
	var out strings.Builder
	for _, p := range Split(files) {
		for _, line := range p.Lines(width, sideBySide) {
			line = strings.ReplaceAll(transcript.RenderStyles(line, bracketChanged), "][", "")
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return out.String()
}

func check(t *testing.T, name, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

const before = "package a\n\nimport \"fmt\"\n\nfunc f(x int) {\n\tfmt.Println(x)\n}\n\n" +
	"func g() {}\n\nfunc h() {}\n\n// end\n"

var after = strings.NewReplacer(
	"f(x int)", "f(y int)",
	"Println(x)", "Println(y, 1)",
	"func h() {}\n\n", "",
).Replace(before)

func TestLayoutOfChange(t *testing.T) {
	files := []File{Compare("a.go", new(before), after)}
	check(t, "in one column", render(files, 60, false), `
a.go +2 −4
⋯
 2  2
 3  3   import "fmt"
 4  4
 5    - func f([x] int) {
 6    -     fmt.Println([x])
    5 + func f([y] int) {
    6 +     fmt.Println([y, 1])
 7  7   }
 8  8
 9  9   func g() {}
10 10
11    - func h() {}
12    -
13 11   // end
`)
	check(t, "side by side", render(files, 70, true), `
a.go +2 −4
⋯
 2                                │  2
 3   import "fmt"                 │  3   import "fmt"
 4                                │  4
 5 - func f([x] int) {              │  5 + func f([y] int) {
 6 -     fmt.Println([x])           │  6 +     fmt.Println([y, 1])
 7   }                            │  7   }
 8                                │  8
 9   func g() {}                  │  9   func g() {}
10                                │ 10
11 - func h() {}                  │
12 -                              │
13   // end                       │ 11   // end
`)
	check(t, "without room for numbers", render(files[:1], 20, false), `
a.go +2 −4
⋯

  import "fmt"

- func f([x] int) {
-     fmt.Println([x])
+ func f([y] int) {
+     fmt.Println([y,]
↪ [ 1])
  }

  func g() {}

- func h() {}
-
  // end
`)
}

func TestIndentationOfAChangedWordIsNotMarked(t *testing.T) {
	old := "if a {\n\treturn lines[1]\n}\n"
	now := "if a {\n\t\tlines = lines[1]\n}\n"
	check(t, "unified", render([]File{Compare("x", &old, now)}, 60, false), `
x +1 −1
1 1   if a {
2   -     [return] lines[1]
  2 +         [lines =] lines[1]
3 3   }
`)
}

func TestSideBySideAlignsChangedLines(t *testing.T) {
	old := "func f() int {\n\treturn c.n\n}\n"
	now := "func f() int {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\treturn c.n // under its lock\n}\n"
	check(t, "side by side", render([]File{Compare("x", &old, now)}, 80, true), `
x +3 −1
1   func f() int {                     │ 1   func f() int {
                                       │ 2 +     c.mu.Lock()
                                       │ 3 +     defer c.mu.Unlock()
2 -     return c.n                     │ 4 +     return c.n[ // under its lock]
3   }                                  │ 5   }
`)
}

// Side by side, each line of both sides is shown once and in order.
func TestSideBySideShowsEachLineOnce(t *testing.T) {
	line := rapid.SampledFrom([]string{"return a + b", "return a", "x := f(a, b)", "x := f(b)", "}"})
	text := rapid.Map(rapid.SliceOfN(line, 1, 25), func(lines []string) string {
		return strings.Join(lines, "\n") + "\n"
	})
	rapid.Check(t, func(t *rapid.T) {
		old, now := text.Draw(t, "old"), text.Draw(t, "new")
		f := Compare("x", &old, now)
		var want, got [2][]string
		for _, h := range f.Hunks {
			i, k := h.Old, h.New
			for _, l := range h.Lines {
				if l.Op != Added {
					want[0] = append(want[0], fmt.Sprint(i))
					i++
				}
				if l.Op != Removed {
					want[1] = append(want[1], fmt.Sprint(k))
					k++
				}
			}
		}
		for _, p := range Split([]File{f}) {
			for _, line := range p.Lines(200, true) {
				left, right, two := strings.Cut(transcript.StripStyles(line), " │ ")
				for side, s := range []string{left, right} {
					if fields := strings.Fields(s); two && len(fields) > 0 {
						got[side] = append(got[side], fields[0])
					}
				}
			}
		}
		var unified []string // the new side, in one column
		for _, p := range Split([]File{f})[1:] {
			for _, line := range p.Lines(300, false) {
				line = transcript.StripStyles(line)
				sign := 2*p.digits + 2
				if len(line) > sign && strings.IndexByte("+ ", line[sign]) >= 0 && !strings.HasPrefix(line, "⋯") {
					unified = append(unified, strings.TrimRight(line[sign+2:], " "))
				}
			}
		}
		var side []string
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op != Removed {
					side = append(side, l.Text)
				}
			}
		}
		if !slices.Equal(unified, side) {
			t.Fatalf("new side: %q, want %q", unified, side)
		}
		if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Fatalf("line numbers of the sides: %v, want %v:\n%s", got, want, render([]File{f}, 100, true))
		}
	})
}

func TestDistantChangesAreSeparateHunks(t *testing.T) {
	var a, b []string
	for i := range 100 {
		a = append(a, fmt.Sprint("line ", i))
	}
	b = slices.Clone(a)
	b[10], b[90] = "ten", "ninety"
	f := Compare("x", new(strings.Join(a, "\n")+"\n"), strings.Join(b, "\n")+"\n")
	if len(f.Hunks) != 2 || f.Hunks[0].Old != 8 || f.Hunks[1].New != 88 || len(f.Hunks[1].Lines) != 8 {
		t.Errorf("got hunks %+v, want two at lines 8 and 88", f.Hunks)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"unified", "--- a/x.txt\t2026-01-01\n+++ b/x.txt\n@@ -1,2 +1,2 @@ top\n-a\n+b\n c\n", `
x.txt +1 −1
⋯ top
1   - a
  1 + b
2 2   c
`},
		{"git", "diff --git a/x b/x\nindex 12..34 100644\n--- a/x\n+++ b/x\n@@ -7 +7 @@\n-a\n+b\n" +
			"diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", `
x +1 −1
index 12..34 100644
⋯
7   - a
  7 + b
renamed o → n +0 −0
similarity index 100%
rename from o
rename to n
`},
		{"new and deleted", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n" +
			"--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", `
new x +1 −0
  1 + a
    \ No newline at end of file
deleted y +0 −1
1   - b
`},
		{"apply_patch format", "*** Begin Patch\n*** Update File: f.go\n*** Move to: g.go\n@@ func f\n a\n-b\n+c\n\n" +
			"*** Add File: n\n+x\n*** Delete File: o\n*** End Patch\n", `
renamed f.go → g.go +1 −1
⋯ func f
  a
- b
+ c

new n +1 −0
  1 + x
deleted o +0 −0
`},
		{"dashes in lines", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n", `
renamed a → b +1 −1
1   - -- x
  1 + ++ y
2 2   z
`},
		{"names that differ", "diff --git a/safe b/safe\n--- a/evil\n+++ b/evil\n@@ -1 +1 @@\n-a\n+b\n", `
evil +1 −1
diff --git a/safe b/safe
1   - a
  1 + b
`},
		{"text around the patch", "look:\n--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\nand so on\n", `
look:
a +1 −1
1   - a
  1 + b
    \ and so on
`},
		{"wrong counts", "--- a\n+++ a\n@@ -1,1 +1,9 @@\n-a\n+b\nrm -rf\n@@ -99999999999999999999 +1 @@\n+c\n", `
a +2 −1
1   - a
  1 + b
    \ rm -rf
⋯ -99999999999999999999 +1 @@
    + c
`},
	} {
		files, ok := Parse(c.in)
		if !ok {
			t.Errorf("%s: not parsed as a patch", c.name)
		}
		check(t, c.name, render(files, 60, false), c.want)
	}
	for _, in := range []string{"", "text", "a\nb\n", "--- a\nb", "@@ x", "+a\n-b\n"} {
		if _, ok := Parse(in); ok {
			t.Errorf("%q: parsed as a patch", in)
		}
	}
}

func TestLongLinesWrapBehindNumbers(t *testing.T) {
	f := Compare("x", nil, "aaaaaaaaaabbbbbbbbbbcccccccccc漢字漢字\n")
	check(t, "wrapped", render([]File{f}, 26, false), `
new x +1 −0
  1 + aaaaaaaaaabbbbbbbbbb
    ↪ cccccccccc漢字漢字
`)
}

func TestChangedWords(t *testing.T) {
	for _, c := range []struct{ old, text, a, b string }{
		{"return x + 1", "return x + 2", "return x + [1]", "return x + [2]"},
		{"a b c", "a c", "a [b ]c", "a c"},
		{"foo(a, b)", "foo(b)", "foo([a, ]b)", "foo(b)"},
		{"one thing", "another matter", "one thing", "another matter"},
		{"漢字 xyz", "漢子 xyz", "[漢字] xyz", "[漢子] xyz"},
		{"same", "same", "same", "same"},
		{
			strings.Repeat("x ", 2000), strings.Repeat("x ", 1999),
			strings.Repeat("x ", 2000), strings.Repeat("x ", 1999),
		},
	} {
		a, b, _ := changedWords(c.old, c.text)
		show := func(s string, in []span) string {
			for i := len(in) - 1; i >= 0; i-- {
				s = s[:in[i].from] + "[" + s[in[i].from:in[i].to] + "]" + s[in[i].to:]
			}
			return s
		}
		if gotA, gotB := show(c.old, a), show(c.text, b); gotA != c.a || gotB != c.b {
			t.Errorf("%.20q and %.20q: got %q and %q, want %q and %q", c.old, c.text, gotA, gotB, c.a, c.b)
		}
	}
}

// rebuild returns both texts of a comparison, rebuilt from the old text and the hunks.
func rebuild(f *File, old string) (oldSide, newSide string) {
	from := splitLines(old)
	at := 0
	var a, b []string
	for _, h := range f.Hunks {
		first := max(0, h.Old-1)
		a, b = append(a, from[at:first]...), append(b, from[at:first]...)
		at = first
		for _, l := range h.Lines {
			if l.Op == Context || l.Op == Removed {
				a = append(a, l.Text)
				at++
			}
			if l.Op == Context || l.Op == Added {
				b = append(b, l.Text)
			}
		}
	}
	a, b = append(a, from[at:]...), append(b, from[at:]...)
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

func TestCompareHunksRebuildTexts(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "", "d e", "\tf"})
	text := rapid.Map(rapid.SliceOfN(line, 0, 40), func(lines []string) string { return strings.Join(lines, "\n") })
	rapid.Check(t, func(t *rapid.T) {
		old, now := text.Draw(t, "old"), text.Draw(t, "new")
		f := Compare("x", &old, now)
		a, b := rebuild(&f, old)
		if a != strings.Join(splitLines(old), "\n") || b != strings.Join(splitLines(now), "\n") {
			t.Fatalf("%q → %q: got %q → %q", old, now, a, b)
		}
		for _, h := range f.Hunks {
			added, removed := (&File{Hunks: []Hunk{h}}).Stat()
			if added+removed == 0 && old != now+"\n" && old+"\n" != now {
				t.Fatalf("%q → %q: a hunk without changes: %+v", old, now, h)
			}
			before := 0 // without notes about a missing newline
			change := slices.IndexFunc(h.Lines, func(l Line) bool { return l.Op == Added || l.Op == Removed })
			for _, l := range h.Lines[:max(0, change)] {
				if l.Op == Context {
					before++
				}
			}
			if before > 3 {
				t.Fatalf("%d context lines before a change, want at most 3", before)
			}
		}
	})
}

func TestBestPairsAreALongestSubsequence(t *testing.T) {
	seq := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := seq.Draw(t, "a"), seq.Draw(t, "b")
		pairs := bestPairs(len(a), len(b), func(i, j int) int {
			if a[i] == b[j] {
				return 1
			}
			return 0
		})
		last := pair{-1, -1}
		for _, p := range pairs {
			if a[p.removed] != b[p.added] || p.removed <= last.removed || p.added <= last.added {
				t.Fatalf("%v and %v: pair %v after %v", a, b, p, last)
			}
			last = p
		}
		if len(pairs) != lcsLength(a, b) {
			t.Fatalf("%v and %v: %d pairs, want %d", a, b, len(pairs), lcsLength(a, b))
		}
	})
}

func TestLongLinesAreComparedInBoundedTime(t *testing.T) {
	old, now := strings.Repeat("(", maxLineBytes), strings.Repeat(")(", maxLineBytes/2)
	if inOld, inNew, common := changedWords(old, now); inOld != nil || inNew != nil || common != 0 {
		t.Errorf("got %d bytes in common, want none", common)
	}
}

func TestCompareManyChanges(t *testing.T) {
	var a, b strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&a, "line %d\n", i)
		if i%3 == 0 {
			fmt.Fprintf(&b, "another line %d\n", i)
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	f := Compare("x", new(a.String()), b.String())
	if added, removed := f.Stat(); added != 10_000 || removed != 10_000 {
		t.Errorf("got +%d −%d, want +10000 −10000", added, removed)
	}
}

// lcsLength returns the length of the longest common subsequence, by dynamic programming.
func lcsLength(a, b []int) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestCompareUnrelatedTexts(t *testing.T) {
	var a, b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	f := Compare("x", new(a.String()), b.String())
	if added, removed := f.Stat(); added != 50_000 || removed != 50_000 {
		t.Errorf("got +%d −%d, want +50000 −50000", added, removed)
	}
	pieces := Split([]File{f})
	for _, p := range pieces {
		if n := len(p.hunk.Lines); n > maxPieceLines {
			t.Errorf("a piece has %d lines, want at most %d", n, maxPieceLines)
		}
	}
	if last := pieces[len(pieces)-1].Lines(80, false); !strings.Contains(last[len(last)-1], "50000") {
		t.Errorf("last line %q, want number 50000 in it", last[len(last)-1])
	}
}

func FuzzPatchIsShownInFull(f *testing.F) {
	for _, s := range []string{
		"--- a\n+++ b\n@@ -1,2 +1 @@ x\n-a\n b\n\\ No newline at end of file\n",
		"*** Begin Patch\n*** Update File: a\n@@\n a\n-b\n*** End of File\n*** Move to: c\n*** End Patch",
		"diff --git a/x b/y\nold mode 1\nnew mode 2\n--- a/x\n+++ b/y\n", "@@ -1 +1 @@\n+x",
		"*** Add File: a\n@@ -0,0 +1 @@\n+b", "--- a\n+++ a\n@@ -1,9 +1,9 @@\n--- b\n+++ c\n", "\n\n+a\n",
		"a\n*** Update File",
	} {
		f.Add(s, uint8(60))
		f.Add(s, uint8(200))
	}
	f.Fuzz(func(t *testing.T, in string, width uint8) {
		in = transcript.Reveal(strings.ToValidUTF8(in, "\ufffd"))
		files, _ := Parse(in)
		var all strings.Builder
		for _, p := range Split(files) {
			for _, line := range p.Lines(1<<20, false) {
				all.WriteString(transcript.StripStyles(line) + "\n")
			}
		}
		seen := strings.ReplaceAll(all.String(), " ", "")
		for _, line := range splitLines(in) {
			bare := line
			for _, head := range []string{
				"diff --git a/", "--- a/", "+++ b/", "--- ", "+++ ", "@@ -", "*** Update File: ", "*** Add File: ",
				"*** Delete File: ", "*** Move to: ", "*** Begin Patch", "*** End Patch", "@@", "\\ ", "\\",
			} {
				if rest, ok := strings.CutPrefix(bare, head); ok {
					bare = rest
					break
				}
			}
			switch {
			case strings.HasPrefix(line, "@@ -"):
				_, bare, _ = strings.Cut(bare, " @@")
			case strings.HasPrefix(line, "diff --git"),
				strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
				continue // file names: see TestParse
			case bare == line && bare != "" && strings.IndexByte("+- ", bare[0]) >= 0:
				bare = bare[1:]
			}
			if bare = strings.NewReplacer(" ", "", "\t", "").Replace(bare); !strings.Contains(seen, bare) {
				t.Fatalf("%q of %q is missing:\n%s", line, in, render(files, 200, false))
			}
		}
		for _, sideBySide := range []bool{false, true} {
			for _, p := range Split(files) {
				for _, line := range p.Lines(int(width), sideBySide) {
					if cells := ansi.StringWidth(line); cells > max(int(width), 4) {
						t.Fatalf("width %d: a line of %d cells: %q", width, cells, line)
					}
					if strings.ContainsAny(line, "\t\n") {
						t.Fatalf("control character in %q", line)
					}
				}
			}
		}
	})
}

func BenchmarkCompare10kLines(b *testing.B) {
	var old strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&old, "line %d of a file\n", i)
	}
	now := strings.ReplaceAll(old.String(), "99 of", "99 in")
	for b.Loop() {
		Compare("x", new(old.String()), now)
	}
}

func BenchmarkPiece(b *testing.B) {
	var now strings.Builder
	for i := range maxPieceLines {
		fmt.Fprintf(&now, "\tif x := f(%d); x > 0 { // why\n", i)
	}
	old := strings.ReplaceAll(now.String(), "x >", "x <")
	files := []File{Compare("x.go", &old, now.String())}
	for b.Loop() {
		for _, p := range Split(files) {
			p.Lines(160, true)
		}
	}
}
