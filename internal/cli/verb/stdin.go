package verb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

// stdinNotice is the time without input after which a note reports that stdin is read.
const stdinNotice = time.Second

// answerPause is the time for which the subject of a question is on the terminal before the question:
// the same as approval.Grace of the screen.
const answerPause = 600 * time.Millisecond

// An Input is stdin, as verbs read it.
type Input struct {
	Stdin io.Reader
	Notef func(format string, args ...any) // writes a note to the user
}

// Input returns stdin.
func (cli *Context) Input() Input { return Input{cli.Stdin, cli.Out.Notef} }

// ReadAll reads stdin to its end, or to more than limit bytes. stdin may be a pipe that another
// program keeps open by mistake: while nothing comes, a note says what the verb waits for. When ctx
// ends, a read is left to the end of the process.
func (in Input) ReadAll(ctx context.Context, limit int64) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	limited := io.LimitReader(in.Stdin, limit+1)
	began, ended := make(chan struct{}), make(chan result, 1)
	go func() {
		first := make([]byte, 512)
		n, err := limited.Read(first)
		close(began)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			ended <- result{first[:n], err}
			return
		}
		rest, err := io.ReadAll(limited)
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
			in.Notef("reading stdin, which has no input yet: end it with Ctrl-D, or run with </dev/null for none")
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

// ReadText returns the text of an optional argument: the argument itself, or stdin if it is "-", or
// if it is missing and stdin is not a terminal. One final newline of stdin is removed.
func (in Input) ReadText(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && output.IsTerminal(in.Stdin) {
		return "", exit.Usagef("no message: pass TEXT, or - to read stdin")
	}
	b, err := in.ReadAll(ctx, protocol.MaxMessage)
	if err != nil {
		return "", err
	}
	if len(b) > protocol.MaxMessage {
		return "", protocol.Errorf(protocol.CodeTooLarge, "stdin is larger than %d bytes", protocol.MaxMessage)
	}
	text := strings.TrimSuffix(string(b), "\n")
	return strings.TrimSuffix(text, "\r"), nil
}

// ReadFile reads a file, or stdin if name is "-".
func (in Input) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return in.ReadAll(ctx, math.MaxInt64-1)
	}
	return os.ReadFile(name)
}

// Ask writes a question and reads the answer, one line of stdin. Keys typed at a terminal before the
// question, or less than answerPause after the call, are no answer: its subject had not been read.
func (in Input) Ask(ctx context.Context, w io.Writer, question string) (string, error) {
	if output.IsTerminal(in.Stdin) {
		select {
		case <-time.After(answerPause):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		output.DiscardInput(in.Stdin)
	}
	fmt.Fprint(w, question)
	return in.readLine(ctx)
}

// Confirm asks a question as Ask does, and reports whether the answer is yes.
func (in Input) Confirm(ctx context.Context, w io.Writer, question string) (bool, error) {
	answer, err := in.Ask(ctx, w, question+" [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// ReadLine returns the next line of a protocol on stdin, at most a byte more than limit of it.
func ReadLine(in *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), limit+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// readLine reads one line from stdin, byte by byte, so that the next question gets the next line.
func (in Input) readLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		var line []byte
		for b := make([]byte, 1); ; {
			n, err := in.Stdin.Read(b)
			if n == 0 || err != nil || b[0] == '\n' {
				if err == io.EOF {
					err = nil
				}
				read <- result{strings.TrimSpace(string(line)), err}
				return
			}
			line = append(line, b[0])
		}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
