package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
)

const rootLong = `agentctl is tmux for AI agents. A server runs agent sessions; users and scripts attach to
them from any terminal: watch live, send, queue, interrupt, approve, detach and come back. Output
that was shown and commands that were accepted are never lost.

SESSION is an id, an exact name, or a unique prefix of an id. Without --server the local server is
used. If none runs, it is started in the background and ends after 10 minutes without running
agents and clients; verbs that only read, such as ls, start none.

Defaults for all commands can be set in a configuration file: config.json in ~/.config/agentctl or
in the system's directory for it, or the file named by AGENTCTL_CONFIG. Flags and environment
override it. See "agentctl attach --help" for its contents and "agentctl doctor" to check it. If
they name another server, "--on local" selects the one of this machine, which stop, logs, backup,
check and others work on.

Exit codes: 0 done, 1 error, 2 usage, 3 timeout, 4 no such session, 5 not permitted, 6 needs a
person (an approval is pending or the queue is held), 7 the turn failed, 8 cannot reach the server,
9 the log was replaced, 10 not supported by the agent or the dialect, 130 the turn was interrupted, 128+N the screen was ended by signal N.`

// newRoot returns the command with all verbs.
func newRoot(a *app) *cobra.Command {
	root := newBareRoot(a)
	root.Version = programVersion()
	root.SetVersionTemplate(versionLine() + "\n")
	addVerbs(root, a, func(string) bool { return true })
	root.AddCommand(releaseVerbs()...)
	wrapHelp(root)
	return root
}

// newRootFor returns the command with the verb that args name, or with all verbs if they name none:
// then help, completion or an error lists them. To build all verbs takes longer than most of them
// run.
func newRootFor(a *app, args []string) *cobra.Command {
	if _, ok := a.findDialect(args); ok { // its help depends on all verbs
		return newRoot(a)
	}
	root := newBareRoot(a)
	addVerbs(root, a, func(name string) bool { return slices.Contains(args, name) })
	if cmd, _, err := root.Find(args); err != nil || cmd == root {
		return newRoot(a)
	}
	wrapHelp(root)
	return root
}

// newBareRoot returns the command without verbs.
func newBareRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "agentctl",
		Short: "tmux for AI agents",
		Long:  rootLong,
		Example: "  agentctl tour\n" +
			"  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n" +
			"  agentctl attach fix",
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,

		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := checkEmptyFlags(cmd); err != nil {
				return err
			}
			if err := a.readEnvironment(); err != nil {
				return err
			}
			if err := a.readFilter(cmd); err != nil {
				return err
			}
			if err := a.checkDataVerb(cmd); err != nil {
				return err
			}
			a.startsNoServer(cmd)
			return a.checkSupport(cmd, args)
		},
	}
	root.Flags().Bool("version", false, "print the version")
	a.addGlobalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start here:"},
		&cobra.Group{ID: groupSession, Title: "Sessions:"},
		&cobra.Group{ID: groupSteer, Title: "Steer a session:"},
		&cobra.Group{ID: groupRead, Title: "Read a session:"},
		&cobra.Group{ID: groupServer, Title: "Server and program:"},
	)
	root.SetHelpCommand(newHelp())
	root.SetCompletionCommandGroupID(groupServer)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.Usagef("%w", err).WithHint("see: %s --help", cmd.CommandPath())
	})
	return root
}

func (a *app) addGlobalFlags(root *cobra.Command) {
	f, g := root.PersistentFlags(), &a.flags
	f.StringVar(&g.Server, "server", "", "server `URL`: ws, wss, ssh or unix (AGENTCTL_SERVER)")
	f.StringVar(&g.On, "on", "", "`NAME` of a server of the configuration, or local")
	f.StringVar(&g.Token, "token", "", "`CREDENTIAL` for the server (AGENTCTL_TOKEN)")
	f.StringVar(&g.Fingerprint, "fingerprint", "", "`FP` of its certificate (AGENTCTL_FINGERPRINT)")
	f.StringVar(&g.Dialect, "dialect", "", "`NAME` of the dialect to speak (AGENTCTL_DIALECT)")
	f.StringArrayVar(&g.Options, "dialect-option", nil, "set `K=V`, repeatable (AGENTCTL_DIALECT_OPTIONS)")
	f.StringVar(&g.As, "as", "", "`NAME` to attribute your actions to")
	f.StringVarP(&g.Output, "output", "o", formatText, "output `FORMAT`: text or json")
	addFilterFlags(f)
	f.DurationVar(&g.Timeout, "timeout", 0, "`TIME` limit for the command, such as 30s")
	f.BoolVar(&g.NoColor, "no-color", false, "disable colours (NO_COLOR)")
	f.BoolVar(&g.NoStart, "no-start", false, "do not start a server")
	f.StringVar(&g.Data, "data", "", "data `DIR` of the local server (AGENTCTL_DATA)")
	completeValues(root, "output", []string{formatText, formatJSON})
	completeValues(root, "dialect", dialect.Names())
	_ = root.RegisterFlagCompletionFunc("dialect-option", a.completeDialectOption)
	_ = root.RegisterFlagCompletionFunc("on", a.completeServers)
	completeDirs(root, "data")
}

// readEnvironment sets global flags that were not passed from the environment and the user's
// configuration, and checks them.
func (a *app) readEnvironment() error {
	g := &a.flags
	a.dataFlag = g.Data != ""
	if g.On != "" && g.Server != "" {
		return exit.Usagef("--on and --server name two servers: pass one")
	}
	for field, name := range map[*string]string{
		&g.Server: "AGENTCTL_SERVER", &g.Token: "AGENTCTL_TOKEN", &g.Dialect: "AGENTCTL_DIALECT",
		&g.Data: "AGENTCTL_DATA", &g.Fingerprint: "AGENTCTL_FINGERPRINT",
	} {
		if *field == "" {
			*field = a.env(name)
		}
	}
	if list := a.env("AGENTCTL_DIALECT_OPTIONS"); g.Options == nil && list != "" {
		g.Options = strings.Split(list, ",")
	}
	if a.env("NO_COLOR") != "" {
		g.NoColor = true
	}
	a.serverNamed = g.On != "" || g.Server != "" || a.dataFlag
	if err := a.applyUserConfig(); err != nil {
		return err
	}
	if format := g.Output; format != formatText && format != formatJSON {
		g.Output = formatText
		return exit.Usagef("invalid --output %q: want text or json", format)
	}
	if g.Dialect != "" {
		if err := config.CheckDialect(g.Dialect); err != nil {
			return err
		}
	}
	if _, err := a.dialectOptions(); err != nil {
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
func (a *app) applyUserConfig() error {
	a.userConfig, a.userConfigErr = config.ReadUser(a.env)
	g, u := &a.flags, &a.userConfig
	if g.On != "" {
		if err := a.selectServer(g.On); err != nil {
			return err
		}
	} else if g.Server == "" && !a.dataFlag {
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

// runE returns the RunE of a verb: it reads the arguments into o, then runs the verb under
// --timeout. read may be nil.
func runE[O any](
	a *app, o *O, read func(args []string) error, run func(context.Context, *O) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if read != nil {
			if err := read(args); err != nil {
				return err
			}
		}
		a.started = true
		ctx, cancel := a.withTimeout(cmd.Context())
		defer cancel()
		err := run(ctx, o)
		return a.timeoutError(ctx, err)
	}
}
