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

// shell is the tool that runs commands.
type shell struct{ box *Toolbox }

type shellArguments struct {
	Command     string `json:"command"`
	Workdir     string `json:"workdir"`
	TimeoutMS   int    `json:"timeout_ms"`
	Description string `json:"description"`
}

// A shellPlan is a checked call of shell.
type shellPlan struct {
	command string
	dir     string
	timeout time.Duration
}

// Limits of a command.
const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = 10 * time.Minute
	endGrace       = 300 * time.Millisecond // between the ways to end a command
)

// Spec implements llm.Tool.
func (t *shell) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "shell", Kind: protocol.ToolExecute,
		About: fmt.Sprintf("Runs a command with %s and returns its output. It has no terminal and no input. All "+
			"its processes end with it: nothing stays in the background. It is ended after %d s unless timeout_ms is "+
			"set, at most %d s. To read, search and change files, use the other tools.",
			shellCommand("")[0], int(defaultTimeout.Seconds()), int(maxTimeout.Seconds())),
		Schema: schema(fields{
			"command": textField("for the shell"), "workdir": textField("default: the working directory"),
			"timeout_ms": numberField("milliseconds"), "description": textField("what it does, in a few words"),
		}, "workdir", "timeout_ms", "description"),
	}
}

// Preview implements llm.Tool.
func (t *shell) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[shellArguments](c, t)
	switch {
	case err != nil:
		return llm.Preview{}, err
	case in.Command == "":
		return llm.Preview{}, errors.New("the command is empty")
	}
	p, err := t.box.dir.locate(cmp.Or(in.Workdir, "."))
	if err != nil {
		return llm.Preview{}, err
	}
	if info, err := os.Stat(p.real); err != nil || !info.IsDir() {
		return llm.Preview{}, fmt.Errorf("%s is not a directory", p.shown)
	}
	timeout := min(time.Duration(in.TimeoutMS)*time.Millisecond, maxTimeout)
	if in.TimeoutMS <= 0 || in.TimeoutMS > int(maxTimeout.Milliseconds()) {
		timeout = maxTimeout
	}
	if in.TimeoutMS == 0 {
		timeout = defaultTimeout
	}
	dir := p.real
	if p.real == t.box.dir.real {
		dir = t.box.dir.path
	}
	c.Plan = shellPlan{in.Command, dir, timeout}
	confined, contained := t.box.reads(in.Command, p.real)
	return llm.Preview{
		Title: in.Command, Basis: p.real, Confined: confined, Contained: contained,
		Request: protocol.Approval{
			Kind: protocol.ApproveCommand, Command: in.Command, CWD: dir, Why: in.Description,
		},
	}, nil
}

// Run implements llm.Tool.
func (t *shell) Run(ctx context.Context, c *llm.ToolCall, out func(string)) (llm.ToolResult, error) {
	plan, ok := c.Plan.(shellPlan)
	if !ok {
		return llm.ToolResult{}, errors.New("the command was not checked")
	}
	command, box := cmp.Or(c.Command, plan.command), t.box.options.Box
	if c.Confined {
		command, box = readingSetup+command, t.box.options.Reader()
	}
	p, err := box.Start(process.Command{
		Args: shellCommand(command), Dir: plan.dir, Env: t.box.environment(), Session: t.box.options.Session,
		Record: t.box.record(false), Mark: true,
	})
	if err != nil {
		return llm.ToolResult{}, err
	}
	cause := t.box.follow(ctx, p, plan.timeout, out)
	code := exitCode(p.Err())
	r := llm.ToolResult{Text: t.box.outputs.text(cause.output), ExitCode: &code, Failed: code != 0}
	note := ""
	switch {
	case cause.text != "":
		note, r.Failed = "["+cause.text+"]", true
	case code != 0:
		note = fmt.Sprintf("[exit code %d]", code)
	case r.Text == "":
		note = "[no output]"
	}
	r.Text = strings.Trim(r.Text+"\n"+note, "\n")
	return r, errors.Join(ctx.Err(), t.box.record(true)(p.Group()))
}

// A commandEnd is how a command ended.
type commandEnd struct {
	output []byte
	text   string // why it was ended; empty: it ended itself
}

// follow reads the output of a command until it has exited, and stops it if it must.
func (b *Toolbox) follow(ctx context.Context, p *process.Process, limit time.Duration, out func(string)) commandEnd {
	_ = p.Stdin.Close()
	var end commandEnd
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		end.output = collect(p.Stdout, out)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	text := ""
	select {
	case <-p.Done():
	case <-ctx.Done():
		text = "the user interrupted the command"
	case <-timer.C:
		text = fmt.Sprintf("ended: it ran longer than %s", limit)
	}
	if text == "" {
		p.End(endGrace)
	} else {
		p.EndAll(endGrace)
	}
	<-drained
	p.Release()
	end.text = text
	return end
}

// record returns how the process group of a command is recorded.
func (b *Toolbox) record(ended bool) func(process.Group) error {
	return func(g process.Group) error {
		return b.options.Host.RecordProcessGroup(agent.ProcessGroup{PID: g.PID, Start: g.Start, Ended: ended})
	}
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
