//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/internal/cli"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/tui"
	"agentctl/tui/plain"
	"agentctl/wsclient"
)

// panicText is the text that makes the client of runPanickingClient panic.
const panicText = "the last straw"

// runPanickingClient is a program: attach with a client that panics on a separate goroutine when
// it sends or receives panicText. Its arguments are what it shows (session, dashboard or plain) and
// the direction (sent or received).
func runPanickingClient() {
	program := &verb.Context{Stdin: os.Stdin, Out: output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}, Env: os.Getenv}
	err := attachPanickingClient(context.Background(), program, os.Args[1], os.Args[2])
	if err == nil {
		os.Exit(exit.OK)
	}
	e := cli.ExitError(err)
	program.Out.PrintError(e)
	os.Exit(e.Status)
}

func attachPanickingClient(ctx context.Context, program *verb.Context, kind, direction string) error {
	dir := localserver.Dir(program.Env("AGENTCTL_DATA"))
	client := wsclient.New(dir.SocketURL(), wsclient.Options{OnFrame: func(f wsclient.Frame) {
		if f.Sent == (direction == "sent") && bytes.Contains(f.Data, []byte(panicText)) {
			panic("panic after it was " + direction)
		}
	}})
	if err := client.Connect(ctx); err != nil {
		return err
	}
	c := connection.New(ctx, client, true)
	defer c.Close()
	r, err := c.Snapshot("fix")
	if err != nil {
		return err
	}
	adapter := &screen.Session{Client: client, Session: r.Snapshot.State.Session}
	switch kind {
	case "session":
		return screen.LeaveError(c, verb.LeaveCause(ctx, tui.Run(ctx, adapter, screen.Options(program))))
	case "plain":
		err := plain.Run(c.Context(), adapter, program.Out.Stdout, program.Stdin, plain.Options{Columns: program.Out.Columns})
		return c.Cause(verb.LeaveCause(c.Context(), err))
	}
	server := screen.Server{Client: client, Local: true}
	return screen.LeaveError(c, verb.LeaveCause(ctx, tui.RunDashboard(ctx, server, adapter.Session, screen.Options(program))))
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
