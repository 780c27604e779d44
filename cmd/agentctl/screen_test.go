//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/terminal"
)

// A stand is the program on a terminal, with a data directory and a session of its own.
type stand struct {
	*terminal.Terminal
	t      *testing.T
	ctx    context.Context
	dir    dataDir
	stderr bytes.Buffer
}

// newStand makes the session "fix" and returns what the program's environment is.
func newStand(t *testing.T) *stand {
	t.Helper()
	home := t.TempDir()
	s := &stand{t: t, dir: dataDir(filepath.Join(home, "data"))}
	var stop context.CancelFunc
	s.ctx, stop = context.WithTimeout(context.Background(), scriptPatience)
	t.Cleanup(stop)
	t.Cleanup(func() { endServer(t, s.dir) })
	agent, err := filepath.Abs(filepath.Join("testdata", "agent.script"))
	if err != nil {
		t.Fatal(err)
	}
	s.runs("new", "--name", "fix", "--agent", "script:"+agent)
	return s
}

func (s *stand) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, "agentctl", args...)
	home := filepath.Dir(string(s.dir))
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "AGENTCTL_DATA=" + string(s.dir), "USER=ann", "TERM=xterm-256color",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"), "PS1=$ ",
	}
	return cmd
}

// runs runs a verb for its effect.
func (s *stand) runs(args ...string) {
	s.t.Helper()
	if out, err := s.command(args...).CombinedOutput(); err != nil {
		s.t.Fatalf("agentctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// opens puts a program on a terminal and waits until it shows something.
func (s *stand) opens(cmd *exec.Cmd, shows string) {
	s.t.Helper()
	if cmd.Path != "/bin/sh" {
		cmd.Stderr = &s.stderr
	}
	var err error
	if s.Terminal, err = terminal.Start(cmd, 100, 30); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.Close)
	s.shows(0, shows)
}

// shows waits until words were written after so many bytes.
func (s *stand) shows(since int, words string) {
	s.t.Helper()
	if err := s.WaitFor(s.ctx, since, func(b []byte) bool { return strings.Contains(ansi.Strip(string(b)), words) }); err != nil {
		s.t.Fatalf("no %q: %v", words, err)
	}
}

func (s *stand) types(keys string) {
	s.t.Helper()
	if err := s.Type(keys); err != nil {
		s.t.Fatal(err)
	}
}

// left waits for the end and checks the exit code, what stderr tells and that nothing is left on the terminal.
func (s *stand) left(code int, told string) {
	s.t.Helper()
	if err := s.Wait(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	if got := s.Cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; stderr %q", got, code, s.stderr.String())
	}
	if got := s.stderr.String(); !strings.Contains(got, told) || told == "" && got != "" {
		s.t.Errorf("stderr is %q, want %q", got, told)
	}
	for _, what := range terminal.UnrestoredModes(s.OutputSince(0)) {
		s.t.Error("left on the terminal:", what)
	}
	if !s.SettingsRestored() {
		s.t.Error("the terminal's settings are not what they were")
	}
	if !bytes.Contains(s.OutputSince(0), []byte("\x1b[?1049h")) {
		s.t.Error("there was no screen")
	}
}

func (s *stand) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.Cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func TestTheTerminalIsLeftAsItWas(t *testing.T) {
	for _, c := range []struct {
		name string
		verb []string
		end  func(*stand)
		code int
		told string
	}{
		{"by Ctrl-C twice", []string{"attach", "fix"}, func(s *stand) { s.types("\x03"); s.shows(0, "again"); s.types("\x03") }, 0, ""},
		{"by Ctrl-C twice with the mouse", []string{"attach", "fix", "--mouse"}, func(s *stand) { s.types("\x03\x03") }, 0, ""},
		{"by SIGTERM", []string{"attach", "fix", "--mouse"}, func(s *stand) { s.signal(syscall.SIGTERM) }, 143, "terminated"},
		{"by SIGHUP", []string{"attach", "fix"}, func(s *stand) { s.signal(syscall.SIGHUP) }, 129, "hangup"},
		{"by SIGINT from outside", []string{"attach", "fix"}, func(s *stand) { s.signal(syscall.SIGINT) }, 130, "interrupt"},
		{"by the end of its time", []string{"attach", "fix", "--timeout", "2s"}, func(*stand) {}, 3, "2s"},
		{"after the server was killed", []string{"attach", "fix"}, func(s *stand) {
			at := s.Len()
			if err := syscall.Kill(s.dir.owner(), syscall.SIGKILL); err != nil {
				s.t.Fatal(err)
			}
			s.shows(at, "reconnecting")
			s.types("\x03\x03")
		}, 0, ""},
		{"of the tour by SIGTERM", []string{"tour"}, func(s *stand) { s.signal(syscall.SIGTERM) }, 143, "terminated"},
		{"of the tour by SIGINT", []string{"tour"}, func(s *stand) { s.signal(syscall.SIGINT) }, 130, "interrupt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			shows := "nothing was said yet"
			if c.verb[0] == "tour" {
				shows = "What is agentctl?"
			}
			s.opens(s.command(c.verb...), shows)
			c.end(s)
			s.left(c.code, c.told)
		})
	}
}

func TestTheDashboardLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	agent := "script:" + filepath.Join(filepath.Dir(string(s.dir)), "agent.script")
	if err := copyFile(filepath.Join("testdata", "agent.script"), strings.TrimPrefix(agent, "script:")); err != nil {
		t.Fatal(err)
	}
	s.runs("new", "--name", "other", "--agent", agent)
	s.opens(s.command("attach"), "other")
	s.signal(syscall.SIGTERM)
	s.left(143, "terminated")
}

