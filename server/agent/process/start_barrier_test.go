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

func TestAProgramRunsOnceItsGroupIsRecorded(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	var recorded Group
	p, err := Start(Command{
		Args: []string{"sh", "-c", `echo $$ > ran; echo "$1 $2"; cat; test -e /proc/self/fd/3 && echo leaked; exit 7`, "name", "a b", "c"},
		Dir:  dir, Env: os.Environ(),
		Record: func(g Group) error {
			recorded = g
			if _, err := os.Stat(ran); err == nil {
				t.Error("the program ran before its group was recorded")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if recorded != p.Group() || recorded.PID == 0 {
		t.Errorf("recorded %+v, want %+v", recorded, p.Group())
	}
	if _, err := io.WriteString(p.Stdin, "input\n"); err != nil {
		t.Error(err)
	}
	_ = p.Stdin.Close()
	out, err := io.ReadAll(p.Stdout)
	if string(out) != "a b c\ninput\n" || err != nil {
		t.Errorf("output %q, %v", out, err)
	}
	p.End(0)
	p.Release()
	if p.Err() == nil || !strings.Contains(p.Err().Error(), "7") {
		t.Errorf("exit error %v", p.Err())
	}
	if pid, err := os.ReadFile(ran); err != nil || strings.TrimSpace(string(pid)) != strconv.Itoa(recorded.PID) {
		t.Errorf("ran as %s, recorded %d: %v", pid, recorded.PID, err)
	}
}

func TestAProgramThatCannotBeRecordedDoesNotRun(t *testing.T) {
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
		t.Error("the program ran")
	}
}

func TestAMissingProgramFailsBehindTheBarrier(t *testing.T) {
	record := func(Group) error {
		t.Error("group recorded")
		return nil
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"no-such-agent": fs.ErrNotExist, "/no/such/agent": fs.ErrNotExist,
		"./text": fs.ErrPermission,
	} {
		if _, err := Start(Command{Args: []string{path}, Dir: dir, Record: record}); err == nil ||
			path != "no-such-agent" && !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestASupervisedProgramRunsOnceEverythingIsSetUpAndItsGroupRecorded(t *testing.T) {
	dir := t.TempDir()
	p, err := Start(Command{
		Args: []string{"sh", "-c", `cat order; test -e /proc/self/fd/3 -o -e /proc/self/fd/4 && echo leaked`},
		Dir:  dir, Env: os.Environ(),
		Supervisor: []string{"/bin/sh", "-c", `echo set up > order; exec "$@"`, "sh"},
		Record: func(Group) error {
			f, err := os.OpenFile(filepath.Join(dir, "order"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = io.WriteString(f, "recorded\n")
			return errors.Join(err, f.Close())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout)
	if string(out) != "set up\nrecorded\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	p.End(0)
	p.Release()
}

func TestASupervisorThatFailsRunsNothing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"before the program": `echo broken >&2; exit 1`,
		"without the pipe":   `exec 4>&-; echo broken >&2; "$@"`,
	} {
		ran := filepath.Join(t.TempDir(), "ran")
		_, err := Start(Command{
			Args: []string{"touch", ran}, Env: os.Environ(), Supervisor: []string{"/bin/sh", "-c", script, "sh"},
			Record: func(Group) error {
				t.Error("group recorded")
				return nil
			},
		})
		if !errors.Is(err, ErrSetup) || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: the program ran", name)
		}
	}
}
