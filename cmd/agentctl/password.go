package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/charmbracelet/x/term"

	"agentctl/protocol"
)

// maxPassword bounds a password, in bytes.
const maxPassword = 1 << 10

// password returns the password that is on stdin (fromStdin), whose final newline is not part of it, or that a person types, without
// echo; again asks twice.
func (a *app) password(ctx context.Context, fromStdin bool, prompt string, again bool) (string, error) {
	if fromStdin {
		b, err := io.ReadAll(io.LimitReader(a.stdin, maxPassword+2))
		if err != nil {
			return "", fmt.Errorf("read stdin: %w", err)
		}
		return checkPassword(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"))
	}
	first, err := a.typed(ctx, prompt, false)
	if err != nil {
		return "", err
	}
	if again {
		second, err := a.typed(ctx, "Again: ", false)
		if err != nil {
			return "", err
		}
		if first != second {
			return "", usagef("the two passwords differ")
		}
	}
	return checkPassword(first)
}

func checkPassword(p string) (string, error) {
	switch {
	case p == "":
		return "", usagef("the password is empty")
	case len(p) > maxPassword:
		return "", usagef("a password has at most %d bytes", maxPassword)
	}
	return p, nil
}

// typed asks a person on the terminal for a line. A signal restores the terminal and ends the program; the read ends with it.
func (a *app) typed(ctx context.Context, prompt string, echo bool) (string, error) {
	f, ok := a.stdin.(*os.File)
	if !ok || !isTerminal(f) {
		return "", usagef("there is no terminal to ask on: give the user as an argument and the password with --password-stdin")
	}
	fd := f.Fd()
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprint(a.stderr, prompt)
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		if !echo {
			b, err := term.ReadPassword(fd)
			read <- line{string(b), err}
			return
		}
		text, err := readLine(f)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		if !echo {
			fmt.Fprintln(a.stderr)
		}
		if l.err != nil {
			return "", fmt.Errorf("read terminal: %w", l.err)
		}
		return l.text, nil
	case <-ctx.Done():
		_ = term.Restore(fd, state)
		fmt.Fprintln(a.stderr)
		if cause := context.Cause(ctx); cause == errTimeout {
			return "", cause
		}
		return "", faultf(exitInterrupted, codeInterrupted, "interrupted")
	}
}

// readLine reads a line and not more, so that the next question gets the next one.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) <= protocol.MaxText; {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' || err == io.EOF && len(line) > 0 {
			break
		}
		if err != nil {
			return "", err
		}
		line = append(line, one[:n]...)
	}
	return string(bytes.TrimSpace(line)), nil
}
