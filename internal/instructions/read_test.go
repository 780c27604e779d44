package instructions

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes files below a directory and returns it without links.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names returns the files relative to a directory.
func names(dir string, files []File) (out []string) {
	for _, f := range files {
		name, _ := filepath.Rel(dir, f.Path)
		out = append(out, filepath.ToSlash(name))
	}
	return out
}

func TestNearerFilesComeLater(t *testing.T) {
	dir := put(t, map[string]string{
		"AGENTS.md": "outside", "user/AGENTS.md": "mine @more.md", "user/more.md": "more", "repo/.git/HEAD": "",
		"repo/AGENTS.md":     "root: @docs/style.md, `@docs/code.md`\n```\n@docs/code.md\n```\n@nobody @docs/style.md",
		"repo/docs/style.md": "style @deep.md @../../outside.md @" + "../../AGENTS.md", "repo/docs/deep.md": "deep @style.md",
		"repo/docs/code.md": "code", "repo/a/CLAUDE.md": "claude", "repo/a/b/AGENTS.md": "near", "repo/a/b/CLAUDE.md": "near",
		"repo/a/c/AGENTS.md": "other", "outside.md": "outside",
	})
	place := Place{Dir: filepath.Join(dir, "repo/a/b"), Global: filepath.Join(dir, "user/AGENTS.md"), Most: 1000}
	files, left := Read(place)
	want := []string{
		"user/AGENTS.md", "user/more.md", "repo/AGENTS.md", "repo/docs/style.md", "repo/docs/deep.md",
		"repo/a/CLAUDE.md", "repo/a/b/AGENTS.md",
	}
	if got := names(dir, files); !slices.Equal(got, want) || left != nil || files[3].By != files[2].Path {
		t.Errorf("got %q, left out %q, want %q", got, left, want)
	}
	place.May = func(path string) error {
		if strings.HasSuffix(path, "style.md") {
			return errors.New("no")
		}
		return nil
	}
	files, _ = Read(place)
	if got := names(dir, files); slices.Contains(got, "repo/docs/style.md") || len(got) != 5 {
		t.Errorf("not allowed: %q", got)
	}
	files, _ = Read(Place{Dir: filepath.Join(dir, "user"), Most: 1000})
	if got := names(dir, files); !slices.Equal(got, []string{"user/AGENTS.md", "user/more.md"}) {
		t.Errorf("no repository: %q", got)
	}
}

// No link leads out of the repository, neither of a file, nor of a directory, nor of an import.
func TestNoLinkLeadsOutside(t *testing.T) {
	dir := put(t, map[string]string{
		"repo/.git/HEAD": "", "repo/real.md": "inside @secret/id @link/key.md @linked.md", "secret/id": "key", "secret/key.md": "key",
		"repo/secret/x": "",
	})
	repo := filepath.Join(dir, "repo")
	for link, target := range map[string]string{
		"AGENTS.md": "real.md", "CLAUDE.md": "../secret/id", "link": "../secret", "linked.md": filepath.Join(dir, "secret/id"),
		"secret/id": "../../secret/id",
	} {
		if err := os.Symlink(target, filepath.Join(repo, link)); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := Read(Place{Dir: repo, Most: 1000})
	if got := names(dir, files); !slices.Equal(got, []string{"repo/real.md"}) {
		t.Errorf("got %q", got)
	}
}

// The nearest files are kept, and what is cut or left out is named.
func TestFilesAreBounded(t *testing.T) {
	dir := put(t, map[string]string{
		".git/HEAD": "", "AGENTS.md": strings.Repeat("f", 5000), "a/AGENTS.md": strings.Repeat("m", 5000),
		"a/b/AGENTS.md": strings.Repeat("n", 3000), "a/CLAUDE.md": "\xff",
	})
	files, left := Read(Place{Dir: filepath.Join(dir, "a/b"), Most: 6000})
	if len(files) != 2 || len(left) != 2 || len(files[1].Text) != 3000 || len(files[0].Text) > 3100 ||
		!strings.HasSuffix(files[0].Text, "[the last 2000 bytes of the file were left out]") {
		t.Errorf("%d files, left out %q", len(files), left)
	}
}

// Files that import each other end, and many imports are bounded.
func TestImportsEnd(t *testing.T) {
	tree := map[string]string{".git/HEAD": ""}
	for i := range 10 {
		tree[strings.Repeat("x", i+1)+".md"] = "level @" + strings.Repeat("x", i+2) + ".md @AGENTS.md"
	}
	tree["AGENTS.md"] = "@x.md"
	files, _ := Read(Place{Dir: put(t, tree), Most: 1 << 20})
	if len(files) != 1+maxDepth {
		t.Errorf("%d files", len(files))
	}
}
