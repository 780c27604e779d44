package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A desk is a terminal with a person at it.
type desk struct {
	t        *testing.T
	person   *os.File // types and sees
	terminal *os.File // the program's stdin
	seen     chan []byte
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, person: person, terminal: terminal, seen: make(chan []byte, 1)}
	go func() {
		b, _ := io.ReadAll(person) // until the terminal is closed
		d.seen <- b
	}()
	return d
}

// echoes waits until the terminal shows what is typed, or does not.
func (d *desk) echoes(want bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), scriptPatience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		state, err := unix.IoctlGetTermios(int(d.terminal.Fd()), unix.TCGETS)
		if err != nil {
			d.t.Fatal(err)
		}
		if state.Lflag&unix.ECHO != 0 == want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			d.t.Fatalf("the terminal's echo is not %v", want)
		}
	}
}

func (d *desk) types(line string) {
	d.t.Helper()
	if _, err := d.person.WriteString(line + "\n"); err != nil {
		d.t.Fatal(err)
	}
}

// leaves returns what the person saw.
func (d *desk) leaves() string {
	d.terminal.Close()
	b := <-d.seen
	d.person.Close()
	return string(b)
}

// A password that is typed is seen by nobody, and the terminal is as it was.
func TestAPasswordIsNotShown(t *testing.T) {
	d := newDesk(t)
	var asked bytes.Buffer
	a := &app{stdin: d.terminal, stderr: &asked}
	got := make(chan string, 1)
	go func() {
		name, err := a.typed(t.Context(), "User: ", true)
		if err != nil {
			t.Error(err)
		}
		password, err := a.password(t.Context(), false, "Password: ", false)
		if err != nil {
			t.Error(err)
		}
		got <- name + "/" + password
	}()
	d.types("ada")
	d.echoes(false)
	d.types("open sesame")
	if g := <-got; g != "ada/open sesame" {
		t.Errorf("read %q", g)
	}
	d.echoes(true)
	if seen := d.leaves(); bytes.Contains([]byte(seen), []byte("sesame")) || !bytes.Contains([]byte(seen), []byte("ada")) {
		t.Errorf("the person sees %q", seen)
	}
	if asked.String() != "User: Password: \n" {
		t.Errorf("asked %q", asked.String())
	}
}

// Who breaks off gets the terminal back as it was.
func TestABrokenOffPasswordLeavesTheTerminalAsItWas(t *testing.T) {
	d := newDesk(t)
	a := &app{stdin: d.terminal, stderr: io.Discard}
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := a.password(ctx, false, "Password: ", false)
		failed <- err
	}()
	d.echoes(false)
	stop()
	if f := faultOf(<-failed); f.exit != exitInterrupted {
		t.Errorf("%+v", f)
	}
	d.echoes(true)
	d.types("") // ends the read, as the end of the program does
	d.leaves()
}
