package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
)

type tokenListOptions struct{ app *app }

func newTokenList(a *app, run func(context.Context, *tokenListOptions) error) *cobra.Command {
	o := &tokenListOptions{app: a}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the credentials that were made",
		Long: `List the credentials that "agentctl token" made on this data directory and that have not
expired. Logins with a password are not among them: they end with a change of the password.`,
		Example: "  agentctl token list",
		Args:    rangeArgs(0, 0),
	}
	cmd.RunE = runE(a, o, nil, run)
	return cmd
}

func runTokenList(_ context.Context, o *tokenListOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	list, err := dir.Tokens()
	if err != nil {
		return err
	}
	if o.app.json() {
		for _, t := range list {
			if err := o.app.printer().PrintJSON(t); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(o.app.text(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSUBJECT\tROLE\tSESSION\tEXPIRES\tSTATUS")
	for _, t := range list {
		status := "valid"
		if t.Revoked != nil {
			status = "revoked"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Subject, t.Role, t.Session,
			t.Expires.Local().Format(time.DateTime), status)
	}
	return w.Flush()
}

type tokenRevokeOptions struct {
	app *app

	ID string
}

func newTokenRevoke(a *app, run func(context.Context, *tokenRevokeOptions) error) *cobra.Command {
	o := &tokenRevokeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a credential",
		Long: `Revoke a credential of "agentctl token list". A running server refuses it and closes its
connections within seconds.`,
		Example: "  agentctl token revoke t_4GTQX2YB3K7WZ5LA",
		Args:    rangeArgs(1, 1),
	}
	cmd.RunE = runE(a, o, func(args []string) error {
		o.ID = args[0]
		return nil
	}, run)
	return cmd
}

func runTokenRevoke(_ context.Context, o *tokenRevokeOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	err = dir.RevokeToken(o.ID)
	if errors.Is(err, localserver.ErrNoToken) {
		return exit.Errorf(exit.Failure, protocol.CodeNotFound, "%q: %w", o.ID, err).
			WithHint("list credentials: agentctl token list")
	}
	if err != nil {
		return err
	}
	return o.app.print(map[string]string{"revoked": o.ID}, func(w io.Writer) { fmt.Fprintf(w, "revoked: %s\n", o.ID) })
}
