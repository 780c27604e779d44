package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
)

type tokenListOptions struct{ cli *verb.Context }

var tokenListVerb = verb.Verb{
	Name:  "list",
	Build: func(cli *verb.Context) *cobra.Command { return newTokenList(cli, runTokenList) },
	Place: verb.DataDirectory,
}

func newTokenList(cli *verb.Context, run func(context.Context, *tokenListOptions) error) *cobra.Command {
	o := &tokenListOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the credentials that were made",
		Long: `List the credentials that "agentctl token" made on this data directory and that have not
expired. Logins with a password are not among them: they end with a change of the password.`,
		Example: "  agentctl token list",
		Args:    verb.RangeArgs(0, 0),
	}
	cmd.RunE = verb.RunE(cli, o, nil, run)
	return cmd
}

func runTokenList(_ context.Context, o *tokenListOptions) error {
	dir, err := o.cli.DataDir()
	if err != nil {
		return err
	}
	list, err := dir.Tokens()
	if err != nil {
		return err
	}
	if o.cli.JSON() {
		for _, t := range list {
			if err := o.cli.Printer().PrintJSON(t); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(o.cli.Text(), 0, 0, 2, ' ', 0)
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
	cli *verb.Context

	ID string
}

var tokenRevokeVerb = verb.Verb{
	Name:  "revoke",
	Build: func(cli *verb.Context) *cobra.Command { return newTokenRevoke(cli, runTokenRevoke) },
	Place: verb.DataDirectory,
	Trial: "nonsense",
}

func newTokenRevoke(cli *verb.Context, run func(context.Context, *tokenRevokeOptions) error) *cobra.Command {
	o := &tokenRevokeOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a credential",
		Long: `Revoke a credential of "agentctl token list". A running server refuses it and closes its
connections within seconds.`,
		Example: "  agentctl token revoke t_4GTQX2YB3K7WZ5LA",
		Args:    verb.RangeArgs(1, 1),
	}
	cmd.RunE = verb.RunE(cli, o, func(args []string) error {
		o.ID = args[0]
		return nil
	}, run)
	return cmd
}

func runTokenRevoke(_ context.Context, o *tokenRevokeOptions) error {
	dir, err := o.cli.DataDir()
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
	return o.cli.Print(map[string]string{"revoked": o.ID}, func(w io.Writer) { fmt.Fprintf(w, "revoked: %s\n", o.ID) })
}
