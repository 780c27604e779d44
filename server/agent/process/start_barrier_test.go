//go:build unix

package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestAProgramRunsOnceItsGroupIsKept(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	var kept Group
	p, err := Start(Command{
		Args: []string{"sh", "-c", `echo $$ > ran; echo "$1 $2"; cat; test -e /proc/self/fd/3 && echo leaked; exit 7`, "name", "a b", "c"},
		Dir:  dir, Env: os.Environ(),
		Record: func(g Group) error {
			kept = g
			if _, err := os.Stat(ran); err == nil {
				t.Error("it ran before it was kept")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept != p.Group() || kept.PID == 0 {
		t.Errorf("kept %+v, it is %+v", kept, p.Group())
	}
	if _, err := io.WriteString(p.Stdin, "input\n"); err != nil {
		t.Error(err)
	}
	_ = p.Stdin.Close()
	out, err := io.ReadAll(p.Stdout)
	if string(out) != "a b c\ninput\n" || err != nil {
		t.Errorf("said %q, %v", out, err)
	}
	p.End(0)
	p.Release()
	if p.Err() == nil || !strings.Contains(p.Err().Error(), "7") {
		t.Errorf("ended with %v", p.Err())
	}
	if pid, err := os.ReadFile(ran); err != nil || strings.TrimSpace(string(pid)) != strconv.Itoa(kept.PID) {
		t.Errorf("ran as %s, kept was %d: %v", pid, kept.PID, err)
	}
}

func TestAProgramThatCannotBeKeptDoesNotRun(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	refused := errors.New("refused")
	var pid int
	_, err := Start(Command{Args: []string{"touch", ran}, Env: os.Environ(), Record: func(g Group) error {
		pid = g.PID
		return refused
	}})
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	waitGone(t, pid)
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

func TestAHeldBackProgramThatIsNotThereFailsAsAnyOther(t *testing.T) {
	keep := func(Group) error {
		t.Error("kept")
		return nil
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"no-such-agent": fs.ErrNotExist, "/no/such/agent": fs.ErrNotExist, "./text": fs.ErrPermission} {
		if _, err := Start(Command{Args: []string{path}, Dir: dir, Record: keep}); err == nil || path != "no-such-agent" && !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
