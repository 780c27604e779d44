//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/terminal"
	"agentctl/internal/localserver"
)

// emptySession is the text of the screen of a session without messages.
const emptySession = "no messages yet"

// A terminalTest runs the program on a terminal, with its own data directory.
type terminalTest struct {
	*terminal.Terminal
	t      *testing.T
	ctx    context.Context
	dir    localserver.Dir
	stderr bytes.Buffer
}

// newTerminalTest returns a test with the session "fix".
func newTerminalTest(t *testing.T) *terminalTest {
	t.Helper()
	tt := newTerminalTestWithoutServer(t)
	tt.run("new", "--name", "fix", "--agent", "script:"+tt.script())
	return tt
}

func newTerminalTestWithoutServer(t *testing.T) *terminalTest {
	t.Helper()
	tt := &terminalTest{t: t, dir: localserver.Dir(filepath.Join(t.TempDir(), "data"))}
	var stop context.CancelFunc
	tt.ctx, stop = context.WithTimeout(context.Background(), scriptTimeout)
	t.Cleanup(stop)
	t.Cleanup(func() { endServer(t, tt.dir) })
	return tt
}

// script returns the path of the test's agent.
func (tt *terminalTest) script() string {
	path, err := filepath.Abs(filepath.Join("testdata", "agent.script"))
	if err != nil {
		tt.t.Fatal(err)
	}
	return path
}

func (tt *terminalTest) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(tt.ctx, "agentctl", args...)
	line := tt.line(args...)
	cmd.Dir, cmd.Env = line.Dir, line.Env
	return cmd
}

func (tt *terminalTest) line(args ...string) *commandLine {
	home := filepath.Dir(string(tt.dir))
	return &commandLine{Args: append([]string{"agentctl"}, args...), Dir: home, Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "AGENTCTL_DATA=" +
			string(tt.dir), "USER=ann", "TERM=xterm-256color",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"), "PS1=$ ",
	}}
}

// shell returns a command for the shell, whose errors are shown on the terminal.
func (tt *terminalTest) shell(script string) *exec.Cmd {
	cmd := tt.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", script}
	return cmd
}

// run runs a verb and requires success.
func (tt *terminalTest) run(args ...string) {
	tt.t.Helper()
	if result, err := runners.run(tt.line(args...)); err != nil || result.Code != 0 {
		tt.t.Fatalf("agentctl %s: %v, %+v", strings.Join(args, " "), err, result)
	}
}

// open runs a program on the terminal and waits until it shows text.
func (tt *terminalTest) open(cmd *exec.Cmd, text string) {
	tt.t.Helper()
	if cmd.Path != "/bin/sh" {
		cmd.Stderr = &tt.stderr
	}
	var err error
	if tt.Terminal, err = terminal.Start(cmd, 100, 30); err != nil {
		tt.t.Fatal(err)
	}
	tt.t.Cleanup(tt.Close)
	tt.waitFor(0, text)
}

// waitFor waits until the program has written text after the first since bytes.
func (tt *terminalTest) waitFor(since int, text string) {
	tt.t.Helper()
	if err := tt.WaitFor(tt.ctx, since, func(b []byte) bool {
		return strings.Contains(ansi.Strip(string(b)),
			text)
	}); err != nil {
		tt.t.Fatalf("no %q: %v", text, err)
	}
}

func (tt *terminalTest) typeKeys(keys string) {
	tt.t.Helper()
	if err := tt.Type(keys); err != nil {
		tt.t.Fatal(err)
	}
}

// waitExit waits for the end and checks the exit code, that stderr contains text, and that the
// terminal is restored.
func (tt *terminalTest) waitExit(code int, text string) {
	tt.t.Helper()
	if err := tt.Wait(tt.ctx); err != nil {
		tt.t.Fatal(err)
	}
	if got := tt.Cmd.ProcessState.ExitCode(); got != code {
		tt.t.Errorf("exit code %d, want %d; stderr %q", got, code, tt.stderr.String())
	}
	if got := tt.stderr.String(); !strings.Contains(got, text) || text == "" && got != "" {
		tt.t.Errorf("stderr is %q, want %q", got, text)
	}
	for _, mode := range terminal.UnrestoredModes(tt.OutputSince(0)) {
		tt.t.Error("left on the terminal:", mode)
	}
	if !tt.SettingsRestored() {
		tt.t.Error("the terminal's settings are not restored")
	}
	if !bytes.Contains(tt.OutputSince(0), []byte("\x1b[?1049h")) {
		tt.t.Error("the program opened no screen")
	}
}

func (tt *terminalTest) signal(sig syscall.Signal) {
	tt.t.Helper()
	if err := tt.Cmd.Process.Signal(sig); err != nil {
		tt.t.Fatal(err)
	}
}

