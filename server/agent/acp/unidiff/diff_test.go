package unidiff

import (
	"slices"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n", "one\ntwo\n")
	f.Add("diff --git /x /x\nnew file mode 100644\n--- /dev/null\n+++ /x\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n", "")
	f.Fuzz(func(t *testing.T, diff, content string) {
		hunks, ok := Parse(diff, File{Path: "/x", Added: true, Removed: true})
		if !ok {
			return
		}
		if _, ok := Apply(content, hunks); ok && len(hunks) == 1 && !strings.Contains(content, strings.Join(hunks[0].Before, "")) {
			t.Errorf("applied %q to %q", diff, content)
		}
		if strings.Join(Split(diff), "") != diff {
			t.Errorf("the parts of %q are %q", diff, Split(diff))
		}
	})
}

func TestADiffOfTwoFilesIsNotThatOfOne(t *testing.T) {
	const one = "--- /x\n+++ /x\n@@ -1 +1 @@\n-a\n+b\n"
	const two = "--- /y\n+++ /y\n@@ -1 +1 @@\n-a\n+b\n"
	for name, test := range map[string]struct {
		diff string
		want bool
	}{
		"one":               {one, true},
		"another":           {two, false},
		"both":              {one + two, false},
		"both, of git":      {"diff --git /x /x\n" + one + "diff --git /y /y\n" + two, false},
		"a new name":        {"rename from /x\nrename to /y\n" + one, false},
		"a program":         {"old mode 100644\nnew mode 100755\n" + one, false},
		"a link":            {"new file mode 120000\n" + one, false},
		"binary":            {"Binary files /x and /x differ\n", false},
		"a second file end": {one + "diff --git /y /y\n", false},
	} {
		if _, ok := Parse(test.diff, File{Path: "/x", Added: true}); ok != test.want {
			t.Errorf("%s: %t", name, ok)
		}
	}
	parts := Split("diff --git /x /x\n" + one + "diff --git /y /y\n" + two)
	if !slices.Equal(parts, []string{"diff --git /x /x\n" + one, "diff --git /y /y\n" + two}) {
		t.Errorf("parts %q", parts)
	}
}
