package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
	"agentctl/wsclient/wirelog"
)

// The values of --output.
const (
	formatText = "text"
	formatJSON = "json"
)

// An app is one run of the program: the dependencies of every verb, and the global flags.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    func(string) string

	flags         globalFlags
	userConfig    config.User
	userConfigErr error              // returned by the first step that needs userConfig
	dataFlag      bool               // --data was passed, not only AGENTCTL_DATA
	serverNamed   bool               // flags or environment select the server
	server        config.NamedServer // selected by --on; zero: none
	started       bool               // the verb has started: earlier errors are wrong usage
	wire          *wirelog.Log       // of the messages of the connection; nil: none

	verb    string           // path of the verb, such as "queue edit"
	session string           // first argument of the verb, or SESSION, for hints
	client  *wsclient.Client // of the last connection, for hints; nil: none was opened
}

// globalFlags are the flags of every verb.
type globalFlags struct {
	Server string
	On     string // name of a server in the user's configuration
	Token  string

	Fingerprint string // of the server's certificate

	Dialect string
	Options []string // of the dialect, each K=V
	As      string
	Output  string
	Timeout time.Duration
	NoColor bool
	NoStart bool
	Data    string

	Filter    output.Filter // of --jq or --template; nil: none
	OnlyReads bool          // the verb only reads, and therefore starts no server
}

// execute runs one command line and returns the exit code. Errors are printed here and nowhere
// else.
func (a *app) execute(ctx context.Context, args []string) int {
	root := newRootFor(a, args)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if d, ok := a.findDialect(args); ok {
		hideUnsupported(root, &d)
	}
	var unknown error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if unknown = unknownTopic(cmd); unknown == nil {
			help(cmd, args)
		}
	})
	cmd, err := root.ExecuteContextC(ctx)
	if err = cmp.Or(err, unknown); err == nil {
		return exit.OK
	}
	e := exitError(err)
	if !a.started && e.Code == protocol.CodeInternal {
		e = exit.Usagef("%w", err).WithHint("see: %s --help", cmd.CommandPath())
	}
	if !a.started && wantsJSON(args) { // an error may end parsing before --output
		a.flags.Output = formatJSON
	}
	a.printer().PrintError(e.At(a.peer()))
	return e.Status
}

// exitError returns err as the error that ends the program.
func exitError(err error) *exit.Error {
	var e *exit.Error
	if errors.Is(err, tui.ErrInterrupted) && !errors.As(err, &e) {
		return exit.Errorf(exit.Interrupted, exit.CodeInterrupted, "%w", err)
	}
	return exit.From(err)
}

// wantsJSON finds -o json in arguments that cannot be parsed.
func wantsJSON(args []string) bool {
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

// withTimeout limits ctx by --timeout.
func (a *app) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.flags.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, a.flags.Timeout, exit.ErrTimeout)
}

// timeoutError returns err as the error of --timeout if the end of its time is why a verb failed.
func (a *app) timeoutError(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), exit.ErrTimeout) {
		return err
	}
	var e *exit.Error
	if errors.As(err, &e) && !errors.Is(err, exit.ErrTimeout) {
		return err
	}
	timeout := exit.Errorf(exit.Timeout, protocol.CodeTimeout, "not done within %s", a.flags.Timeout)
	if e != nil {
		timeout.Hint = e.Hint
	}
	return timeout
}

// dataDir returns the data directory of the local server.
func (a *app) dataDir() (localserver.Dir, error) { return localserver.FindDir(a.env, a.flags.Data) }

// json reports whether results are lines of JSON.
func (a *app) json() bool { return a.flags.Output == formatJSON }

func (a *app) printer() output.Printer {
	return output.Printer{Stdout: a.stdout, Stderr: a.stderr, JSON: a.json(), Filter: a.flags.Filter}
}

// print writes one result: v as a line of compact JSON, or what text writes.
func (a *app) print(v any, text func(w io.Writer)) error { return a.printer().Print(v, text) }

// text returns stdout for text.
func (a *app) text() io.Writer { return a.printer().Text() }

// columns returns the width of the terminal of the output, or 0 if it is none.
func (a *app) columns() int { return output.Columns(a.stdout) }

// notef writes a message for the user to stderr.
func (a *app) notef(format string, args ...any) { a.printer().Notef(format, args...) }
