//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/tui"
	"agentctl/wsclient"
)

// lastWords are what the client of breaks cannot take.
const lastWords = "the last straw"

// breaks is attach, on a screen with or without a desk, with a client that panics on a goroutine of its own.
func breaks() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	err := breakDown(context.Background(), a, os.Args[1], os.Args[2])
	if err == nil {
		os.Exit(exitDone)
	}
	f := faultOf(err)
	a.report(f)
	os.Exit(f.exit)
}

func breakDown(ctx context.Context, a *app, shown, way string) error {
	sent := way == "sent"
	c := wsclient.New(dataDir(a.env("AGENTCTL_DATA")).socketURL(), wsclient.Options{OnFrame: func(f wsclient.Frame) {
		if f.Sent == sent && bytes.Contains(f.Data, []byte(lastWords)) {
			panic("it broke when that was " + way)
		}
	}})
	if err := c.Connect(ctx); err != nil {
		return err
	}
	l := newLink(ctx, c, true)
	defer l.Close()
	r, err := l.snapshot("fix")
	if err != nil {
		return fmt.Errorf("the session to break: %w", err)
	}
	v := &view{client: c, session: r.Snapshot.State.Session}
	switch shown {
	case "session":
		return l.parted(left(ctx, tui.Run(ctx, v, a.screen())))
	case "plain":
		return l.reason(left(l.ctx, tui.Plain(l.ctx, v, a.stdout, a.stdin)))
	}
	return l.parted(left(ctx, tui.Desk(ctx, fleet{client: c, local: true}, v.session, a.screen())))
}

// asBreaks runs breaks with the arguments of a command.
func asBreaks(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("breaks")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = path, "breaks"
	return cmd
}

func TestABrokenClientLeavesTheTerminalAsItWas(t *testing.T) {
	for _, shown := range []string{"session", "desk"} {
		for _, way := range []string{"sent", "heard"} {
			t.Run(shown+" "+way, func(t *testing.T) {
				t.Parallel()
				s := newStand(t)
				cmd := s.command(shown, way)
				s.opens(asBreaks(t, cmd), "nothing was said yet")
				s.types(lastWords + "\r")
				s.left(exitError, "it broke when that was "+way)
				if told := s.stderr.String(); !strings.Contains(told, "broken_test.go") || !strings.Contains(told, "goroutine ") || strings.Contains(told, "\r") {
					t.Errorf("the trace cannot be read: %q", told)
				}
			})
		}
	}
}

func TestABrokenClientIsToldInLines(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	cmd := asBreaks(t, s.command("plain", "heard"))
	cmd.Stdin = strings.NewReader(lastWords + "\n")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err == nil || code != exitError || !strings.Contains(string(out), "it broke when that was heard") || !strings.Contains(string(out), "broken_test.go") {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
}
