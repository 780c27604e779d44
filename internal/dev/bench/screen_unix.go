//go:build unix

package main

import (
	"bytes"
	"context"
	"os/exec"
	"time"

	"agentctl/internal/dev/terminal"
)

const hasTerminals = true

// The size of the terminal.
const (
	columns = 120
	lines   = 40
)

// answers are those of xterm to the queries of programs.
var answers = []struct{ query, answer string }{
	{"\x1b[?2026$p", "\x1b[?2026;0$y"}, // synchronized output
	{"\x1b[?2027$p", "\x1b[?2027;0$y"}, // widths of grapheme clusters
	{"\x1b]11;?\a", "\x1b]11;rgb:0000/0000/0000\a"},
	{"\x1b[>0q", "\x1bP>|XTerm(390)\x1b\\"},
	{"\x1b[c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"},
}

// runOnTerminal runs a program on a terminal that answers queries until it shows a text, and kills
// it. It returns the times to the first bytes and to the text, and the program's processor time.
func runOnTerminal(
	ctx context.Context, env []string, text string, args []string,
) (first, all, processor time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // the terminal ends it
	cmd.Env = env
	began := time.Now()
	t, err := terminal.Start(cmd, columns, lines)
	if err != nil {
		cancel()
		return 0, 0, 0, err
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answerQueries(ctx, t)
	}()
	if err = t.WaitFor(ctx, 0, func(out []byte) bool { return len(out) > 0 }); err == nil {
		first = time.Since(began)
		err = t.WaitFor(ctx, 0, func(out []byte) bool { return bytes.Contains(out, []byte(text)) })
		all = time.Since(began)
	}
	cancel()
	<-answered
	t.Close()
	if state := cmd.ProcessState; state != nil {
		processor = state.UserTime() + state.SystemTime()
	}
	return first, all, processor, err
}

// answerQueries answers the queries in the output of a terminal until ctx ends.
func answerQueries(ctx context.Context, t *terminal.Terminal) {
	for after := 0; ; {
		var answer string
		var end int
		err := t.WaitFor(ctx, after, func(out []byte) bool {
			answer, end = nextAnswer(out)
			return answer != ""
		})
		if err != nil || t.Type(answer) != nil {
			return
		}
		after += end
	}
}

// nextAnswer returns the answer to the first query in an output and where the query ends, or "".
func nextAnswer(out []byte) (answer string, end int) {
	for _, a := range answers {
		if i := bytes.Index(out, []byte(a.query)); i >= 0 && (answer == "" || i+len(a.query) < end) {
			answer, end = a.answer, i+len(a.query)
		}
	}
	return answer, end
}
