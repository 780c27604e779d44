package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type tokenListOptions struct{ verb.Options }

var tokenListVerb = verb.Verb{
	Use:   "list",
	Short: "List the credentials that were made",
	Long: `List the credentials that "agentctl token" made on this data directory and that have not
expired. Logins with a password are not among them: they end with a change of the password.`,
	Example: "  agentctl token list",
	Place:   verb.DataDirectory,

	Do: &verb.Steps[tokenListOptions]{Run: runTokenList},
}

func runTokenList(_ context.Context, o *tokenListOptions) error {
	list, err := o.CLI.Dir.Tokens()
	if err != nil {
		return err
	}
	if o.CLI.Out.JSON {
		return output.PrintEach(o.CLI.Out, list, nil)
	}
	w := tabwriter.NewWriter(o.CLI.Out.Text(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSUBJECT\tROLE\tSESSION\tEXPIRES\tSTATUS")
	for _, t := range list {
		status, expires := "valid", t.Expires.Local().Format(time.DateTime)
		switch {
		case t.Problem != "":
			status, expires = "refused: "+t.Problem, "-"
		case t.Revoked != nil:
			status = "revoked"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Subject, t.Role, t.Session, expires, status)
	}
	return w.Flush()
}

type tokenRevokeOptions struct {
	verb.Options

	ID string
}

var tokenRevokeVerb = verb.Verb{
	Use:   "revoke ID",
	Short: "Revoke a credential",
	Long: `Revoke a credential of "agentctl token list". A running server refuses it and closes its
connections within seconds.`,
	Example: "  agentctl token revoke t_4GTQX2YB3K7WZ5LA",
	Place:   verb.DataDirectory,
	Trial:   "nonsense",

	Do: &verb.Steps[tokenRevokeOptions]{
		Read: func(o *tokenRevokeOptions, args []string) error {
			o.ID = args[0]
			return nil
		},
		Run: runTokenRevoke,
	},
}

func runTokenRevoke(ctx context.Context, o *tokenRevokeOptions) error {
	if err := connection.RequireUser(ctx, o.CLI, "revoke a credential"); err != nil {
		return err
	}
	err := o.CLI.Dir.RevokeToken(o.ID)
	if errors.Is(err, localserver.ErrNoToken) {
		return exit.Errorf(exit.Failure, protocol.CodeNotFound, "%q: %w", o.ID, err).
			WithHint("list credentials: agentctl token list")
	}
	if err != nil {
		return err
	}
	return o.CLI.Out.Print(map[string]string{"revoked": o.ID}, func(w io.Writer) { fmt.Fprintf(w, "revoked: %s\n", o.ID) })
}
