//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/tui"
	"agentctl/tui/plain"
	"agentctl/wsclient"
)

// panicText is the text that makes the client of runPanickingClient panic.
const panicText = "the last straw"

// runPanickingClient is a program: attach with a client that panics on a goroutine of its own when
// it sends or receives panicText. Its arguments are what it shows (session, dashboard or plain) and
// the direction (sent or received).
func runPanickingClient() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	err := attachPanickingClient(context.Background(), a, os.Args[1], os.Args[2])
	if err == nil {
		os.Exit(exit.OK)
	}
	e := exitError(err)
	a.printer().PrintError(e)
	os.Exit(e.Status)
}

func attachPanickingClient(ctx context.Context, a *app, screen, direction string) error {
	dir := localserver.Dir(a.env("AGENTCTL_DATA"))
	client := wsclient.New(dir.SocketURL(), wsclient.Options{OnFrame: func(f wsclient.Frame) {
		if f.Sent == (direction == "sent") && bytes.Contains(f.Data, []byte(panicText)) {
			panic("panic after it was " + direction)
		}
	}})
	if err := client.Connect(ctx); err != nil {
		return err
	}
	c := newConnection(ctx, client, true)
	defer c.Close()
	r, err := c.snapshot("fix")
	if err != nil {
		return err
	}
	adapter := &sessionAdapter{client: client, session: r.Snapshot.State.Session}
	switch screen {
	case "session":
		return c.leaveError(leaveCause(ctx, tui.Run(ctx, adapter, a.screenOptions())))
	case "plain":
		err := plain.Run(c.ctx, adapter, a.stdout, a.stdin, plain.Options{Columns: a.columns})
		return c.cause(leaveCause(c.ctx, err))
	}
	server := serverAdapter{client: client, local: true}
	return c.leaveError(leaveCause(ctx, tui.RunDashboard(ctx, server, adapter.session, a.screenOptions())))
}

// asPanickingClient makes cmd run runPanickingClient with its arguments.
func asPanickingClient(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("panicking-client")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = path, "panicking-client"
	return cmd
}

func TestAPanicOfTheClientRestoresTheTerminal(t *testing.T) {
	for _, screen := range []string{"session", "dashboard"} {
		for _, direction := range []string{"sent", "received"} {
			t.Run(screen+" "+direction, func(t *testing.T) {
				t.Parallel()
				tt := newTerminalTest(t)
				cmd := tt.command(screen, direction)
				tt.open(asPanickingClient(t, cmd), emptySession)
				tt.typeKeys(panicText + "\r")
				tt.waitExit(exit.Failure, "panic after it was "+direction)
				if trace := tt.stderr.String(); !strings.Contains(trace, "client_panic_test.go") ||
					!strings.Contains(trace, "goroutine ") || strings.Contains(trace, "\r") {
					t.Errorf("the trace is not readable: %q", trace)
				}
			})
		}
	}
}

func TestAPanicOfTheClientIsPrintedWithoutAScreen(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	cmd := asPanickingClient(t, tt.command("plain", "received"))
	cmd.Stdin = strings.NewReader(panicText + "\n")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err == nil || code != exit.Failure || !strings.Contains(string(out),
		"panic after it was received") || !strings.Contains(string(out), "client_panic_test.go") {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
}
