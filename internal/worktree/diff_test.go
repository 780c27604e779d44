package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDiffShowsWhatDiffersFromTheLastCommit(t *testing.T) {
	dir := changed(t)
	write(t, dir, ".gitignore", "*.key\n")
	write(t, dir, "loose/my.key", "secret\n")
	write(t, dir, "loose/b", "no end")
	write(t, dir, "loose/picture", "a\x00b")
	write(t, dir, "other/[x]*", "x\n")
	for name, want := range map[string][]string{
		"pkg/changed": {"+++ b/pkg/changed", " one\n-two\n+zwei\n+drei\n"},
		"pkg/new":     {"--- /dev/null\n+++ b/pkg/new\n", "\n+n\n"},
		"gone":        {"+++ /dev/null", "-one\n-two\n"},
		"loose/": {
			"--- /dev/null\n+++ b/loose/a\n@@ -0,0 +1,1 @@\n+a\n", "@@ -0,0 +1,1 @@\n+no end\n\\ No newline at end of file\n",
			"Binary files /dev/null and b/loose/picture differ\n",
		},
		"a b\tc":     {`+++ "b/a b\tc"` + "\n"},
		"other/[x]*": {"+++ b/other/[x]*\n"},
		"other/x":    {""},
	} {
		patch, cut, ok, err := Diff(t.Context(), dir, name)
		if err != nil || cut || !ok {
			t.Errorf("%s: got %v, %v, %v", name, cut, ok, err)
		}
		for _, part := range want {
			if !strings.Contains(patch, part) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, patch, part)
			}
		}
		if strings.Contains(patch, "secret") || name == "other/x" && patch != "" {
			t.Errorf("%s: got\n%s", name, patch)
		}
	}
	patch, _, _, err := Diff(t.Context(), filepath.Join(dir, "pkg"), "changed")
	if err != nil || !strings.Contains(patch, "+++ b/changed\n") {
		t.Errorf("below a directory: got %v\n%s", err, patch)
	}
	if _, _, ok, err := Diff(t.Context(), t.TempDir(), "a"); ok || err != nil {
		t.Errorf("outside of a repository: got %v, %v", ok, err)
	}
}

func TestDiffOfARepositoryWithoutCommits(t *testing.T) {
	dir := testRepository(t)
	mustGit(t, dir, "update-ref", "-d", "HEAD")
	write(t, dir, "staged", "s\n")
	write(t, dir, "a", "a\n")
	mustGit(t, dir, "add", "staged")
	for _, name := range []string{"a", "staged"} {
		patch, _, ok, err := Diff(t.Context(), dir, name)
		if err != nil || !ok || !strings.Contains(patch, "\n+++ b/"+name+"\n") {
			t.Errorf("%s: got %v, %v\n%s", name, ok, err, patch)
		}
	}
}

func TestDiffIsBounded(t *testing.T) {
	dir := changed(t)
	long := strings.Repeat("line\n", MaxPatch)
	write(t, dir, "kept", long)
	write(t, dir, "large", long)
	for i := range 20 {
		write(t, dir, fmt.Sprintf("many/%d", i), long[:MaxPatch/10])
	}
	for _, name := range []string{"kept", "large", "many/"} {
		patch, cut, ok, err := Diff(t.Context(), dir, name)
		if err != nil || !ok || !cut || len(patch) > MaxPatch || len(patch) < MaxPatch-10 || !strings.HasSuffix(patch, "\n+line\n") {
			t.Errorf("%s: got %d bytes, cut %v, %v, %v", name, len(patch), cut, ok, err)
		}
	}
}

// The path is of a client, the directory of an agent.
func TestDiffStaysInTheDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir, outside := changed(t), t.TempDir()
	write(t, outside, "secret", "secret\n")
	for _, name := range []string{"../" + filepath.Base(outside) + "/secret", filepath.Join(outside, "secret"), "", "/"} {
		if patch, _, _, err := Diff(t.Context(), dir, name); err == nil {
			t.Errorf("%q: got\n%s", name, patch)
		}
	}
	for name, target := range map[string]string{
		"link": filepath.Join(outside, "secret"), "linked": outside, "pkg/up": filepath.Join("..", "..", filepath.Base(outside), "secret"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "other/x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	write(t, outside, "x", "secret\n")
	if err := os.Symlink(outside, filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "linked", "linked/secret", "pkg", "pkg/up", "other/x", "other", "."} {
		if patch, _, _, _ := Diff(t.Context(), dir, name); strings.Contains(patch, "+secret") {
			t.Errorf("%s: got\n%s", name, patch)
		}
	}
}
