//go:build unix

package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSSH returns a replacement for ssh: a shell script.
func fakeSSH(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAConnectionCarriesBytesBothWays(t *testing.T) {
	program := fakeSSH(t, "echo noise of a shell\necho '"+Greeting+"'\nexec cat\n")
	d := &Dialer{Target: Target{Host: "box"}, Program: program}
	c, err := d.Dial(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "there and back\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "there and back\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// fails returns a script that prints an error and exits with a status.
func fails(status int, message string) string {
	return fmt.Sprintf("echo '%s' >&2\nexit %d\n", message, status)
}

func TestAFailedDialSaysWhy(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"refused":     {fails(255, "ada@box: Permission denied (publickey)."), "Permission denied (publickey)"},
		"missing":     {fails(127, "sh: agentctl: not found"), "agentctl is not in the PATH of commands there"},
		"old":         {fails(2, `agentctl: unknown command "connect" for "agentctl"`), "too old"},
		"silent":      {"exit 3\n", "ended before agentctl answered: exit status 3"},
		"no server":   {fails(8, "agentctl: no server runs on /data\n  start one"), "no server runs on /data"},
		"noise alone": {"yes noise\n", "prints too much"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Dialer{Target: Target{User: "ada", Host: "box"}, Program: fakeSSH(t, c.script)}
			conn, err := d.Dial(t.Context(), false)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "ssh ada@box: ") {
				t.Errorf("%v, %v", conn, err)
			}
			if noServer := new(NoServerError); errors.As(err, &noServer) != (name == "no server") {
				t.Errorf("%#v", err)
			}
		})
	}
}

func TestADialEndsWithItsContext(t *testing.T) {
	why := errors.New("long enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := &Dialer{Target: Target{Host: "box"}, Program: fakeSSH(t, "exec cat\n")}
	go cancel(why)
	if _, err := d.Dial(ctx, true); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	d := &Dialer{
		Target:  Target{User: "ada", Host: "box", Port: 2222},
		Command: "/opt/agentctl --data /srv", Args: []string{"--no-start"},
		ShareDir: "/run/100%",
	}
	background, foreground := d.args(false), d.args(true)
	if !slices.Contains(background, "BatchMode=yes") || slices.Contains(foreground, "BatchMode=yes") {
		t.Errorf("background %q, foreground %q", background, foreground)
	}
	line := strings.Join(foreground, " ")
	for _, want := range []string{
		"ControlPath=/run/100%%/%C", "-p 2222", "-l ada", "-- box /opt/agentctl --data /srv connect --no-start",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %q", want, line)
		}
	}
}
