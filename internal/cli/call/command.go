package call

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

// A Command is the action of a verb that sends the command of the verb to a session and prints the
// result. The first argument of the verb is the session. If the last one repeats, a command is sent
// for each; TEXT|- is read from stdin if it is missing or -. It is constant.
type Command struct {
	Key   bool                      // it has --key
	Flags func(*cobra.Command)      // nil: no flag but --key
	Data  func(*Input) (any, error) // of the command; nil: none. An error is wrong usage
	Run   func(*Call) error         // sends the command; nil: and prints nothing
}

var _ verb.Action = (*Command)(nil)

// An Input is the command line of a verb, without the session.
type Input struct {
	Args  []string
	Flags *pflag.FlagSet
}

// Arg returns an argument, or "" if it is missing.
func (in *Input) Arg(i int) string {
	if i < len(in.Args) {
		return in.Args[i]
	}
	return ""
}

// String returns the value of a flag that Flags defines.
func (in *Input) String(flag string) string {
	s, _ := in.Flags.GetString(flag)
	return s
}

// Options is what a command line asks for.
type Options struct {
	verb.Options

	Session string
	Key     string
	Data    []any // of each command; nil: the text is still to be read

	input Input
	send  protocol.Verb
	usage verb.Usage
}

// Prepare returns a run that sends the command of v.
func (a *Command) Prepare(v *verb.Verb, cli *verb.Context, cmd *cobra.Command) verb.Run {
	steps := verb.Steps[Options]{Flags: a.addFlags, Read: a.read, Run: a.run}
	r := steps.Prepare(v, cli, cmd)
	o := r.Options.(*Options)
	o.send, o.usage, o.input.Flags = v.Sends, v.Usage(), cmd.Flags()
	return r
}

func (a *Command) addFlags(o *Options, cmd *cobra.Command) {
	if a.Flags != nil {
		a.Flags(cmd)
	}
	if a.Key {
		verb.AddKeyFlag(cmd, &o.Key)
	}
}

func (a *Command) read(o *Options, args []string) (err error) {
	o.Session, o.input.Args = args[0], args[1:]
	if o.usage.ReadsText() && (len(o.last()) == 0 || o.last()[0] == "-") {
		return nil
	}
	o.Data, err = a.data(o)
	return err
}

// last returns the values of the last argument.
func (o *Options) last() []string { return o.input.Args[min(len(o.usage)-2, len(o.input.Args)):] }

// setLast replaces the values of the last argument.
func (o *Options) setLast(value string) {
	o.input.Args = append(slices.Clone(o.input.Args[:len(o.usage)-2]), value)
}

// data returns the data of each command.
func (a *Command) data(o *Options) (all []any, err error) {
	if a.Data == nil {
		return []any{nil}, nil
	}
	if !o.usage.Repeats() {
		data, err := a.Data(&o.input)
		return []any{data}, err
	}
	for _, value := range o.last() {
		o.setLast(value)
		data, err := a.Data(&o.input)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (a *Command) run(ctx context.Context, o *Options) error {
	if o.Data == nil {
		text, err := o.CLI.Input().ReadText(ctx, o.last())
		if err != nil {
			return err
		}
		o.setLast(text)
		if o.Data, err = a.data(o); err != nil {
			return err
		}
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	send := a.Run
	if send == nil {
		send = func(c *Call) error { _, err := Send[protocol.Empty](c); return err }
	}
	for _, data := range o.Data {
		if err := send(&Call{o.CLI, data, c, o}); err != nil {
			return err
		}
	}
	return nil
}

// A Call is a command that is about to be sent.
type Call struct {
	CLI  *verb.Context
	Data any

	conn    *connection.Conn
	options *Options
}

// Send sends the command and returns its result.
func Send[R any](c *Call) (R, error) {
	if c.options.Key != "" {
		return connection.CallWithKey[R](c.conn, c.options.send, c.options.Session, c.options.Key, c.Data)
	}
	return connection.Call[R](c.conn, c.options.send, c.options.Session, c.Data)
}

// Snapshot returns the state of the session, which is never nil.
func (c *Call) Snapshot() (*protocol.SnapshotResult, error) {
	return c.conn.Snapshot(c.options.Session)
}

// Print returns a Run that prints the result: as JSON, or what text writes.
func Print[R any](text func(io.Writer, *R)) func(*Call) error {
	return func(c *Call) error {
		res, err := Send[R](c)
		if err != nil {
			return err
		}
		return c.CLI.Out.Print(&res, func(w io.Writer) { text(w, &res) })
	}
}
