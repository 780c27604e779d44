package sessions

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/server/login"
)

var stateVerb = verb.Verb{
	Name: "state", Group: verb.GroupSession,
	Build: func(cli *verb.Context) *cobra.Command { return newState(cli) },
	Below: append(calls.Below("state"), &stateRestoreVerb, &stateKeyVerb),
}

func newState(*verb.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "state",
		Short: "Export and restore sessions",
		Long: `Export a session as one line of JSON that its server signs, and restore it as a new session on
that server, on one with the same "state_secret" in its configuration, or on one with the server's
public key in its "state_keys" (agentctl serve --help).`,
		Example: "  agentctl state export fix >fix.state\n  agentctl state restore fix.state --name fix-again",
	}
}

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

type stateKeyOptions struct{ cli *verb.Context }

var stateKeyVerb = verb.Verb{
	Name:  "key",
	Build: func(cli *verb.Context) *cobra.Command { return newStateKey(cli, runStateKey) },
	Place: verb.DataDirectory, Sends: protocol.DoExport,
}

func newStateKey(cli *verb.Context, run func(context.Context, *stateKeyOptions) error) *cobra.Command {
	o := &stateKeyOptions{cli: cli}
	return &cobra.Command{
		Use:   "key",
		Short: "Print the public key of exported states",
		Long: `Print the Ed25519 public key, in PEM, of the key that signs the states that the server of this data
directory exports. A server with it in its "state_keys" restores those states.`,
		Example: "  agentctl state key >this.pem",
		Args:    verb.RangeArgs(0, 0),
		RunE:    verb.RunE(cli, o, nil, run),
	}
}

func runStateKey(_ context.Context, o *stateKeyOptions) error {
	dir, err := o.cli.DataDir()
	if err != nil {
		return err
	}
	if err := dir.Create(); err != nil {
		return err
	}
	key, err := dir.StateKey()
	if err != nil {
		return err
	}
	text, err := login.FormatPublicKey(key.Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	result := struct {
		Key string `json:"key"`
	}{string(text)}
	return o.cli.Print(result, func(w io.Writer) { _, _ = w.Write(text) })
}
