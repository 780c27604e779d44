package verb

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// An Action is what a verb does. Steps is the usual one.
type Action interface {
	// Prepare adds the flags of the verb to its command, and returns the run that they belong to.
	Prepare(v *Verb, cli *Context, cmd *cobra.Command) Run
}

// A Run is one run of a verb: its options, and the functions that use them.
type Run struct {
	Options any
	Read    func(args []string) error
	Do      func(context.Context) error
}

// Steps are an Action with the options O, a struct with the values of flags and arguments that has
// Options embedded.
type Steps[O any] struct {
	Flags func(*O, *cobra.Command)        // sets defaults and adds flags; nil: none
	Read  func(o *O, args []string) error // reads the arguments and checks the flags; nil: nothing to do
	Run   func(context.Context, *O) error
}

// Options are what the options of every verb have: the context of the run.
type Options struct{ CLI *Context }

func (o *Options) bind(cli *Context) { o.CLI = cli }

// Prepare returns a run with new options.
func (s *Steps[O]) Prepare(_ *Verb, cli *Context, cmd *cobra.Command) Run {
	o := new(O)
	any(o).(interface{ bind(*Context) }).bind(cli)
	if s.Flags != nil {
		s.Flags(o, cmd)
	}
	return Run{
		Options: o,
		Read: func(args []string) error {
			if s.Read == nil {
				return nil
			}
			return s.Read(o, args)
		},
		Do: func(ctx context.Context) error { return s.Run(ctx, o) },
	}
}

// Command returns the command of a verb, without the verbs below it. run takes the place of what the
// verb does unless it is nil.
func (v *Verb) Command(cli *Context, run func(options any) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example, GroupID: string(v.Group),
	}
	if v.Complete != nil {
		cmd.ValidArgsFunction = v.Complete(cli)
	}
	if v.Do == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		return cmd
	}
	if len(v.Below) == 0 || len(v.Usage()) > 0 {
		cmd.Args = v.checkArgs
	}
	r := v.Do.Prepare(v, cli, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.Read(args); err != nil {
			return err
		}
		cli.Call.Started = true
		if run != nil {
			return run(r.Options)
		}
		ctx, cancel := withTimeout(cmd.Context(), cli.Flags.Timeout)
		defer cancel()
		return timeoutError(ctx, cli.Flags.Timeout, r.Do(ctx))
	}
	return cmd
}

// withTimeout limits ctx by --timeout.
func withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, exit.ErrTimeout)
}

// timeoutError returns err as the error of --timeout if the end of its time is why a verb failed.
func timeoutError(ctx context.Context, limit time.Duration, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), exit.ErrTimeout) {
		return err
	}
	var e *exit.Error
	if errors.As(err, &e) && !errors.Is(err, exit.ErrTimeout) {
		return err
	}
	timeout := exit.Errorf(exit.Timeout, protocol.CodeTimeout, "not done within %s", limit)
	if e != nil {
		timeout.Hint = e.Hint
	}
	return timeout
}