func TestTheTerminalIsLeftAsItWas(t *testing.T) {
	for _, c := range []struct {
		name string
		verb []string
		end  func(*terminalTest)
		code int
		text string
	}{
		{
			"by Ctrl-C twice",
			[]string{"attach", "fix"},
			func(tt *terminalTest) { tt.typeKeys("\x03"); tt.waitFor(0, "again"); tt.typeKeys("\x03") }, 0,
			"agentctl: left fix, it continues: agentctl attach fix\n",
		},
		{
			"by Ctrl-C twice with the mouse",
			[]string{"attach", "fix", "--mouse"},
			func(tt *terminalTest) { tt.typeKeys("\x03\x03") }, 0, "left fix, it continues",
		},
		{
			"by SIGTERM",
			[]string{"attach", "fix", "--mouse"},
			func(tt *terminalTest) { tt.signal(syscall.SIGTERM) }, 143,
			"terminated",
		},
		{"by SIGHUP", []string{"attach", "fix"}, func(tt *terminalTest) { tt.signal(syscall.SIGHUP) }, 129, "hangup"},
		{
			"by SIGINT from outside",
			[]string{"attach", "fix"},
			func(tt *terminalTest) { tt.signal(syscall.SIGINT) }, 130,
			"interrupt",
		},
		{"by the end of its time", []string{"attach", "fix", "--timeout", "2s"}, func(*terminalTest) {}, 3, "2s"},
		{"after the server was killed", []string{"attach", "fix"}, func(tt *terminalTest) {
			at := tt.Len()
			if err := syscall.Kill(tt.dir.Holder(), syscall.SIGKILL); err != nil {
				tt.t.Fatal(err)
			}
			tt.waitFor(at, "reconnecting")
			tt.typeKeys("\x03\x03")
		}, 0, "left fix without a connection: agentctl attach fix"},
		{
			"with its list of sessions",
			[]string{"attach", "fix", "--data", "data"},
			func(tt *terminalTest) {
				tt.typeKeys("\x1bOQ")
				tt.waitFor(0, "by need")
				tt.typeKeys("\x03\x03")
			}, 0, "left; the sessions continue: agentctl --data data attach\n",
		},
		{
			"of a closed session",
			[]string{"attach", "fix"},
			func(tt *terminalTest) {
				tt.run("rm", "fix")
				tt.waitFor(0, "closed")
				tt.typeKeys("\x03\x03")
			}, 0, "left fix, which has ended",
		},
		{
			"of the tour by Ctrl-C twice",
			[]string{"tour"},
			func(tt *terminalTest) { tt.typeKeys("\x03\x03") }, 0,
			"the tour has ended: agentctl new starts a session of your own",
		},
		{
			"of the tour by SIGTERM",
			[]string{"tour"},
			func(tt *terminalTest) { tt.signal(syscall.SIGTERM) }, 143,
			"terminated",
		},
		{
			"of the tour by SIGINT",
			[]string{"tour"},
			func(tt *terminalTest) { tt.signal(syscall.SIGINT) }, 130,
			"interrupt",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tt, text := newTerminalTestWithoutServer(t), "What is agentctl?"
			if c.verb[0] != "tour" {
				tt, text = newTerminalTest(t), emptySession
			}
			tt.open(tt.command(c.verb...), text)
			c.end(tt)
			tt.waitExit(c.code, c.text)
		})
	}
}

func TestTheDashboardLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	agent := "script:" + filepath.Join(filepath.Dir(string(tt.dir)), "agent.script")
	if err := copyFile(filepath.Join("testdata", "agent.script"), strings.TrimPrefix(agent, "script:")); err != nil {
		t.Fatal(err)
	}
	tt.run("new", "--name", "other", "--agent", agent)
	tt.open(tt.command("attach"), "other")
	tt.signal(syscall.SIGTERM)
	tt.waitExit(143, "terminated")
}

// TestAttachWithoutSessionsOffersAgentsAndTheForm attaches to a server without sessions.
func TestAttachWithoutSessionsOffersAgentsAndTheForm(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	tt.run("rm", "fix")
	tt.open(tt.command("attach"), "begin a session")
	tt.typeKeys("+")
	tt.waitFor(0, "new session")
	tt.typeKeys("\x03\x03")
	tt.waitExit(0, "the sessions continue: ")
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
			tt := newTerminalTest(t)
			shell := tt.command("-c", c.how)
			shell.Path, shell.Args[0], shell.Err = "/bin/sh", "sh", nil
			tt.open(shell, emptySession)
			if err := tt.HangUp(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- tt.Cmd.Wait() }()
			select {
			case <-done:
			case <-tt.ctx.Done():
				t.Fatal("still running")
			}
			if code := tt.Cmd.ProcessState.ExitCode(); !slices.Contains(c.codes, code) {
				t.Errorf("exit code %d; stderr %q", code, tt.stderr.String())
			}
		})
	}
}

