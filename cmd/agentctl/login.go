package main

import (
	"context"

	"github.com/spf13/cobra"
)

type loginOptions struct{ app *app }

func newLogin(a *app) *cobra.Command {
	o := &loginOptions{app: a}
	return &cobra.Command{
		Use:     "login",
		Short:   "Get a credential from a server",
		Example: "  agentctl login --server wss://agents.example.com",
		Args:    takes(0, 1),
		RunE: does(a, o, nil, func(context.Context, *loginOptions) error {
			return unsupportedf("login is not built yet: give a credential with --token or AGENTCTL_TOKEN")
		}),
	}
}

func newToken(a *app) *cobra.Command {
	o := &loginOptions{app: a}
	return &cobra.Command{
		Use:     "token",
		Short:   "Make a credential for a server",
		Example: "  agentctl token",
		Args:    takes(0, -1),
		RunE: does(a, o, nil, func(context.Context, *loginOptions) error {
			return unsupportedf("tokens with roles are not built yet: the local one lies in the data directory, see \"agentctl doctor\"")
		}),
	}
}
