package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"agentctl/internal/atomicfile"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/login"
)

type tokenUserOptions struct {
	verb.Options

	Name          string
	Role          string
	File          string
	PasswordStdin bool
}

var tokenUserVerb = verb.Verb{
	Use:   "user NAME",
	Short: "Add a user for serve --users",
	Long: `Read a password and add a user with its hash to --file, the file for "agentctl serve
--users FILE". An existing user of that name is replaced. Without --file, print a file with this
user.`,
	Example: "  agentctl token user ada --role approver --file users.json",
	Place:   verb.DataDirectory,
	Trial:   "ann --file users.json",

	Do: &verb.Steps[tokenUserOptions]{
		Flags: func(o *tokenUserOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Role, "role", string(protocol.RoleOperator), "`ROLE` of the user")
			verb.CompleteValues(cmd, "role", verb.RoleNames(protocol.Roles))
			f.StringVar(&o.File, "file", "", "`FILE` of users")
			f.BoolVar(&o.PasswordStdin, "password-stdin", false, "read the password from stdin")
		},
		Read: func(o *tokenUserOptions, args []string) error {
			o.Name = args[0]
			return checkRole(o.Role, protocol.Roles)
		},
		Run: runTokenUser,
	},
}

func runTokenUser(ctx context.Context, o *tokenUserOptions) error {
	if err := connection.RequireUser(ctx, o.CLI, "add a user"); err != nil {
		return err
	}
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
	prompt := credentials.Prompt{Stdin: o.CLI.Stdin, Stderr: o.CLI.Out.Stderr}
	password, err := readPassword(ctx, prompt, o.PasswordStdin, "Password of "+output.OneLine(o.Name, 0)+": ", true)
	if err != nil {
		return err
	}
	hash, err := login.HashPassword(password)
	if err != nil {
		return err
	}
	lines[o.Name] = login.UserEntry{Password: hash, Role: protocol.Role(o.Role)}
	if _, err := login.ReadUserEntries(protocol.MustEncode(lines)); err != nil {
		return exit.Usagef("%w", err)
	}
	if o.File == "" {
		return o.CLI.Out.PrintJSON(lines)
	}
	b, err := json.MarshalIndent(lines, "", "  ")
	if err == nil {
		err = atomicfile.Write(o.File, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	return o.CLI.Out.Print(map[string]string{"user": o.Name, "role": o.Role, "file": o.File}, func(w io.Writer) {
		fmt.Fprintf(w, "%s can log in as %s: agentctl serve --users %s\n", o.Name, o.Role, o.File)
	})
}
