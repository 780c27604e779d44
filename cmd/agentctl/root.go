package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/protocol"
)

// Groups of verbs in the help.
const (
	groupStart   = "start"
	groupSession = "session"
	groupSteer   = "steer"
	groupRead    = "read"
	groupServer  = "server"
)

const rootLong = `agentctl is tmux for AI agents: a server runs their sessions, people and scripts attach to them from any terminal. Watch live,
send, queue, interrupt, approve, detach, come back: nothing that was shown or accepted is lost.

A session is named by its id, its exact name, or the beginning of its id. Without --server the local server is used and, if none
runs, started in the background; it ends by itself after 10 minutes without sessions at work or clients.

What you always want goes into a configuration file, config.json in ~/.config/agentctl or the system's own place; AGENTCTL_CONFIG
names another. Flags and environment win over it. "agentctl attach --help" says what it holds, "agentctl doctor" checks it.

Exit codes: 0 done, 1 error, 2 usage, 3 timeout, 4 no such session, 5 not permitted, 6 needs a person (an approval is pending or
the queue is held), 7 the turn failed, 8 cannot reach the server, 130 the turn was interrupted, 128 and its number a signal that ended the screen.`

// newRoot builds the tree of verbs.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "agentctl",
		Short:         "tmux for AI agents",
		Long:          rootLong,
		Example:       "  agentctl tour\n  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n  agentctl attach fix",
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,

		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.readEnvironment()
		},
	}
	a.addGlobals(root)
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start here:"},
		&cobra.Group{ID: groupSession, Title: "Sessions:"},
		&cobra.Group{ID: groupSteer, Title: "Steer a session:"},
		&cobra.Group{ID: groupRead, Title: "Read a session:"},
		&cobra.Group{ID: groupServer, Title: "Server and program:"},
	)
	add := func(group string, verbs ...*cobra.Command) {
		for _, v := range verbs {
			v.GroupID = group
			root.AddCommand(v)
		}
	}
	add(groupStart, newTour(a, runTour), newAttach(a, runAttach), newNew(a, runNew))
	add(groupSession, newList(a, runList), newStatus(a, runStatus), newRename(a, runRename), newRemove(a, runRemove),
		newState(a))
	add(groupSteer, newSend(a, runSend), newWait(a, runWait), newInterrupt(a, runInterrupt), newQueue(a), newApprovals(a, runApprovals),
		newApprove(a, runDecide), newDeny(a, runDecide), newExplain(a, runDecide), newRules(a), newTask(a), newCompact(a, runCompact))
	add(groupRead, newEvents(a, runEvents), newHistory(a, runHistory), newSearch(a, runSearch), newExport(a, runExport), newContext(a, runContext))
	add(groupServer, newServe(a, runServe), newStop(a, runStop), newAgents(a, runAgents), newDoctor(a, runDoctor), newLogin(a, runLogin), newToken(a, runToken, runTokenUser),
		newKeys(a, runKeys), newVersion(a, runVersion))
	root.SetHelpCommandGroupID(groupServer)
	root.SetCompletionCommandGroupID(groupServer)
	root.AddCommand(builderVerbs()...)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w", err).hinting("see: %s --help", cmd.CommandPath())
	})
	layOut(root)
	return root
}

func unknownVerb(cmd *cobra.Command, verb string) error {
	f := usagef("there is no verb %q", verb).hinting("see: %s --help", cmd.CommandPath())
	if near := cmd.SuggestionsFor(verb); len(near) > 0 {
		for i := range near {
			near[i] = cmd.CommandPath() + " " + near[i]
		}
		f = f.hinting("did you mean: %s", strings.Join(near, " or "))
	}
	return f
}

func (a *app) addGlobals(root *cobra.Command) {
	f, g := root.PersistentFlags(), &a.flags
	f.StringVar(&g.Server, "server", "", "server: ws, wss or unix `URL` (AGENTCTL_SERVER)")
	f.StringVar(&g.Token, "token", "", "`CREDENTIAL` for the server (AGENTCTL_TOKEN)")
	f.StringVar(&g.Dialect, "dialect", "", "speak the dialect `NAME` (AGENTCTL_DIALECT)")
	f.StringArrayVar(&g.Options, "dialect-option", nil, "`K=V` of it, repeatable (AGENTCTL_DIALECT_OPTIONS)")
	f.StringVar(&g.As, "as", "", "`NAME` that your actions are attributed to")
	f.StringVarP(&g.Output, "output", "o", formatText, "`FORMAT`: text, or json lines")
	f.DurationVar(&g.Timeout, "timeout", 0, "`TIME` for the whole command, as 30s; then exit 3")
	f.BoolVar(&g.NoColor, "no-color", false, "no colours (NO_COLOR)")
	f.BoolVar(&g.NoStart, "no-start", false, "start no server in the background")
	f.StringVar(&g.Data, "data", "", "local server's data `DIR` (AGENTCTL_DATA)")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(dialect.Names(), cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("dialect-option", a.completeOption)
	_ = root.RegisterFlagCompletionFunc("data", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// readEnvironment fills in what no flag says and checks what all verbs share.
func (a *app) readEnvironment() error {
	g := &a.flags
	a.dataNamed = g.Data != ""
	for field, name := range map[*string]string{
		&g.Server: "AGENTCTL_SERVER", &g.Token: "AGENTCTL_TOKEN", &g.Dialect: "AGENTCTL_DIALECT", &g.Data: "AGENTCTL_DATA",
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
	a.prefer()
	if format := g.Output; format != formatText && format != formatJSON {
		g.Output = formatText
		return usagef("--output is text or json, not %q", format)
	}
	if g.Dialect != "" {
		if err := checkDialect(g.Dialect); err != nil {
			return err
		}
	}
	if _, err := a.dialectOptions(); err != nil {
		return err
	}
	if g.Timeout < 0 {
		return usagef("--timeout is a positive duration such as 30s")
	}
	return nil
}

// does makes a verb's own code of its arguments' reader and its function: bounded by --timeout, and known to have been reached.
func does[O any](a *app, o *O, read func(args []string) error, run func(context.Context, *O) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if read != nil {
			if err := read(args); err != nil {
				return err
			}
		}
		a.ran = true
		ctx, cancel := a.limited(cmd.Context())
		defer cancel()
		err := run(ctx, o)
		var decided *fault
		if err != nil && errors.Is(context.Cause(ctx), errTimeout) && !errors.As(err, &decided) {
			return faultf(exitTimeout, protocol.CodeTimeout, "not done within %s", a.flags.Timeout)
		}
		return err
	}
}