func TestAScreenWhoseTerminalIsGoneEnds(t *testing.T) {
	for _, c := range []struct {
		name, how string
		codes     []int
	}{
		{"and says so", "exec agentctl attach fix", []int{129}},
		{"when the signal for it is ignored", "trap '' HUP; exec agentctl attach fix", []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			shell := s.command("-c", c.how)
			shell.Path, shell.Args[0], shell.Err = "/bin/sh", "sh", nil
			s.opens(shell, "nothing was said yet")
			if err := s.HangUp(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- s.Cmd.Wait() }()
			select {
			case <-done:
			case <-s.ctx.Done():
				t.Fatal("it runs on")
			}
			if code := s.Cmd.ProcessState.ExitCode(); !slices.Contains(c.codes, code) {
				t.Errorf("exit code %d; stderr %q", code, s.stderr.String())
			}
		})
	}
}

func TestASuspendedScreenComesBackWithWhatWasMissed(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	shell := s.command()
	shell.Path, shell.Args = "/bin/sh", []string{"sh", "-i"}
	shell.Err = nil
	s.opens(shell, "$ ")
	s.types("agentctl attach fix\n")
	s.shows(0, "nothing was said yet")
	at := s.Len()
	s.types("\x1a")
	s.shows(at, "$ ")
	for _, what := range terminal.UnrestoredModes(s.OutputSince(0)) {
		if what != "mode 2004 is set" { // the shell's own, for its line
			t.Error("while it is suspended:", what)
		}
	}
	s.runs("send", "fix", "meanwhile", "--wait")
	at = s.Len()
	s.types("fg\n")
	s.shows(at, "You said: meanwhile")
	s.shows(at, "idle")
	at = s.Len()
	s.types("live\r")
	s.shows(at, "You said: live")
	at = s.Len()
	s.types("\x03\x03")
	s.shows(at, "$ ")
	s.types("exit\n")
	if err := s.Wait(s.ctx); err != nil {
		t.Fatal(err)
	}
	if code := s.Cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestADumbTerminalHasLines(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	cmd := s.command("attach", "fix")
	cmd.Env = append(cmd.Env, "TERM=dumb")
	s.opens(cmd, "now idle")
	s.types("/quit\r")
	if err := s.Wait(s.ctx); err != nil {
		t.Fatal(err)
	}
	if said := s.OutputSince(0); bytes.ContainsRune(said, '\x1b') {
		t.Errorf("a dumb terminal got sequences: %q", said)
	}
}
