//go:build terminal

package terminaltest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/testbinary"
)

// testTimeout bounds a test.
const testTimeout = 90 * time.Second

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m)) }

// A terminalTest is a shell in its own tmux server, with its own data directory.
type terminalTest struct {
	t    *testing.T
	ctx  context.Context
	home string
	env  []string
}

// newTerminalTest opens a terminal of that size. Its cleanup stops tmux and agentctl's server.
func newTerminalTest(t *testing.T, columns, rows int) *terminalTest {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(stop)
	home := t.TempDir()
	p := &terminalTest{t: t, ctx: ctx, home: home, env: []string{
		"PATH=" + filepath.Dir(testbinary.Program) + ":" + os.Getenv(
			"PATH",
		), "HOME=" + home, "TMPDIR=" + home, "AGENTCTL_DATA=" + filepath.Join(home, "data"), "USER=ann",
		"TERM=xterm-256color", "LANG=C.UTF-8", "PS1=shell$ ", "TMUX_TMPDIR=" + home, "SHELL=/bin/sh",
		"VISUAL=" + filepath.Join(home, "edit"),
	}}
	const editor = "#!/bin/sh\ntest -t 0 && test -t 1 && echo 'written in an editor' >\"$1\"\n"
	if err := os.WriteFile(filepath.Join(home, "edit"), []byte(editor), 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "session.script"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "session.script"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = p.tmux("kill-server")
		p.ctx = context.WithoutCancel(ctx)
		if out, err := p.command("agentctl", "stop").CombinedOutput(); err != nil {
			t.Errorf("agentctl stop: %v\n%s", err, out)
		}
	})
	p.mustTmux("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec /bin/sh -i")
	p.mustTmux("set-option", "-g", "set-clipboard", "on")
	p.mustTmux("set-option", "-g", "status", "off")
	p.mustTmux("set-option", "-g", "window-size", "manual")
	p.mustTmux("resize-window", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows))
	return p
}

func (p *terminalTest) command(name string, args ...string) *exec.Cmd {
	if name == "agentctl" {
		name = filepath.Join(filepath.Dir(testbinary.Program), name)
	}
	cmd := exec.CommandContext(p.ctx, name, args...)
	cmd.Env, cmd.Dir = p.env, p.home
	return cmd
}

// agentctl runs a verb outside the terminal.
func (p *terminalTest) agentctl(args ...string) {
	p.t.Helper()
	if out, err := p.command("agentctl", args...).CombinedOutput(); err != nil {
		p.t.Fatalf("agentctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// tmux runs a tmux command. It works after the test's timeout, for failure messages.
func (p *terminalTest) tmux(args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = p.env, p.home
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimRight(out, "\n")), err
}

func (p *terminalTest) mustTmux(args ...string) string {
	p.t.Helper()
	out, err := p.tmux(args...)
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// press sends keys by their tmux names.
func (p *terminalTest) press(keys ...string) {
	p.t.Helper()
	p.mustTmux(append([]string{"send-keys"}, keys...)...)
}

// typeText types text.
func (p *terminalTest) typeText(text string) {
	p.t.Helper()
	p.mustTmux("send-keys", "-l", "--", text)
}

// screen returns the current screen.
func (p *terminalTest) screen() string { return p.mustTmux("capture-pane", "-p") }

// waitFor waits until the screen satisfies a condition. It calls try, if not nil, about once a
// second meanwhile.
func (p *terminalTest) waitFor(what string, condition func(screen string) bool, try func()) {
	p.t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		screen := p.screen()
		if condition(screen) {
			return
		}
		if try != nil && n%20 == 0 {
			try()
		}
		select {
		case <-ticker.C:
		case <-p.ctx.Done():
			p.t.Fatalf("no %s on\n%s", what, screen)
		}
	}
}

// waitShown waits until the screen contains all words.
func (p *terminalTest) waitShown(words ...string) {
	p.t.Helper()
	p.waitFor(strings.Join(words, ", "), func(screen string) bool {
		for _, w := range words {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}, nil)
}

// waitHidden waits until the screen does not contain words.
func (p *terminalTest) waitHidden(words string) {
	p.t.Helper()
	p.waitFor("end of "+words, func(screen string) bool { return !strings.Contains(screen, words) }, nil)
}
