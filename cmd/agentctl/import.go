package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

type importOptions struct {
	app *app

	File  string
	Name  string
	Title string
	Agent string
	CWD   string
	Key   string
}

func newImport(a *app, run func(context.Context, *importOptions) error) *cobra.Command {
	o := &importOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Read and continue a session that somebody exported",
		Long: `Create a session from the output of "agentctl export --format jsonl", of any server, and print its
id. The session has the finished turns of the file, the newest as many as fit 768 KiB, with their
times; files and images that the server kept are left out. Nothing proves who wrote the file: the
names in it are shown as "NAME (imported)", and none of its rules, decisions or settings acts here.

The agent starts with your first message, and gets the end of the conversation with it. Without
--agent it is the agent that the file names, unless that is a command of its own.

A state that "agentctl state export" printed is restored, as "agentctl state restore" does: that
one is signed and has the memory of the agent, its queue and its plan.`,
		Example: "  agentctl export fix --format jsonl >fix.jsonl\n" +
			"  agentctl import fix.jsonl --name fix-of-ada --agent claude\n  agentctl attach fix-of-ada",
		Args: rangeArgs(1, 1),
		RunE: runE(a, o, func(args []string) error { o.File = args[0]; return nil }, run),
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
	f.StringVar(&o.Title, "title", "", "`TEXT` that describes the session")
	f.StringVar(&o.Agent, "agent", "", "`AGENT` that continues it")
	f.StringVar(&o.CWD, "cwd", "", "working `DIR` of the agent, on the server")
	addKeyFlag(cmd, &o.Key)
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	completeDirs(cmd, "cwd")
	return cmd
}

func runImport(ctx context.Context, o *importOptions) error {
	b, err := o.app.readFile(ctx, o.File)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	var signed protocol.SignedState
	if protocol.DecodeStrict(b, &signed) == nil && signed.Signature != "" {
		if o.Agent != "" || o.CWD != "" || o.Title != "" {
			return exit.Usagef("%s is a signed state, which has its own agent, directory and title", o.File)
		}
		return runStateRestore(ctx, &stateRestoreOptions{app: o.app, File: o.File, Name: o.Name, Key: o.Key, state: b})
	}
	log, err := readExportedLog(b)
	if err != nil {
		return exit.Usagef("import %s: %w", o.File, err)
	}
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	data := protocol.ImportData{CreateData: o.createData(log), Events: log.events(), LeftOut: log.leftOut}
	if c.own && o.app.flags.Dialect == "" {
		data.Env = o.app.shellEnvironment(data.Agent)
	}
	if c.local {
		if err := resolvePaths(&data.CreateData); err != nil {
			return err
		}
	}
	res, err := callWithKey[protocol.CreateResult](c, protocol.DoImport, "", o.Key, data)
	if err != nil {
		return err
	}
	if !o.app.json() {
		o.app.notef("%s", log.summary())
	}
	return o.app.print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}

// createData returns the data of the new session. A command that the file names as its agent is not
// run: nothing proves who wrote it.
func (o *importOptions) createData(log *exportedLog) protocol.CreateData {
	d := protocol.CreateData{Name: o.Name, Title: o.Title, Agent: o.Agent, CWD: o.CWD, Lazy: true}
	if d.Title == "" {
		d.Title = log.created.Title
	}
	if d.Agent == "" && !strings.ContainsAny(log.created.Agent, ": \t\n") {
		d.Agent = log.created.Agent
	}
	return d
}
