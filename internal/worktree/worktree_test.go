package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testRepository returns a repository with one commit on main.
func testRepository(t *testing.T) string {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ann")
		t.Setenv("GIT_"+who+"_EMAIL", "ann@example.org")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "repo")
	mustGit(t, filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustCreate(t *testing.T, r Request) *Worktree {
	t.Helper()
	w, err := Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestPathOfAWorktree(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	for template, want := range map[string]string{
		DefaultPath:            "/src/repo-fix-login",
		".trees/{branch}":      "/src/repo/.trees/fix-login",
		"/tmp/{repo}/{branch}": "/tmp/repo/fix-login",
		"~/w/{branch}":         "/home/ann/w/fix-login",
		"../trees":             "",
		"{branch}{user}":       "",
	} {
		got, err := expandPath(template, "/src/repo", "fix/login")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", template, got, err, want)
		}
	}
}

func TestARequestWithTheSameKeyGetsTheSameWorktree(t *testing.T) {
	dir := testRepository(t)
	r := Request{Dir: dir, Branch: "a", Key: "k"}
	first := mustCreate(t, r)
	again := mustCreate(t, r)
	if first.Reused || !again.Reused || again.Dir != first.Dir {
		t.Errorf("%+v, then %+v", first, again)
	}
	r.Key = ""
	if w, err := Create(t.Context(), r); err == nil {
		t.Errorf("without the key: %+v", w)
	}
}

func TestHooksOfGitDoNotRedirectTheWorktree(t *testing.T) {
	dir := testRepository(t)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other"))
	t.Setenv("GIT_WORK_TREE", "/")
	if w := mustCreate(t, Request{Dir: dir, Branch: "a"}); w.Repository != dir {
		t.Errorf("in %s", w.Repository)
	}
}

func TestAWorktreeInAWorktreeIsBesideTheRepository(t *testing.T) {
	dir := testRepository(t)
	a := mustCreate(t, Request{Dir: dir, Branch: "a"})
	mustGit(t, a.Dir, "commit", "-q", "--allow-empty", "-m", "second")
	b := mustCreate(t, Request{Dir: a.Dir, Branch: "b"})
	if b.Dir != dir+"-b" || b.Base != "refs/heads/a" || b.Start != mustGit(t, a.Dir, "rev-parse", "HEAD") {
		t.Errorf("%+v", b)
	}
}

func TestWorkThatARemovalWouldLose(t *testing.T) {
	for name, c := range map[string]struct {
		work func(t *testing.T, w *Worktree)
		want string
	}{
		"none":    {func(*testing.T, *Worktree) {}, ""},
		"a file":  {writeFile, "1 changed file"},
		"ignored": {func(t *testing.T, w *Worktree) { ignoreFile(t, w); writeFile(t, w) }, ""},
		"a commit": {func(t *testing.T, w *Worktree) {
			mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "second")
		}, "1 commit that main does not have"},
		"a commit without a branch": {func(t *testing.T, w *Worktree) {
			mustGit(t, w.Dir, "checkout", "-q", "--detach")
			mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "second")
		}, "1 commit that main does not have"},
		"both": {func(t *testing.T, w *Worktree) {
			mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "second")
			mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "third")
			writeFile(t, w)
		}, "1 changed file and 2 commits that main does not have"},
		"a merged commit": {func(t *testing.T, w *Worktree) {
			mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "second")
			mustGit(t, w.Repository, "merge", "-q", "a")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testRepository(t)
			mustCreate(t, Request{Dir: dir, Branch: "a"})
			w := Find(t.Context(), dir+"-a")
			if w == nil {
				t.Fatal("not found")
			}
			c.work(t, w)
			if got, err := w.Left(t.Context()); err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			err := w.Remove(t.Context(), false)
			if removed := !exists(w.Dir); removed != !strings.Contains(c.want, "file") {
				t.Errorf("removed: %v, %v", removed, err)
			}
			if branch := mustGit(t, dir, "branch", "--list", "a"); (branch == "") != (c.want == "") {
				t.Errorf("branch %q", branch)
			}
		})
	}
}

