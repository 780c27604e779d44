//go:build terminal

package terminaltest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/internal/testbinary"
)

// patience bounds a walk.
const patience = 90 * time.Second

// program is the directory with agentctl in it, built once.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "walk")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary, err := testbinary.Build(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Dir(binary)
	return m.Run()
}

// A pane is a shell in a tmux of its own, with a data directory of its own.
type pane struct {
	t    *testing.T
	ctx  context.Context
	home string
	env  []string
}

// newPane opens a terminal of that size. What its programs leave is ended with the test.
func newPane(t *testing.T, columns, rows int) *pane {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	t.Cleanup(stop)
	home := t.TempDir()
	p := &pane{t: t, ctx: ctx, home: home, env: []string{
		"PATH=" + program + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "AGENTCTL_DATA=" + filepath.Join(home, "data"), "USER=ann",
		"TERM=xterm-256color", "LANG=C.UTF-8", "PS1=shell$ ", "TMUX_TMPDIR=" + home, "SHELL=/bin/sh",
		"VISUAL=" + filepath.Join(home, "edit"),
	}}
	const editor = "#!/bin/sh\ntest -t 0 && test -t 1 && echo 'written in an editor' >\"$1\"\n"
	if err := os.WriteFile(filepath.Join(home, "edit"), []byte(editor), 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "walk.script"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "walk.script"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = p.tmux("kill-server")
		p.ctx = context.WithoutCancel(ctx)
		if out, err := p.command("agentctl", "stop").CombinedOutput(); err != nil {
			t.Errorf("agentctl stop: %v\n%s", err, out)
		}
	})
	p.must("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec /bin/sh -i")
	p.must("set-option", "-g", "set-clipboard", "on")
	p.must("set-option", "-g", "status", "off")
	p.must("set-option", "-g", "window-size", "manual")
	p.must("resize-window", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows))
	return p
}

func (p *pane) command(name string, args ...string) *exec.Cmd {
	if name == "agentctl" {
		name = filepath.Join(program, name)
	}
	cmd := exec.CommandContext(p.ctx, name, args...)
	cmd.Env, cmd.Dir = p.env, p.home
	return cmd
}

// runs runs a verb beside the terminal.
func (p *pane) runs(args ...string) {
	p.t.Helper()
	if out, err := p.command("agentctl", args...).CombinedOutput(); err != nil {
		p.t.Fatalf("agentctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// tmux is quick, and outlives the walk to tell how it ended.
func (p *pane) tmux(args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = p.env, p.home
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimRight(out, "\n")), err
}

func (p *pane) must(args ...string) string {
	p.t.Helper()
	out, err := p.tmux(args...)
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// press presses keys by tmux's names.
func (p *pane) press(keys ...string) {
	p.t.Helper()
	p.must(append([]string{"send-keys"}, keys...)...)
}

// write types text.
func (p *pane) write(text string) {
	p.t.Helper()
	p.must("send-keys", "-l", "--", text)
}

// screen is what stands there now.
func (p *pane) screen() string { return p.must("capture-pane", "-p") }

// until waits until the screen satisfies a condition; try, unless nil, is done again now and then meanwhile.
func (p *pane) until(what string, enough func(screen string) bool, try func()) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for n := 0; ; n++ {
		screen := p.screen()
		if enough(screen) {
			return
		}
		if try != nil && n%20 == 0 {
			try()
		}
		select {
		case <-look.C:
		case <-p.ctx.Done():
			p.t.Fatalf("no %s on\n%s", what, screen)
		}
	}
}

// shows waits until all these words stand on the screen.
func (p *pane) shows(words ...string) {
	p.t.Helper()
	p.until(strings.Join(words, ", "), func(screen string) bool {
		for _, w := range words {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}, nil)
}

// hides waits until words do not stand there any more.
func (p *pane) hides(words string) {
	p.t.Helper()
	p.until("end of "+words, func(screen string) bool { return !strings.Contains(screen, words) }, nil)
}
