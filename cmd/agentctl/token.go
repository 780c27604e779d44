package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/server/login"
)

type tokenOptions struct {
	app *app

	Subject string
	Role    string
	TTL     time.Duration
}

func newToken(a *app, run func(context.Context, *tokenOptions) error, user func(context.Context, *userOptions) error) *cobra.Command {
	o := &tokenOptions{app: a}
	cmd := &cobra.Command{
		Use:   "token --subject NAME",
		Short: "Make a credential for a server on this machine",
		Long: `Make a credential that servers on this data directory let in, at every address that wants one, under a name and with a role:

  observer  reads
  operator  sends, interrupts, arranges the queue, makes and closes sessions
  approver  and decides what agents may do
  admin     everything

It holds for --ttl; a connection that it opened ends with it. Nothing takes back a single one: removing the file "key" from the data
directory and starting the server anew takes back all, and all logins.`,
		Example: "  agentctl token --subject ci --role operator --ttl 720h\n  agentctl token user ada --role approver --file users.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
	}
	cmd.RunE = does(a, o, func([]string) error { return o.check() }, run)
	f := cmd.Flags()
	f.StringVar(&o.Subject, "subject", "", "`NAME` of whoever will use it")
	f.StringVar(&o.Role, "role", string(protocol.RoleOperator), "`ROLE` of those above")
	f.DurationVar(&o.TTL, "ttl", 24*time.Hour, "`TIME` that it holds")
	cmd.AddCommand(newTokenUser(a, user))
	return cmd
}

func (o *tokenOptions) check() error {
	switch {
	case o.Subject == "":
		return usagef("who will use it? name them with --subject")
	case !slices.Contains(protocol.Roles, protocol.Role(o.Role)):
		return usagef("a role is one of %s, not %q", names(protocol.Roles), o.Role)
	case o.TTL < time.Second || o.TTL > login.MaxTokenTTL:
		return usagef("--ttl is 1s to %s, not %s", login.MaxTokenTTL, o.TTL)
	}
	return nil
}

func runToken(_ context.Context, o *tokenOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	if s := o.app.flags.Server; s != "" && !strings.HasPrefix(s, "unix:") && dir.tokenFor(s) == "" {
		return usagef("%s is not a server of this data directory: make its credentials there, or log in: agentctl login", origin(s))
	}
	if err := dir.make(); err != nil {
		return err
	}
	gate, err := dir.gate(nil)
	if err != nil {
		return err
	}
	token, err := gate.NewToken(o.Subject, protocol.Role(o.Role), o.TTL)
	if err != nil {
		return usagef("%w", err)
	}
	view := struct {
		Token   string     `json:"token"`
		Subject string     `json:"subject"`
		Role    string     `json:"role"`
		Expires *time.Time `json:"expires"`
	}{token, o.Subject, o.Role, expiry(token)}
	return o.app.emit(view, func(w io.Writer) { fmt.Fprintln(w, token) })
}

// gate lets in whom this directory's credentials are of, and users.
func (d dataDir) gate(users login.Users) (*login.Authenticator, error) {
	secret, err := d.random("key")
	if err != nil {
		return nil, fmt.Errorf("key of credentials: %w", err)
	}
	return login.NewAuthenticator(users, []byte(secret)), nil
}

type userOptions struct {
	app *app

	Name          string
	Role          string
	File          string
	PasswordStdin bool
}

func newTokenUser(a *app, run func(context.Context, *userOptions) error) *cobra.Command {
	o := &userOptions{app: a}
	cmd := &cobra.Command{
		Use:   "user NAME",
		Short: "Make a user for serve --users",
		Long: `Ask for a password and make a user of its hash, for the file that "agentctl serve --users FILE" lets log in. With --file the user
is put into that file, in place of the one of that name; else the file is printed.`,
		Example: "  agentctl token user ada --role approver --file users.json",
		Args:    takes(1, 1),
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Name = args[0]
		if !slices.Contains(protocol.Roles, protocol.Role(o.Role)) {
			return usagef("a role is one of %s, not %q", names(protocol.Roles), o.Role)
		}
		return nil
	}, run)
	f := cmd.Flags()
	f.StringVar(&o.Role, "role", string(protocol.RoleOperator), "`ROLE`, as of a token")
	f.StringVar(&o.File, "file", "", "`FILE` of users to put it into")
	f.BoolVar(&o.PasswordStdin, "password-stdin", false, "read the password from stdin")
	return cmd
}

func runTokenUser(ctx context.Context, o *userOptions) error {
	lines := map[string]login.UserEntry{}
	if o.File != "" {
		b, err := os.ReadFile(o.File)
		if err == nil {
			lines, err = login.ReadUserEntries(b)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.File, err)
		}
	}
	password, err := o.app.password(ctx, o.PasswordStdin, "Password of "+o.Name+": ", true)
	if err != nil {
		return err
	}
	hash, err := login.HashPassword(password)
	if err != nil {
		return err
	}
	lines[o.Name] = login.UserEntry{Password: hash, Role: protocol.Role(o.Role)}
	if _, err := login.ReadUserEntries(protocol.MustEncode(lines)); err != nil {
		return usagef("%w", err)
	}
	if o.File == "" {
		return o.app.emitJSON(lines)
	}
	b, err := json.MarshalIndent(lines, "", "  ")
	if err == nil {
		err = writePrivate(o.File, string(b)+"\n")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	return o.app.emit(map[string]string{"user": o.Name, "role": o.Role, "file": o.File}, func(w io.Writer) {
		fmt.Fprintf(w, "%s may log in as %s: agentctl serve --users %s\n", o.Name, o.Role, o.File)
	})
}

// readUsers reads a users file that nobody else can let themselves into.
func readUsers(path string) (login.Users, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if mode := info.Mode().Perm(); canServe && mode&0o022 != 0 {
		return nil, usagef("users: others can write to %s and so let themselves in: chmod go-w %s", path, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	users, err := login.ReadUsers(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return users, nil
}
