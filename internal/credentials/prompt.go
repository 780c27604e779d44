package credentials

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

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// maxPassword bounds a password, in bytes.
const maxPassword = 1 << 10

// A Prompt reads names and passwords from the user. Prompts are written to Stderr.
type Prompt struct {
	Stdin  io.Reader
	Stderr io.Writer
}

// Password reads a password from the terminal, without echo; with confirm it asks twice.
func (p Prompt) Password(ctx context.Context, prompt string, confirm bool) (string, error) {
	first, err := p.read(ctx, prompt, false)
	if err != nil {
		return "", err
	}
	if confirm {
		second, err := p.read(ctx, "Again: ", false)
		if err != nil {
			return "", err
		}
		if first != second {
			return "", exit.Usagef("the two passwords differ")
		}
	}
	return checkPassword(first)
}

// PasswordFromStdin reads all of stdin as a password, without a final newline.
func (p Prompt) PasswordFromStdin() (string, error) {
	b, err := io.ReadAll(io.LimitReader(p.Stdin, maxPassword+2))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	return checkPassword(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"))
}

func checkPassword(p string) (string, error) {
	switch {
	case p == "":
		return "", exit.Usagef("the password is empty")
	case len(p) > maxPassword:
		return "", exit.Usagef("the password is longer than %d bytes", maxPassword)
	}
	return p, nil
}

// Line reads a line from the terminal.
func (p Prompt) Line(ctx context.Context, prompt string) (string, error) {
	return p.read(ctx, prompt, true)
}

// read reads a line from the terminal. A signal or the end of ctx restores the terminal and returns
// an error; the goroutine that reads then ends with the program.
func (p Prompt) read(ctx context.Context, prompt string, echo bool) (string, error) {
	f, ok := p.Stdin.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return "", exit.Usagef("no terminal to ask on: pass the user as an argument and the password with " +
			"--password-stdin")
	}
	fd := f.Fd()
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprint(p.Stderr, prompt)
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
			fmt.Fprintln(p.Stderr)
		}
		if l.err != nil {
			return "", fmt.Errorf("read terminal: %w", l.err)
		}
		return l.text, nil
	case <-ctx.Done():
		_ = term.Restore(fd, state)
		fmt.Fprintln(p.Stderr)
		if cause := context.Cause(ctx); cause == exit.ErrTimeout {
			return "", cause
		}
		return "", exit.Errorf(exit.Interrupted, exit.CodeInterrupted, "interrupted")
	}
}

// readLine reads a line byte by byte, so that the next prompt gets the next line.
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
