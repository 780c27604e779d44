package verb

import (
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// The values of --output.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// Flags are the flags of every verb.
type Flags struct {
	Server string
	On     string // name of a server in the user's configuration
	Token  string

	Fingerprint string // of the server's certificate

	Dialect string
	Options []string // of the dialect, each K=V
	As      string
	Output  string
	Timeout time.Duration
	NoColor bool
	NoStart bool
	Data    string

	OnlyReads bool // the verb only reads, and therefore starts no server
}

// UserName returns the name of the user for the server: --as, else the name on this machine.
func (g *Flags) UserName(env func(string) string) string {
	if g.As != "" {
		return g.As
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := env(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// AddGlobalFlags adds the flags of every verb to root.
func (cli *Context) AddGlobalFlags(root *cobra.Command) {
	f, g := root.PersistentFlags(), &cli.Flags
	f.StringVar(&g.Server, "server", "", "server `URL`: ws, wss, ssh or unix (AGENTCTL_SERVER)")
	f.StringVar(&g.On, "on", "", "`NAME` of a server of the configuration, or local")
	f.StringVar(&g.Token, "token", "", "`CREDENTIAL` for the server (AGENTCTL_TOKEN)")
	f.StringVar(&g.Fingerprint, "fingerprint", "", "`FP` of its certificate (AGENTCTL_FINGERPRINT)")
	f.StringVar(&g.Dialect, "dialect", "", "`NAME` of the dialect to speak (AGENTCTL_DIALECT)")
	f.StringArrayVar(&g.Options, "dialect-option", nil, "set `K=V`, repeatable (AGENTCTL_DIALECT_OPTIONS)")
	f.StringVar(&g.As, "as", "", "`NAME` to attribute your actions to")
	f.StringVarP(&g.Output, "output", "o", FormatText, "output `FORMAT`: text or json")
	addFilterFlags(f)
	f.DurationVar(&g.Timeout, "timeout", 0, "`TIME` limit for the command, such as 30s")
	f.BoolVar(&g.NoColor, "no-color", false, "disable colours (NO_COLOR)")
	f.BoolVar(&g.NoStart, "no-start", false, "do not start a server")
	f.StringVar(&g.Data, "data", "", "data `DIR` of the local server (AGENTCTL_DATA)")
	RequireValues(f, "server", "on", "data")
	CompleteValues(root, "output", []string{FormatText, FormatJSON})
	CompleteValues(root, "dialect", dialect.Names())
	_ = root.RegisterFlagCompletionFunc("dialect-option", cli.completeDialectOption)
	_ = root.RegisterFlagCompletionFunc("on", cli.completeServers)
	CompleteDirs(root, "data")
}

// ReadEnvironment sets global flags that were not passed from the environment and the user's
// configuration, and checks them.
func (cli *Context) ReadEnvironment() error {
	g := &cli.Flags
	cli.Out.JSON = g.Output == FormatJSON
	cli.Selected.Data = g.Data != ""
	if g.On != "" && g.Server != "" {
		return exit.Usagef("--on and --server name two servers: pass one")
	}
	for field, name := range map[*string]string{
		&g.Server: "AGENTCTL_SERVER", &g.Token: "AGENTCTL_TOKEN", &g.Dialect: "AGENTCTL_DIALECT",
		&g.Data: "AGENTCTL_DATA", &g.Fingerprint: "AGENTCTL_FINGERPRINT",
	} {
		if *field == "" {
			*field = cli.Env(name)
		}
	}
	if list := cli.Env("AGENTCTL_DIALECT_OPTIONS"); g.Options == nil && list != "" {
		g.Options = strings.Split(list, ",")
	}
	if cli.Env("NO_COLOR") != "" {
		g.NoColor = true
	}
	cli.Selected.Explicit = g.On != "" || g.Server != "" || cli.Selected.Data
	if err := cli.applyUserConfig(); err != nil {
		return err
	}
	if format := g.Output; format != FormatText && format != FormatJSON {
		g.Output = FormatText
		return exit.Usagef("invalid --output %q: want text or json", format)
	}
	if g.Dialect != "" {
		if err := config.CheckDialect(g.Dialect); err != nil {
			return err
		}
	}
	if _, err := cli.Flags.DialectOptions(); err != nil {
		return err
	}
	if g.Timeout < 0 {
		return exit.Usagef("invalid --timeout %s: want a positive duration such as 30s", g.Timeout)
	}
	return nil
}

// applyUserConfig reads the user's configuration and applies it where neither flags nor environment
// do. A server they name replaces the file's server and its dialect; --data selects the local
// server.
func (cli *Context) applyUserConfig() error {
	cli.User, cli.UserErr = config.ReadUser(cli.Env)
	g, u := &cli.Flags, &cli.User
	if g.On != "" {
		if err := cli.selectServer(g.On); err != nil {
			return err
		}
	} else if g.Server == "" && !cli.Selected.Data {
		g.Server = u.Server
		if g.Dialect == "" {
			g.Dialect = u.Dialect
		}
	}
	if g.As == "" {
		g.As = u.As
	}
	g.NoColor = g.NoColor || u.NoColor()
	return nil
}

// addFilterFlags adds the flags that print values of the JSON of a verb.
func addFilterFlags(f *pflag.FlagSet) {
	f.String("jq", "", "print what the jq `EXPRESSION` makes of the JSON")
	f.String("template", "", "print each line of JSON by a Go `TEMPLATE`")
}

// ReadFilter reads the flags of addFilterFlags. They select JSON.
func (cli *Context) ReadFilter(cmd *cobra.Command) (err error) {
	expression, text := cmd.Flags().Lookup("jq"), cmd.Flags().Lookup("template")
	format := cmd.Flags().Lookup("output")
	switch {
	case !expression.Changed && !text.Changed:
		return nil
	case expression.Changed && text.Changed:
		return exit.Usagef("--jq and --template exclude each other")
	case format.Changed && cli.Flags.Output != FormatJSON:
		return exit.Usagef("--jq and --template print values of JSON: leave out --output text")
	}
	cli.Out.JSON = true
	if expression.Changed {
		cli.Out.Filter, err = output.NewQuery(expression.Value.String())
	} else {
		cli.Out.Filter, err = output.NewTemplate(text.Value.String())
	}
	return err
}

// NoFiles completes without the names of files.
const NoFiles = cobra.ShellCompDirectiveNoFileComp

// CompleteValues completes a flag with fixed values.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, NoFiles)) // fails only for unknown flags
}

// CompleteDirs completes a flag with directories.
func CompleteDirs(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// RoleNames returns the names of roles.
func RoleNames(roles []protocol.Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return names
}
