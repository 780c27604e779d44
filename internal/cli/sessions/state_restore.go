package sessions

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type stateRestoreOptions struct {
	cli *verb.Context

	File string
	Name string
	Key  string

	state []byte // of File; nil: to be read
}

var stateRestoreVerb = verb.Verb{
	Name:  "restore",
	Build: func(cli *verb.Context) *cobra.Command { return newStateRestore(cli, runStateRestore) },
	Sends: protocol.DoRestore,
	Trial: "nonsense",
}

func newStateRestore(cli *verb.Context, run func(context.Context, *stateRestoreOptions) error) *cobra.Command {
	o := &stateRestoreOptions{cli: cli, File: "-"}
	cmd := &cobra.Command{
		Use:   "restore [FILE|-]",
		Short: "Restore an exported session as a new one",
		Long: `Create a session from an exported state and print its id. Without FILE, or with -, the state is
read from stdin. A server accepts the states that it signed, those of servers with the same
"state_secret" in their configuration, and those of servers whose public key is in its "state_keys".`,
		Example: "  agentctl state restore fix.state --name fix-again",
		Args:    verb.RangeArgs(0, 1),
		RunE: verb.RunE(cli, o, func(args []string) error {
			if len(args) > 0 {
				o.File = args[0]
			}
			return nil
		}, run),
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
	verb.AddKeyFlag(cmd, &o.Key)
	return cmd
}

func runStateRestore(ctx context.Context, o *stateRestoreOptions) error {
	b := o.state
	if b == nil {
		var err error
		if b, err = o.cli.ReadFile(ctx, o.File); err != nil {
			return fmt.Errorf("exported state: %w", err)
		}
	}
	data := protocol.RestoreData{Name: o.Name}
	if err := protocol.DecodeStrict(b, &data.State); err != nil {
		return protocol.Errorf(protocol.CodeInvalidState, "%s is not an exported state: %s", o.File, err)
	}
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := connection.CallWithKey[protocol.CreateResult](c, protocol.DoRestore, "", o.Key, data)
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}