// Files that git ignores are in no commit. Those that the set-up made can be made again.
func TestIgnoredFilesAreNamed(t *testing.T) {
	dir := testRepository(t)
	w := mustCreate(t, Request{Dir: dir, Branch: "a"})
	exclude := filepath.Join(dir, ".git", "info", "exclude")
	if err := os.WriteFile(exclude, []byte(".env\ndeps/\nbuild/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := w.Setup(t.Context(), []string{"sh", "-c", "mkdir deps && echo >deps/one"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	work := exec.CommandContext(t.Context(), "sh", "-c", "echo >.env && mkdir build && echo >build/one && echo >deps/two")
	work.Dir = w.Dir
	if out, err := work.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names, err := Find(t.Context(), w.Dir).Ignored(t.Context())
	if want := []string{".env", "build/"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v; want %q", names, err, want)
	}
	for n, want := range []string{"", "1 ignored file: a", "2 ignored files: a, b"} {
		if got := IgnoredText([]string{"a", "b"}[:n]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := IgnoredText(strings.Split("abcdefg", "")); got != "7 ignored files: a, b, c, d, e and 2 more" {
		t.Errorf("got %q", got)
	}
}

// Changes in a submodule count, and the monitor of the file system that its configuration names
// does not run: git passes the setting on to the git that it starts there.
func TestTheMonitorOfASubmoduleDoesNotRun(t *testing.T) {
	dir := testRepository(t)
	library := filepath.Join(filepath.Dir(dir), "library")
	mustGit(t, filepath.Dir(dir), "init", "-q", "-b", "main", library)
	mustGit(t, library, "commit", "-q", "--allow-empty", "-m", "first")
	mustGit(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
	mustGit(t, dir, "commit", "-q", "-m", "library")
	w := mustCreate(t, Request{Dir: dir, Branch: "a"})
	mustGit(t, w.Dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	submodule, ran := filepath.Join(w.Dir, "lib"), filepath.Join(t.TempDir(), "ran")
	monitor := filepath.Join(t.TempDir(), "monitor")
	if err := os.WriteFile(monitor, []byte("#!/bin/sh\necho >"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustGit(t, submodule, "config", "core.fsmonitor", monitor)
	if err := os.WriteFile(filepath.Join(submodule, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if left, err := w.Left(t.Context()); err != nil || left != "1 changed file" {
		t.Errorf("left %q, %v", left, err)
	}
	if exists(ran) {
		t.Error("the monitor ran")
	}
	plain := exec.CommandContext(t.Context(), "git", "status")
	plain.Dir = w.Dir
	if out, err := plain.CombinedOutput(); err != nil || !exists(ran) {
		t.Errorf("without the setting the monitor does not run: %v: %s", err, out)
	}
}

func TestADirectoryHasSeveralNames(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, link := filepath.Join(root, "dir"), filepath.Join(root, "link")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		dir: true, link: true, link + "/missing/below": true, dir + "/..a": true,
		root: false, dir + "-other": false, link + "/..": false, "": false,
	} {
		if got := Within(path, dir); got != want {
			t.Errorf("%s: %v", path, got)
		}
		if got := Within(path, link); got != want {
			t.Errorf("%s, by the link: %v", path, got)
		}
	}
}

func writeFile(t *testing.T, w *Worktree) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func ignoreFile(t *testing.T, w *Worktree) {
	t.Helper()
	exclude := filepath.Join(w.Repository, ".git", "info", "exclude")
	if err := os.WriteFile(exclude, []byte("file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestOnlyAWorktreeThatWasMadeHereIsFound(t *testing.T) {
	dir := testRepository(t)
	mustGit(t, dir, "worktree", "add", "-q", dir+"-own")
	made := mustCreate(t, Request{Dir: dir, Branch: "made"})
	below := filepath.Join(made.Dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{dir, dir + "-own", below, t.TempDir(), filepath.Join(dir, "missing")} {
		if w := Find(t.Context(), other); w != nil {
			t.Errorf("%s: %+v", other, w)
		}
	}
}

func TestABranchThatExistedStays(t *testing.T) {
	dir := testRepository(t)
	mustGit(t, dir, "branch", "old")
	if _, err := Create(t.Context(), Request{Dir: dir, Branch: "old", Base: "main"}); err == nil {
		t.Error("a base for a branch that exists")
	}
	for _, remove := range []func(*Worktree) error{
		func(w *Worktree) error { return w.Undo(t.Context()) },
		func(w *Worktree) error { return w.Remove(t.Context(), false) },
	} {
		w := mustCreate(t, Request{Dir: dir, Branch: "old"})
		if err := remove(w); err != nil || exists(w.Dir) {
			t.Errorf("not removed: %v", err)
		}
		mustGit(t, dir, "rev-parse", "refs/heads/old")
	}
}

func TestASetUpRunsOnceAndCanBeStopped(t *testing.T) {
	dir := testRepository(t)
	w := mustCreate(t, Request{Dir: dir, Branch: "a"})
	var out bytes.Buffer
	command := []string{"sh", "-c", "pwd; exit $1", "sh", "1"}
	if err := w.Setup(t.Context(), command, &out); err == nil || !strings.Contains(err.Error(), w.Dir) ||
		!strings.Contains(out.String(), w.Dir) {
		t.Errorf("%v, output %q", err, &out)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := w.Setup(ctx, command, &out); !errors.Is(err, stopped) {
		t.Error(err)
	}
	command[4] = "0"
	for range 2 {
		out.Reset()
		if err := w.Setup(t.Context(), command, &out); err != nil {
			t.Error(err)
		}
	}
	if out.Len() > 0 {
		t.Errorf("ran again: %q", &out)
	}
	if err := w.Undo(ctx); err != nil || exists(w.Dir) {
		t.Errorf("undo after the end of the context: %v", err)
	}
}
