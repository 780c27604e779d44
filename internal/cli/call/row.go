package call

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

// A Row is a verb that sends a command to a session and prints the result. It is constant.
type Row struct {
	verb.Verb // Name and Build follow from the row

	// Use is the path of the verb and its arguments, the session first, as "queue rm SESSION MESSAGE…":
	// […] may be missing, … repeats, with one command for each. TEXT|- is read from stdin if it is
	// missing or -.
	Use     string
	Short   string
	Long    string
	Example string

	Key      bool                                         // it has --key
	Flags    func(*cobra.Command)                         // nil: no flag but --key
	Complete func(cli *verb.Context) cobra.CompletionFunc // nil: the session
	Data     func(*Input) (any, error)                    // of the command; nil: none. An error is wrong usage
	Run      func(*Call) error                            // sends the command; nil: and prints nothing
}

// An Input is the command line of a row, without the session.
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

// Options is what a command line of a row asks for.
type Options struct {
	cli *verb.Context

	Session string
	Key     string
	Data    []any // of each command; nil: the text is still to be read

	input Input
}

// New returns the command of the row, which calls run.
func (r *Row) New(cli *verb.Context, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{cli: cli}
	u := r.usage()
	cmd := &cobra.Command{
		Use:     u.path[len(u.path)-1] + " " + strings.Join(u.names, " "),
		Short:   r.Short,
		Long:    r.Long,
		Example: r.Example,
		Args:    verb.RangeArgs(u.count()),
	}
	complete := r.Complete
	if complete == nil {
		complete = completion.Sessions
	}
	cmd.ValidArgsFunction = complete(cli)
	if r.Flags != nil {
		r.Flags(cmd)
	}
	if r.Key {
		verb.AddKeyFlag(cmd, &o.Key)
	}
	cmd.RunE = verb.RunE(cli, o, func(args []string) (err error) {
		o.Session, o.input = args[0], Input{args[1:], cmd.Flags()}
		if u.readsText() && (len(u.last(&o.input)) == 0 || u.last(&o.input)[0] == "-") {
			return nil
		}
		o.Data, err = r.data(&o.input)
		return err
	}, run)
	return cmd
}

// data returns the data of each command.
func (r *Row) data(in *Input) ([]any, error) {
	if r.Data == nil {
		return []any{nil}, nil
	}
	inputs := []*Input{in}
	if u := r.usage(); u.repeats() {
		inputs = nil
		for _, arg := range u.last(in) {
			inputs = append(inputs, u.withLast(in, arg))
		}
	}
	all := make([]any, len(inputs))
	for i, in := range inputs {
		var err error
		if all[i], err = r.Data(in); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *Row) run(ctx context.Context, o *Options) error {
	if o.Data == nil {
		u := r.usage()
		text, err := o.cli.ReadText(ctx, u.last(&o.input))
		if err != nil {
			return err
		}
		if o.Data, err = r.data(u.withLast(&o.input, text)); err != nil {
			return err
		}
	}
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	send := r.Run
	if send == nil {
		send = func(c *Call) error { _, err := Send[protocol.Empty](c); return err }
	}
	for _, data := range o.Data {
		if err := send(&Call{o.cli, data, c, r.Sends, o}); err != nil {
			return err
		}
	}
	return nil
}
