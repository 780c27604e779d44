package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// statusOf returns the changes below a directory as lines.
func statusOf(t *testing.T, dir string) []string {
	t.Helper()
	changes, ok, err := Status(t.Context(), dir)
	if err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %s +%d -%d", c.Code, c.Path, c.Added, c.Removed))
	}
	return out
}

// changed makes a repository with changes of all kinds.
func changed(t *testing.T) string {
	dir := testRepository(t)
	for _, name := range []string{"kept", "pkg/changed", "pkg/staged", "gone", "other/x"} {
		write(t, dir, name, "one\ntwo\n")
	}
	mustGit(t, dir, "add", ".")
	mustGit(t, dir, "commit", "-q", "-m", "files")
	write(t, dir, "pkg/changed", "one\nzwei\ndrei\n")
	write(t, dir, "pkg/staged", "two\n")
	write(t, dir, "pkg/new", "n\n")
	mustGit(t, dir, "add", "pkg/staged", "pkg/new")
	write(t, dir, "loose/a", "a\n")
	write(t, dir, "a b\tc", "a\n")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStatusNamesWhatDiffersFromTheLastCommit(t *testing.T) {
	dir := changed(t)
	want := []string{
		"D gone +0 -2", "M pkg/changed +2 -1", "A pkg/new +1 -0", "M pkg/staged +0 -1", "? a b\tc +0 -0", "? loose/ +0 -0",
	}
	if got := statusOf(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = []string{"M changed +2 -1", "A new +1 -0", "M staged +0 -1"}
	if got := statusOf(t, filepath.Join(dir, "pkg")); !slices.Equal(got, want) {
		t.Errorf("below a directory: got %q, want %q", got, want)
	}
	w := mustCreate(t, Request{Dir: dir, Branch: "side"})
	write(t, w.Dir, "kept", "one\n")
	if got, want := statusOf(t, w.Dir), []string{"M kept +0 -1"}; !slices.Equal(got, want) {
		t.Errorf("in a worktree: got %q, want %q", got, want)
	}
	if _, ok, err := Status(t.Context(), t.TempDir()); ok || err != nil {
		t.Errorf("outside of a repository: got %v, %v", ok, err)
	}
}

func TestStatusOfARepositoryWithoutCommits(t *testing.T) {
	dir := testRepository(t)
	mustGit(t, dir, "update-ref", "-d", "HEAD")
	write(t, dir, "a", "a\n")
	if got, want := statusOf(t, dir), []string{"? a +0 -0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An agent in a sandbox may write the repository, the server runs git outside of it.
func TestStatusRunsNoProgramOfTheRepository(t *testing.T) {
	dir := changed(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	write(t, dir, ".gitattributes", "* filter=evil diff=evil\n")
	write(t, dir, ".git/info/attributes", "* filter=evil diff=evil\n")
	for _, name := range []string{
		"filter.evil.clean", "filter.evil.process", "diff.evil.command", "diff.evil.textconv", "diff.external",
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.hooksPath", "gpg.program", "core.alternateRefsCommand",
	} {
		mustGit(t, dir, "config", name, program)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman"} {
		write(t, dir, ".git/hooks/"+hook, "#!/bin/sh\necho hook >>"+ran+"\n")
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	write(t, dir, "kept", "one\n")
	before := readIndex(t, dir)
	if got := statusOf(t, dir); !slices.Contains(got, "M kept +0 -1") {
		t.Errorf("got %q", got)
	}
	if patch, _, _, err := Diff(t.Context(), dir, "."); err != nil || !strings.Contains(patch, "-two\n") {
		t.Errorf("got %v\n%s", err, patch)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran %q", strings.TrimSpace(string(b)))
	}
	if readIndex(t, dir) != before {
		t.Error("the index has changed")
	}
	_, _ = git(t.Context(), dir, "diff") // the repository is dangerous indeed
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("an ordinary diff runs nothing either: %v", err)
	}
}

func readIndex(t *testing.T, dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
