package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// stdinNotice is the time without input after which the user is told that stdin is read.
const stdinNotice = time.Second

// readStdin reads stdin to its end, or to more than limit bytes. stdin may be a pipe that another
// program keeps open by mistake: while nothing comes, a note says what the verb waits for. When ctx
// ends, a read is left to the end of the process.
func (a *app) readStdin(ctx context.Context, limit int64) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	in := io.LimitReader(a.stdin, limit+1)
	began, ended := make(chan struct{}), make(chan result, 1)
	go func() {
		first := make([]byte, 512)
		n, err := in.Read(first)
		close(began)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			ended <- result{first[:n], err}
			return
		}
		rest, err := io.ReadAll(in)
		ended <- result{append(bytes.Clone(first[:n]), rest...), err}
	}()
	notice := time.NewTimer(stdinNotice)
	defer notice.Stop()
	for {
		select {
		case <-began:
			began = nil
			notice.Stop()
		case <-notice.C:
			a.notef("reading stdin, which has no input yet: end it with Ctrl-D, or run with </dev/null for none")
		case r := <-ended:
			if r.err != nil {
				return nil, fmt.Errorf("read stdin: %w", r.err)
			}
			return r.content, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("read stdin: %w", context.Cause(ctx))
		}
	}
}

// readText returns the text of an optional argument: the argument itself, or stdin if it is "-", or
// if it is missing and stdin is not a terminal. One final newline of stdin is removed.
func (a *app) readText(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && output.IsTerminal(a.stdin) {
		return "", exit.Usagef("no message: pass TEXT, or - to read stdin")
	}
	b, err := a.readStdin(ctx, protocol.MaxMessage)
	if err != nil {
		return "", err
	}
	if len(b) > protocol.MaxMessage {
		return "", protocol.Errorf(protocol.CodeTooLarge, "stdin is larger than %d bytes", protocol.MaxMessage)
	}
	text := strings.TrimSuffix(string(b), "\n")
	return strings.TrimSuffix(text, "\r"), nil
}

// readFile reads a file, or stdin if name is "-".
func (a *app) readFile(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return a.readStdin(ctx, math.MaxInt64-1)
	}
	return os.ReadFile(name)
}
