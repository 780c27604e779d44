package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
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
