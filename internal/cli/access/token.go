package access

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server/login"
)

type tokenOptions struct {
	verb.Options

	Subject string
	Role    string
	Session string
	TTL     time.Duration
}

var tokenVerb = verb.Verb{
	Use:   "token",
	Short: "Make a credential for the local server",
	Long: `Make a credential for servers on this data directory, with a subject and a role: metrics, observer
(reads), operator (sends, interrupts, edits the queue, creates and closes sessions), approver (also
decides approvals) or admin. It is valid for --ttl; with --session, for that session alone. See
docs/access.md.`,
	Example: "  agentctl token --subject ci --role operator --ttl 720h\n" +
		"  agentctl token --subject bot --session fix\n" +
		"  agentctl token user ada --role approver --file users.json",
	Group: verb.GroupServer,
	Below: []*verb.Verb{&tokenUserVerb, &tokenListVerb, &tokenRevokeVerb, &tokenKeyVerb},

	Do: &verb.Steps[tokenOptions]{
		Flags: func(o *tokenOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Subject, "subject", "", "`NAME` of the user or program (required)")
			f.StringVar(&o.Role, "role", string(protocol.RoleOperator), "`ROLE` of the credential")
			f.DurationVar(&o.TTL, "ttl", 24*time.Hour, "`TIME` until it expires")
			f.StringVar(&o.Session, "session", "", "the only `SESSION` that it is for")
			verb.CompleteValues(cmd, "role", verb.RoleNames(login.TokenRoles))
			verb.RequireValues(f, "session")
			_ = cmd.RegisterFlagCompletionFunc("session", completion.Sessions(o.CLI))
		},
		Read: func(o *tokenOptions, _ []string) error { return o.check() },
		Run:  runToken,
	},
}

func (o *tokenOptions) check() error {
	switch {
	case o.Subject == "":
		return exit.Usagef("--subject is required")
	case o.TTL < time.Second || o.TTL > login.MaxTokenTTL:
		return exit.Usagef("invalid --ttl %s: want 1s to %s", o.TTL, login.MaxTokenTTL)
	}
	if o.Session != "" && o.Role == string(protocol.RoleMetrics) {
		return exit.Usagef("--role metrics is for the whole server: omit --session")
	}
	return checkRole(o.Role, login.TokenRoles)
}

func checkRole(role string, roles []protocol.Role) error {
	if !slices.Contains(roles, protocol.Role(role)) {
		return exit.Usagef("invalid --role %q: want %s", role, strings.Join(verb.RoleNames(roles), ", "))
	}
	return nil
}

func runToken(ctx context.Context, o *tokenOptions) error {
	dir, err := o.CLI.DataDir()
	if err != nil {
		return err
	}
	if s := o.CLI.Flags.Server; s != "" && !strings.HasPrefix(s, "unix:") && dir.Addresses().Token(s) == "" {
		return exit.Usagef("%s is not a server of this data directory: make the credential on its machine, or "+
			"run agentctl login",
			credentials.Origin(s))
	}
	if err := connection.RequireUser(ctx, o.CLI, "make a credential"); err != nil {
		return err
	}
	if err := dir.Create(); err != nil {
		return err
	}
	session, err := o.sessionID(ctx)
	if err != nil {
		return err
	}
	authenticator, err := dir.Authenticator(nil)
	if err != nil {
		return err
	}
	token, err := authenticator.NewToken(login.TokenRequest{
		Subject: o.Subject, Role: protocol.Role(o.Role), Session: session, TTL: o.TTL,
	})
	if err != nil {
		return exit.Usagef("%w", err)
	}
	expires := credentials.Expiry(token.Signed)
	record := localserver.TokenRecord{
		ID: token.ID, Subject: o.Subject, Role: o.Role, Session: session,
		Created: time.Now().UTC(), Expires: *expires,
	}
	if err := dir.SaveToken(record); err != nil {
		return err
	}
	result := struct {
		Token   string     `json:"token"`
		ID      string     `json:"id"`
		Subject string     `json:"subject"`
		Role    string     `json:"role"`
		Session string     `json:"session,omitempty"`
		Expires *time.Time `json:"expires"`
	}{token.Signed, token.ID, o.Subject, o.Role, session, expires}
	return o.CLI.Out.Print(result, func(w io.Writer) { fmt.Fprintln(w, token.Signed) })
}

// sessionID returns the id of --session, or "" without it.
func (o *tokenOptions) sessionID(ctx context.Context) (string, error) {
	if o.Session == "" {
		return "", nil
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return "", err
	}
	defer c.Close()
	r, err := c.Snapshot(o.Session)
	if err != nil {
		return "", err
	}
	return r.Snapshot.State.Session, nil
}
