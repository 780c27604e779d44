package tool

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/server/sandbox"
)

// hostileRepository makes a repository whose configuration and attributes name programs that append to the file ran.
func hostileRepository(t *testing.T, dir string) (ran string) {
	t.Helper()
	ran = filepath.Join(dir, "ran")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	write("a.txt", "one\n")
	git("add", "a.txt")
	git("commit", "-qm", "first")
	write("a.txt", "two\n")
	git("commit", "-qam", "second")
	write("evil", "#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n")
	write("a.txt", "three\n")
	write(".gitattributes", "*.txt diff=evil filter=evil\n")
	evil := filepath.Join(dir, "evil")
	config := "[filter \"evil\"]\nrequired = true\n[log]\nshowSignature = true\n[remote \"origin\"]\nurl = ext::" + evil +
		"\npromisor = true\n[protocol \"ext\"]\nallow = always\n[extensions]\npartialClone = origin\n"
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "diff.evil.command", "diff.evil.textconv",
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.program", "gpg.ssh.program", "pager.log", "pager.diff",
		"interactive.diffFilter", "alias.log", "alias.status", "remote.origin.uploadpack", "core.alternateRefsCommand",
	} {
		value := evil
		if strings.HasPrefix(key, "alias.") {
			value = "!" + evil
		}
		last := strings.LastIndexByte(key, '.')
		section, of, found := strings.Cut(key[:last], ".")
		if found {
			section += fmt.Sprintf(" %q", of)
		}
		config += fmt.Sprintf("[%s]\n%s = %s\n", section, key[last+1:], value)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(config)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return ran
}

var fixedTime = time.Unix(1, 0)

// readingLines are commands that a hostile repository could use.
var readingLines = []string{
	"git status", "git status --short", "git diff", "git diff --stat", "git log -p", "git log -n 1 --format='%G? %h'",
	"git show", "git show HEAD:a.txt", "git ls-files -m", "git describe --always", "git branch -a", "git shortlog -s HEAD",
	"git rev-list --all --count", "git log --oneline | head -n 1", "git show 1234567890123456789012345678901234567890",
}

// The setup of commands that read keeps a hostile repository from running programs, also without the sandbox.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	dir := t.TempDir()
	ran := hostileRepository(t, dir)
	run := func(command string) string {
		t.Helper()
		args := shellCommand(command)
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // some fail
		return string(out)
	}
	for _, line := range readingLines {
		if err := os.Chtimes(filepath.Join(dir, "a.txt"), fixedTime, fixedTime); err != nil { // git compares it again
			t.Fatal(err)
		}
		out := run(readingSetup + line)
		if b, err := os.ReadFile(ran); err == nil {
			t.Fatalf("%s ran %s: %s", line, b, out)
		}
		if strings.Contains(line, "diff") && !strings.Contains(out, "a.txt") {
			t.Errorf("%s: %s", line, out)
		}
	}
	if run("git status"); !exists(ran) {
		t.Error("the repository is not hostile")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A command is confined only if a sandbox exists, and contained only if all it names is in the directory.
func TestCommandsThatReadAreRecognised(t *testing.T) {
	r := newRig(t, map[string]string{"a.txt": "x", "sub/b.txt": "y"})
	if err := os.Symlink("/etc", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if confined, _ := r.reads("ls", r.dir); confined {
		t.Error("a command is confined without a sandbox")
	}
	r.options.Reader = func() *sandbox.Box { return &sandbox.Box{} }
	for line, want := range map[string][2]bool{
		"ls":                     {true, true},
		"cat a.txt":              {true, true},
		"cat ./sub/b.txt":        {true, true},
		"cat /etc/passwd":        {true, false},
		"cat ../x":               {true, false},
		"cat link/passwd":        {true, false},
		"ls link":                {true, false},
		"git log --format=/x/%h": {true, false},
		"grep -rn a sub":         {true, true},
		"rm a.txt":               {false, false},
		"cat a.txt > b":          {false, false},
	} {
		confined, contained := r.reads(line, r.dir)
		if got := [2]bool{confined, contained}; got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if _, contained := r.reads("ls", "/etc"); contained {
		t.Error("a command in another directory is contained")
	}
}
