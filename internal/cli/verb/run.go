package verb

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// RunE returns the RunE of a verb: it reads the arguments into o, then runs the verb under
// --timeout. read may be nil.
func RunE[O any](
	cli *Context, o *O, read func(args []string) error, run func(context.Context, *O) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if read != nil {
			if err := read(args); err != nil {
				return err
			}
		}
		cli.Call.Started = true
		ctx, cancel := cli.withTimeout(cmd.Context())
		defer cancel()
		err := run(ctx, o)
		return cli.timeoutError(ctx, err)
	}
}

// withTimeout limits ctx by --timeout.
func (cli *Context) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if cli.Flags.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, cli.Flags.Timeout, exit.ErrTimeout)
}

// timeoutError returns err as the error of --timeout if the end of its time is why a verb failed.
func (cli *Context) timeoutError(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), exit.ErrTimeout) {
		return err
	}
	var e *exit.Error
	if errors.As(err, &e) && !errors.Is(err, exit.ErrTimeout) {
		return err
	}
	timeout := exit.Errorf(exit.Timeout, protocol.CodeTimeout, "not done within %s", cli.Flags.Timeout)
	if e != nil {
		timeout.Hint = e.Hint
	}
	return timeout
}
