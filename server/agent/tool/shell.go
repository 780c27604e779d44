package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/process"
)

type shellArguments struct {
	Command     string `json:"command" about:"for the shell"`
	Workdir     string `json:"workdir,omitempty" about:"default: the working directory"`
	TimeoutMS   int    `json:"timeout_ms,omitempty" about:"milliseconds"`
	Description string `json:"description,omitempty" about:"what it does, in a few words"`
}

// Limits of a command.
const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = 10 * time.Minute
	endGrace       = 300 * time.Millisecond // between the ways to end a command
)

// shell returns the tool that runs commands.
func (b *Toolbox) shell() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "shell", Kind: protocol.ToolExecute,
		About: fmt.Sprintf("Runs a command with %s and returns its output. It has no terminal and no input. All "+
			"its processes end with it: nothing stays in the background. It is ended after %d s unless timeout_ms is "+
			"set, at most %d s. To read, search and change files, use the other tools.",
			shellCommand("")[0], int(defaultTimeout.Seconds()), int(maxTimeout.Seconds())),
	}, b.checkCommand)
}

func (b *Toolbox) checkCommand(_ context.Context, c *llm.ToolCall, in shellArguments) (llm.Preview, error) {
	if in.Command == "" {
		return llm.Preview{}, errors.New("the command is empty")
	}
	p, err := b.dir.locate(cmp.Or(in.Workdir, "."))
	if err != nil {
		return llm.Preview{}, err
	}
	if info, err := os.Stat(p.real); err != nil || !info.IsDir() {
		return llm.Preview{}, fmt.Errorf("%s is not a directory", p.shown)
	}
	timeout := maxTimeout
	switch {
	case in.TimeoutMS == 0:
		timeout = defaultTimeout
	case in.TimeoutMS > 0 && in.TimeoutMS < int(maxTimeout.Milliseconds()):
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	dir := p.real
	if p.real == b.dir.real {
		dir = b.dir.path
	}
	confined, contained := b.reads(in.Command, p.real)
	return llm.Preview{
		Title: in.Command, Basis: p.real, Confined: confined, Contained: contained,
		Request: protocol.Approval{
			Kind: protocol.ApproveCommand, Command: in.Command, CWD: dir, Why: in.Description,
		},
		Run: func(ctx context.Context, out func(string)) (llm.ToolResult, error) {
			command, box := cmp.Or(c.Command, in.Command), b.options.Box
			if c.Confined {
				command, box = readingSetup+command, b.options.Reader()
			}
			p, err := box.Start(process.Command{
				Args: shellCommand(command), Dir: dir, Env: b.environment(), Session: b.options.Session,
				Record: agent.RecordGroup(b.options.Host, false),
			})
			if err != nil {
				return llm.ToolResult{}, err
			}
			output, stopped := follow(ctx, p, timeout, out)
			r := b.result(p, output, stopped)
			return r, errors.Join(ctx.Err(), agent.RecordGroup(b.options.Host, true)(p.Group()))
		},
	}, nil
}

// result returns the result of a command that has exited, or was stopped for a reason.
func (b *Toolbox) result(p *process.Process, output []byte, stopped string) llm.ToolResult {
	code := exitCode(p.Err())
	r := llm.ToolResult{Text: b.outputs.text(output), ExitCode: &code, Failed: code != 0}
	note := ""
	switch {
	case stopped != "":
		note, r.Failed = "["+stopped+"]", true
	case code != 0:
		note = fmt.Sprintf("[exit code %d]", code)
	case r.Text == "":
		note = "[no output]"
	}
	r.Text = strings.Trim(r.Text+"\n"+note, "\n")
	return r
}

// follow reads the output of a command until it has exited, and stops it if it must. stopped is the reason; empty: it
// ended itself.
func follow(
	ctx context.Context, p *process.Process, limit time.Duration, out func(string),
) (output []byte, stopped string) {
	_ = p.Stdin.Close()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		output = collect(p.Stdout, out)
	}()
	select {
	case <-p.Done():
	case <-ctx.Done():
		stopped = "the user interrupted the command"
	case <-time.After(limit):
		stopped = fmt.Sprintf("ended: it ran longer than %s", limit)
	}
	if stopped == "" {
		p.End(endGrace)
	} else {
		p.EndAll(endGrace)
	}
	<-drained
	p.Release()
	return output, stopped
}

// environment returns the variables of commands: no terminal, no pager, no editor.
func (b *Toolbox) environment() []string {
	return append(append([]string(nil), b.options.Env...),
		"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false")
}

// shellCommand returns the program that runs a command without input, its errors in its output.
func shellCommand(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C", "(" + command + ") 2>&1 <NUL"}
	}
	name := "sh"
	if _, err := exec.LookPath("bash"); err == nil {
		name = "bash"
	}
	return []string{name, "-c", `exec "$0" -c "$1" 2>&1 </dev/null`, name, command}
}

// exitCode returns the exit code of a command, or 128 and the signal that ended it, as shells do.
func exitCode(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		return 1
	case e.ExitCode() >= 0:
		return e.ExitCode()
	}
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() { // on Windows never
		return 128 + int(s.Signal())
	}
	return 1
}
