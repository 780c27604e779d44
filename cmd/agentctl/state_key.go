package main

import (
	"context"
	"crypto/ed25519"
	"io"

	"github.com/spf13/cobra"

	"agentctl/server/login"
)

type stateKeyOptions struct{ app *app }

func newStateKey(a *app, run func(context.Context, *stateKeyOptions) error) *cobra.Command {
	o := &stateKeyOptions{app: a}
	return &cobra.Command{
		Use:   "key",
		Short: "Print the public key of exported states",
		Long: `Print the Ed25519 public key, in PEM, of the key that signs the states that the server of this data
directory exports. A server with it in its "state_keys" restores those states.`,
		Example: "  agentctl state key >this.pem",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runStateKey(_ context.Context, o *stateKeyOptions) error {
	dir, err := o.app.dataDir()
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
	return o.app.print(result, func(w io.Writer) { _, _ = w.Write(text) })
}
