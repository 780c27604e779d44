package access

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/protocol/codec"
)

type loginOptions struct {
	verb.Options

	User          string
	PasswordStdin bool
	Print         bool
	Forget        bool
	Insecure      bool
}

var loginVerb = verb.Verb{
	Use:   "login [USER]",
	Short: "Log in to a server",
	Long: `Log in to the server of --server with a user and password; what is missing is read from the
terminal. The credential is stored in the data directory, readable by you only, and sent to that
server until it expires or --forget deletes it. --token and AGENTCTL_TOKEN override it. With
--dialect multiagent the server may also be one of that system.`,
	Example: "  agentctl login ada --server wss://agents.example.com\n" +
		"  agentctl login ci --server ws://127.0.0.1:7777 --password-stdin <secret",
	Group:    verb.GroupServer,
	Unlisted: func(d *codec.Dialect) bool { return !d.HasLogin },
	Trial:    "--server ws://127.0.0.1:1",

	Do: &verb.Steps[loginOptions]{
		Flags: func(o *loginOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.BoolVar(&o.PasswordStdin, "password-stdin", false, "read the password from stdin")
			f.BoolVar(&o.Print, "print", false, "print the credential, do not store it")
			f.BoolVar(&o.Forget, "forget", false, "delete the stored credential")
			f.BoolVar(&o.Insecure, "insecure", false, "allow sending the password unencrypted")
		},
		Read: func(o *loginOptions, args []string) error {
			o.User = strings.Join(args, "")
			return o.check()
		},
		Run: runLogin,
	},
}

func (o *loginOptions) check() error {
	g := &o.CLI.Flags
	d, _ := dialect.Find(g.Dialect)
	switch {
	case g.Server == "":
		return exit.Usagef("--server is required: the local server needs no login")
	case strings.HasPrefix(g.Server, "unix:"):
		return exit.Usagef("a Unix socket works without a login")
	case g.Dialect != "" && !d.HasLogin:
		return exit.Usagef("the dialect %s has no login", g.Dialect)
	case o.Forget && (o.Print || o.PasswordStdin || o.User != ""):
		return exit.Usagef("--forget takes no user and no other flag")
	case o.PasswordStdin && o.User == "":
		return exit.Usagef("--password-stdin needs USER")
	}
	return config.CheckServerURL(g.Server)
}

func runLogin(ctx context.Context, o *loginOptions) error {
	cli := o.CLI
	dir, err := cli.DataDir()
	if err != nil {
		return err
	}
	store := credentials.NewStore(dir)
	server := credentials.Origin(cli.Flags.Server)
	if o.Forget {
		return o.forget(store, server)
	}
	endpoint, err := credentials.NewEndpoint(cli.Flags.Server, nil)
	if err != nil {
		return err
	}
	if endpoint.Exposed() && !o.Insecure {
		return exit.Usagef("the connection to %s is not encrypted: use wss://, or pass --insecure", endpoint.Host())
	}
	prompt := credentials.Prompt{Stdin: cli.Stdin, Stderr: cli.Out.Stderr}
	if o.User == "" {
		if o.User, err = prompt.Line(ctx, "User: "); err != nil {
			return err
		}
	}
	password, err := readPassword(ctx, prompt, o.PasswordStdin, "Password: ", false)
	if err != nil {
		return err
	}
	var login credentials.Login
	err = connection.ConnectTrusted(ctx, cli, dir, cli.Flags.Server, func(trust *tls.Config) error {
		if endpoint, err = credentials.NewEndpoint(cli.Flags.Server, trust); err == nil {
			login, err = endpoint.Login(ctx, o.User, password)
		}
		return err
	})
	if err != nil {
		return err
	}
	login.Server, login.User, login.Expires = server, o.User, credentials.Expiry(login.Token)
	if o.Print {
		return cli.Out.Print(login, func(w io.Writer) { fmt.Fprintln(w, login.Token) })
	}
	return o.save(store, login)
}

func readPassword(ctx context.Context, p credentials.Prompt, stdin bool, prompt string, confirm bool) (string, error) {
	if stdin {
		return p.PasswordFromStdin()
	}
	return p.Password(ctx, prompt, confirm)
}

// forget deletes the credential for a server.
func (o *loginOptions) forget(store credentials.Store, server string) error {
	found, err := store.Delete(server)
	if err != nil {
		return err
	}
	return o.CLI.Out.Print(map[string]any{"server": server, "forgotten": found}, func(w io.Writer) {
		if found {
			fmt.Fprintf(w, "forgotten: the credential for %s\n", server)
		} else {
			fmt.Fprintf(w, "no credential for %s\n", server)
		}
	})
}

// save stores a login and prints it without its token.
func (o *loginOptions) save(store credentials.Store, login credentials.Login) error {
	if err := store.Save(login); err != nil {
		return err
	}
	login.Token = ""
	return o.CLI.Out.Print(login, func(w io.Writer) {
		fmt.Fprintf(w, "logged in to %s as %s", login.Server, login.User)
		if login.Role != "" {
			fmt.Fprintf(w, " (%s)", login.Role)
		}
		if login.Expires != nil {
			fmt.Fprintf(w, ", until %s", login.Expires.Local().Format(time.DateTime))
		}
		fmt.Fprintln(w)
	})
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&loginVerb, &tokenVerb}
