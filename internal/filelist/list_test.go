package filelist

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeTree writes files, each with its name as content unless text is given for it.
func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ignoreTree is a tree with patterns of every kind.
var ignoreTree = map[string]string{
	".gitignore": "# comment\n*.log\n!keep.log\n/build\nnode_modules/\ndoc/*.txt\nsrc/**/gen\n\\#odd\ntrail   \n" +
		"**/deep/x\na/**/z\n[ab]*.tmp\n!\n/\n",
	"main.go": "", "x.log": "", "keep.log": "", "build/out": "", "sub/build/kept": "", "node_modules/a/b.js": "",
	"sub/node_modules/c": "", "doc/a.txt": "", "doc/sub/a.txt": "", "src/gen/1": "",
	"src/p/q/gen/1": "", "src/p/q/ok": "",
	"#odd": "", "trail": "",
	"p/deep/x": "", "p/deep/y": "", "a/z": "", "a/b/c/z": "", "a1.tmp": "", "c1.tmp": "",
	"sub/.gitignore": "!x.log\n/only\n", "sub/x.log": "", "sub/only": "", "sub/sub/only": "", ".hidden": "",
	"sub/build2/.gitignore": "*\n!.gitignore\n", "sub/build2/gone": "",
}

func TestListIsWhatGitLists(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	writeTree(t, root, ignoreTree)
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	run("init", "-q")
	for _, dir := range []string{"", "sub", "src/p"} {
		want := strings.Fields(run("-C", filepath.Join(root, dir), "-c", "core.quotePath=false", "ls-files", "-co",
			"--exclude-standard"))
		got := List(t.Context(), filepath.Join(root, dir))
		slices.Sort(want)
		slices.Sort(got.Files)
		if !slices.Equal(got.Files, want) || got.More {
			t.Errorf("%q: got\n%q\ngit lists\n%q", dir, got.Files, want)
		}
	}
}

func TestListFollowsNoLinksAndReadsNoPipes(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"a/b": ""})
	if err := os.Symlink("..", filepath.Join(root, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", filepath.Join(root, "a", ".gitignore")).Run(); err != nil {
		t.Fatal(err)
	}
	if got := List(t.Context(), root).Files; !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("%q", got)
	}
	if got := List(t.Context(), filepath.Join(root, "none")); len(got.Files) > 0 {
		t.Errorf("no directory: %v", got)
	}
}

func TestSearchPutsTheBestMatchFirst(t *testing.T) {
	l := Listing{Files: []string{
		"README.md", "tui/composer/composer.go", "tui/composer/composer_test.go",
		"cmd/compose.go", "a/c/o/m/p", "Ünï.txt",
	}}
	for text, want := range map[string][]string{
		"compgo":   {"cmd/compose.go", "tui/composer/composer.go"},
		"readme":   {"README.md"},
		"tui/comp": {"tui/composer/composer.go"},
		"üï":       {"Ünï.txt"},
		"zzz":      {},
	} {
		if got := l.Search(text, len(want)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := l.Search("", 3); len(got) != 3 {
		t.Errorf("everything: %q", got)
	}
}
