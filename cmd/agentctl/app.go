package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// An app is one call of the program: what every verb depends on, and the global flags.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    func(string) string

	flags globals
	looks bool // somebody can look at the wire

	personal    personal // what the configuration file says
	personalErr error    // why it cannot be read: told by what needs it
	dataNamed   bool     // --data was given
	ran         bool     // a verb's own code was reached: what failed before is wrong usage
}

// globals are the flags that every verb takes.
type globals struct {
	Server  string
	Token   string
	Dialect string
	Options []string // of the dialect, each K=V
	As      string
	Output  string
	Timeout time.Duration
	NoColor bool
	NoStart bool
	Data    string
}

// errTimeout is the cause of a context that --timeout ended.
var errTimeout = errors.New("--timeout is over")

// main runs one command line and returns the exit code. The only place where errors are shown.
func (a *app) main(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	f := faultOf(err)
	if !a.ran && f.code == codeInternal {
		f = usagef("%w", err).hinting("see: %s --help", cmd.CommandPath())
	}
	if !a.ran && asksJSON(args) { // the flags were perhaps not read to their end
		a.flags.Output = formatJSON
	}
	a.report(f)
	return f.exit
}

// limited bounds ctx by --timeout.
func (a *app) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.flags.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, a.flags.Timeout, errTimeout)
}

// json reports whether output is for programs.
func (a *app) json() bool { return a.flags.Output == formatJSON }

// asksJSON looks for -o json in arguments that could not be parsed.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for i, arg := range args {
		switch arg {
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == formatJSON {
				return true
			}
		}
		if v, ok := strings.CutPrefix(arg, "--output="); ok && v == formatJSON {
			return true
		}
		if v, ok := strings.CutPrefix(arg, "-o"); ok && strings.TrimPrefix(v, "=") == formatJSON {
			return true
		}
	}
	return false
}
