package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui"
)

// Execute runs one command line and returns the exit code. Errors are printed here and nowhere
// else.
func Execute(ctx context.Context, cli *verb.Context, args []string) int {
	root := newRootFor(cli, args)
	root.SetArgs(args)
	root.SetIn(cli.Stdin)
	root.SetOut(cli.Out.Stdout)
	root.SetErr(cli.Out.Stderr)
	if d, ok := findDialect(cli, args); ok {
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
	e := ExitError(err)
	if !cli.Call.Started && e.Code == protocol.CodeInternal {
		e = exit.Usagef("%w", err).WithHint("see: %s --help", cmd.CommandPath())
	}
	if !cli.Call.Started && flagValue(args, "--output", "-o") == verb.FormatJSON { // an error may end parsing before --output
		cli.Out.JSON = true
	}
	cli.Out.PrintError(e.At(cli.Peer()))
	return e.Status
}

// ExitError returns err as the error that ends the program.
func ExitError(err error) *exit.Error {
	var e *exit.Error
	if errors.Is(err, tui.ErrInterrupted) && !errors.As(err, &e) {
		return exit.Errorf(exit.Interrupted, exit.CodeInterrupted, "%w", err)
	}
	return exit.From(err)
}
