package sessions

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/server/login"
)

var stateVerb = verb.Verb{
	Use:   "state",
	Short: "Export and restore sessions",
	Long: `Export a session as one line of JSON that its server signs, and restore it as a new session on
that server, on one with the same "state_secret" in its configuration, or on one with the server's
public key in its "state_keys" (docs/config.md).`,
	Example: "  agentctl state export fix >fix.state\n  agentctl state restore fix.state --name fix-again",
	Group:   verb.GroupSession,
	Below:   []*verb.Verb{&stateExportVerb, &stateRestoreVerb, &stateKeyVerb},
}

var stateExportVerb = verb.Verb{
	Use:   "export SESSION",
	Short: "Export the signed state of a session",
	Long: `Print the state of a session, signed by its server, as one line of JSON. It has the agent with its
memory, the queue, and the newest finished turns, as many as fit 512 KiB. It has no rules, no
environment and no blobs. It is signed, not encrypted.`,
	Example: "  agentctl state export fix >fix.state",
	Sends:   protocol.DoExport, Trial: "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.ExportResult](c)
			if err != nil {
				return err
			}
			if !c.CLI.Out.JSON {
				c.CLI.Out.Notef("valid until %s", res.Expires.Local().Format(time.DateTime))
			}
			return c.CLI.Out.PrintJSON(res.State)
		},
	},
}

type stateRestoreOptions struct {
	verb.Options

	File string
	Name string
	Key  string

	state []byte // of File; nil: to be read
}

var stateRestoreVerb = verb.Verb{
	Use:   "restore [FILE|-]",
	Short: "Restore an exported session as a new one",
	Long: `Create a session from an exported state and print its id. Without FILE, or with -, the state is
read from stdin. A server accepts the states that it signed, states of servers with the same
"state_secret" in their configuration, and states signed with a key whose public part is in its
"state_keys".`,
	Example: "  agentctl state restore fix.state --name fix-again",
	Sends:   protocol.DoRestore,
	Trial:   "nonsense",

	Do: &verb.Steps[stateRestoreOptions]{
		Flags: func(o *stateRestoreOptions, cmd *cobra.Command) {
			o.File = "-"
			cmd.Flags().StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
			verb.AddKeyFlag(cmd, &o.Key)
		},
		Read: func(o *stateRestoreOptions, args []string) error {
			if len(args) > 0 {
				o.File = args[0]
			}
			return nil
		},
		Run: runStateRestore,
	},
}

func runStateRestore(ctx context.Context, o *stateRestoreOptions) error {
	b := o.state
	if b == nil {
		var err error
		if b, err = o.CLI.Input().ReadFile(ctx, o.File); err != nil {
			return fmt.Errorf("exported state: %w", err)
		}
	}
	data := protocol.RestoreData{Name: o.Name}
	if err := protocol.DecodeStrict(b, &data.State); err != nil {
		return protocol.Errorf(protocol.CodeInvalidState, "%s is not an exported state: %s", o.File, err)
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := connection.CallWithKey[protocol.CreateResult](c, protocol.DoRestore, "", o.Key, data)
	if err != nil {
		return err
	}
	return o.CLI.Out.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}

type stateKeyOptions struct{ verb.Options }

var stateKeyVerb = verb.Verb{
	Use:   "key",
	Short: "Print the public key of exported states",
	Long: `Print the Ed25519 public key, in PEM, of the key that signs the states that the server of this data
directory exports. A server with it in its "state_keys" restores those states.`,
	Example: "  agentctl state key >this.pem",
	Place:   verb.DataDirectory, Sends: protocol.DoExport,

	Do: &verb.Steps[stateKeyOptions]{Run: runStateKey},
}

func runStateKey(_ context.Context, o *stateKeyOptions) error {
	if err := o.CLI.Dir.Create(); err != nil {
		return err
	}
	key, err := o.CLI.Dir.StateKey()
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
	return o.CLI.Out.Print(result, func(w io.Writer) { _, _ = w.Write(text) })
}
