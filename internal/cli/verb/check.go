package verb

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// CheckPlace returns an error if flags, environment or configuration name another server for a verb
// that works on the data directory: it would act on this machine instead. --data and --on local mean
// this machine. It sets the directory of such a verb.
func (v *Verb) CheckPlace(cli *Context, cmd *cobra.Command) (err error) {
	path, flags := Path(cmd), cmd.Flags()
	if v.Place == anywhere {
		return nil
	}
	if flags.Changed("server") || flags.Changed("on") && cli.Flags.On != config.LocalName {
		return exit.Usagef("agentctl %s works on the data directory of this machine, not through a server", path).
			WithHint("run agentctl %s on the server's machine, or without --server and --on here", path)
	}
	if cli.Dir, err = cli.DataDir(); err != nil || cli.Selected.Data || v.Place == ThisMachine || cli.Flags.Server == "" {
		return err
	}
	if url := cli.Flags.Server; url == cli.Dir.SocketURL() || cli.Dir.Addresses().Token(url) != "" {
		return nil // the server of the data directory
	}
	source := "AGENTCTL_SERVER"
	if cli.Env(source) == "" {
		source = "the configuration"
	}
	return exit.Usagef("agentctl %s works on the data directory of this machine, but %s names another server",
		path, source).
		WithHint("run agentctl %[1]s on the server's machine, or agentctl --on local %[1]s here", path)
}

// StartsNoServer makes a verb that only reads start no server, unless --no-start=false is passed.
func (v *Verb) StartsNoServer(g *Flags, cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("no-start"); v.Reads && !f.Changed {
		g.NoStart, g.OnlyReads = true, true
	}
}

// RequireCommand returns an error if the dialect carries a command at no server. oneShot: for a
// client of one connection.
func (g *Flags) RequireCommand(v protocol.Verb, oneShot bool) error {
	if d, ok := dialect.Find(g.Dialect); ok && g.Server != "" {
		return d.Unsupported(v, oneShot)
	}
	return nil
}

// CheckSupport returns an error if the dialect carries the verb or one of its flags at no server.
func (v *Verb) CheckSupport(g *Flags, cmd *cobra.Command) error {
	d, ok := dialect.Find(g.Dialect)
	if !ok || g.Server == "" { // connect reports the missing server
		return nil
	}
	err := v.Unsupported(&d)
	oneShot := true
	for _, stay := range []string{"wait", "follow"} {
		if f := cmd.Flags().Lookup(stay); f != nil && f.Changed {
			oneShot = false
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, flag := range []string{f.Name, f.Name + "=" + f.Value.String()} {
			if err == nil && f.Value.String() != "false" {
				err = v.UnsupportedFlag(&d, flag, oneShot)
			}
		}
	})
	return err
}
