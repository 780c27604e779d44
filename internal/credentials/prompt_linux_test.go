package credentials

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/internal/exit"
)

// A testTerminal is a pseudo-terminal.
type testTerminal struct {
	t        *testing.T
	user     *os.File    // the side of the user
	terminal *os.File    // the program's stdin
	output   chan []byte // what the user saw
}

func newTestTerminal(t *testing.T) *testTerminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	tt := &testTerminal{t: t, user: user, terminal: terminal, output: make(chan []byte, 1)}
	go func() {
		b, _ := io.ReadAll(user) // until the terminal is closed
		tt.output <- b
	}()
	return tt
}

// waitEcho waits until the terminal's echo is on or off.
func (tt *testTerminal) waitEcho(want bool) {
	tt.t.Helper()
	ctx, cancel := context.WithTimeout(tt.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		state, err := unix.IoctlGetTermios(int(tt.terminal.Fd()), unix.TCGETS)
		if err != nil {
			tt.t.Fatal(err)
		}
		if state.Lflag&unix.ECHO != 0 == want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tt.t.Fatalf("the terminal's echo is not %v", want)
		}
	}
}

func (tt *testTerminal) typeLine(line string) {
	tt.t.Helper()
	if _, err := tt.user.WriteString(line + "\n"); err != nil {
		tt.t.Fatal(err)
	}
}

// close closes the terminal and returns what the user saw.
func (tt *testTerminal) close() string {
	tt.terminal.Close()
	b := <-tt.output
	tt.user.Close()
	return string(b)
}

// A password is not echoed, and the terminal is restored.
func TestAPasswordIsNotShown(t *testing.T) {
	d := newTestTerminal(t)
	var prompts bytes.Buffer
	p := Prompt{Stdin: d.terminal, Stderr: &prompts}
	got := make(chan string, 1)
	go func() {
		name, err := p.Line(t.Context(), "User: ")
		if err != nil {
			t.Error(err)
		}
		password, err := p.Password(t.Context(), "Password: ", false)
		if err != nil {
			t.Error(err)
		}
		got <- name + "/" + password
	}()
	d.typeLine("ada")
	d.waitEcho(false)
	d.typeLine("open sesame")
	if g := <-got; g != "ada/open sesame" {
		t.Errorf("read %q", g)
	}
	d.waitEcho(true)
	if seen := d.close(); bytes.Contains([]byte(seen), []byte("sesame")) ||
		!bytes.Contains([]byte(seen), []byte("ada")) {
		t.Errorf("the user sees %q", seen)
	}
	if prompts.String() != "User: Password: \n" {
		t.Errorf("prompts %q", prompts.String())
	}
}

// A cancelled password prompt restores the terminal.
func TestABrokenOffPasswordLeavesTheTerminalAsItWas(t *testing.T) {
	d := newTestTerminal(t)
	p := Prompt{Stdin: d.terminal, Stderr: io.Discard}
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := p.Password(ctx, "Password: ", false)
		failed <- err
	}()
	d.waitEcho(false)
	stop()
	if e := exit.From(<-failed); e.Status != exit.Interrupted {
		t.Errorf("%+v", e)
	}
	d.waitEcho(true)
	d.typeLine("") // ends the read; outside tests the program ends
	d.close()
}
