package sessions

import (
	"context"
	"crypto/ed25519"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/server/login"
)

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