func TestASuspendedScreenComesBackWithWhatWasMissed(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	shell := tt.command()
	shell.Path, shell.Args = "/bin/sh", []string{"sh", "-i"}
	shell.Err = nil
	tt.open(shell, "$ ")
	tt.typeKeys("agentctl attach fix\n")
	tt.waitFor(0, emptySession)
	at := tt.Len()
	tt.typeKeys("\x1a")
	tt.waitFor(at, "$ ")
	for _, mode := range terminal.UnrestoredModes(tt.OutputSince(0)) {
		if mode != "mode 2004 is set" { // the shell sets it for its command line
			t.Error("while suspended:", mode)
		}
	}
	tt.run("send", "fix", "meanwhile", "--wait")
	tt.typeKeys("fg\n")
	tt.waitScreen("You said: meanwhile") // which may be drawn in parts
	tt.waitScreen("idle")
	tt.typeKeys("live\r")
	tt.waitScreen("You said: live")
	at = tt.Len()
	tt.typeKeys("\x03\x03")
	tt.waitFor(at, "$ ")
	tt.typeKeys("exit\n")
	if err := tt.Wait(tt.ctx); err != nil {
		t.Fatal(err)
	}
	if code := tt.Cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestADumbTerminalHasLines(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	cmd := tt.command("attach", "fix")
	cmd.Env = append(cmd.Env, "TERM=dumb")
	tt.open(cmd, "now idle")
	tt.typeKeys("/quit\r")
	if err := tt.Wait(tt.ctx); err != nil {
		t.Fatal(err)
	}
	if out := tt.OutputSince(0); bytes.ContainsRune(out, '\x1b') {
		t.Errorf("a dumb terminal got control sequences: %q", out)
	}
}

// What was typed before a question is no answer to it.
func TestKeysBeforeAQuestionAnswerNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, before, question string
	}{
		{"approve fix", "y\ry\r", "allow once? [y/N]"},
		{"approve fix", "y", "allow once? [y/N]"},
		{"rm --all", "yes\r", "remove these 1 sessions? [y/N]"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			tt := newTerminalTest(t)
			tt.run("send", "fix", "ask")
			tt.run("wait", "fix", "--for", "approval")
			tt.open(tt.shell("read start; exec agentctl "+c.args), "")
			tt.typeKeys("\r" + c.before)
			tt.waitFor(0, c.question)
			tt.typeKeys("\r")
			if err := tt.Wait(tt.ctx); err != nil {
				t.Fatal(err)
			}
			if tt.Cmd.ProcessState.ExitCode() == 0 {
				t.Errorf("%s: %q answers the question: %s", c.args, c.before, tt.OutputSince(0))
			}
			tt.run("deny", "fix") // it is still pending
		})
	}
}

func TestAnUnknownCertificateIsConfirmedOnATerminal(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	other := filepath.Join(filepath.Dir(string(tt.dir)), "other")
	server := tt.command("serve", "--data", other, "--listen", "127.0.0.1:0", "--tls", "-o", "json")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(t, localserver.Dir(other)); _ = server.Wait() })
	var address struct{ URL, Fingerprint string }
	if err := json.NewDecoder(out).Decode(&address); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		code   int
	}{{"no\r", 8}, {"yes\r", 5}} { // 5: it has no credential
		tt.open(tt.shell("exec agentctl ls --server "+address.URL), address.Fingerprint)
		tt.waitFor(0, "type yes to trust it: ")
		tt.typeKeys(c.answer)
		if err := tt.Wait(tt.ctx); err != nil {
			t.Fatal(err)
		}
		if got := tt.Cmd.ProcessState.ExitCode(); got != c.code {
			t.Errorf("%q: exit code %d, want %d", c.answer, got, c.code)
		}
	}
}

func TestApproveShowsTheRequestOnATerminalAndAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		shown  []string
		answer string
		code   int
	}{
		{nil, []string{"command: rm -rf build", "reason: it is old", "allow once? [y/N]"}, "n\r", 2},
		{[]string{"--always"}, []string{"allow always, exactly this command in ", "[y/N]"}, "y\r", 0},
		{[]string{"--yes"}, []string{"allowed"}, "", 0},
	} {
		t.Run(c.shown[0], func(t *testing.T) {
			t.Parallel()
			tt := newTerminalTest(t)
			tt.run("send", "fix", "ask")
			tt.run("wait", "fix", "--for", "approval")
			tt.open(tt.command(append([]string{"approve", "fix"}, c.args...)...), c.shown[0])
			for _, part := range c.shown {
				tt.waitFor(0, part)
			}
			if c.answer != "" {
				tt.typeKeys(c.answer)
			}
			if err := tt.Wait(tt.ctx); err != nil {
				t.Fatal(err)
			}
			if got := tt.Cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("%q: exit code %d, want %d; stderr %q", c.args, got, c.code, tt.stderr.String())
			}
			if asked := strings.Contains(string(tt.OutputSince(0)), "[y/N]"); asked != (c.answer != "") {
				t.Errorf("%q: asked: %t", c.args, asked)
			}
			if c.code != 0 {
				tt.run("deny", "fix") // it is still pending
			}
		})
	}
}
