package sessions

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type importOptions struct {
	verb.Options

	File  string
	Name  string
	Title string
	Agent string
	CWD   string
	Key   string
}

var importVerb = verb.Verb{
	Use:   "import FILE|-",
	Short: "Read and continue a session that somebody exported",
	Long: `Create a session from the output of "agentctl export --format jsonl", of any server, and print its
id. It has the newest finished turns, at most 768 KiB; rules, decisions and settings of the file
have no effect. The agent starts with your first message. A signed state is restored, as "agentctl
state restore" does. See docs/sessions.md.`,
	Example: "  agentctl export fix --format jsonl >fix.jsonl\n" +
		"  agentctl import fix.jsonl --name fix-of-ada --agent claude\n  agentctl attach fix-of-ada",
	Group: verb.GroupSession, Sends: protocol.DoImport,
	Trial: "nonsense",

	Do: &verb.Steps[importOptions]{
		Flags: func(o *importOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
			f.StringVar(&o.Title, "title", "", "`TEXT` that describes the session")
			f.StringVar(&o.Agent, "agent", "", "`AGENT` that continues it")
			f.StringVar(&o.CWD, "cwd", "", "working `DIR` of the agent, on the server")
			verb.AddKeyFlag(cmd, &o.Key)
			_ = cmd.RegisterFlagCompletionFunc("agent", completion.Agents(o.CLI))
			verb.CompleteDirs(cmd, "cwd")
		},
		Read: func(o *importOptions, args []string) error { o.File = args[0]; return nil },
		Run:  runImport,
	},
}

func runImport(ctx context.Context, o *importOptions) error {
	b, err := o.CLI.Input().ReadFile(ctx, o.File)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	var signed protocol.SignedState
	if protocol.DecodeStrict(b, &signed) == nil && signed.Signature != "" {
		if o.Agent != "" || o.CWD != "" || o.Title != "" {
			return exit.Usagef("%s is a signed state, which has its own agent, directory and title", o.File)
		}
		return runStateRestore(ctx, &stateRestoreOptions{Options: o.Options, File: o.File, Name: o.Name, Key: o.Key, state: b})
	}
	log, err := sessionlog.ReadExported(b)
	if err != nil {
		return exit.Usagef("import %s: %w", o.File, err)
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	data := protocol.ImportData{CreateData: o.createData(log), Events: log.Events(), LeftOut: log.LeftOut}
	if c.Own && o.CLI.Flags.Dialect == "" {
		data.Env = localagent.Of(o.CLI).Environment(data.Agent)
	}
	if c.Local {
		if err := connection.ResolvePaths(&data.CreateData); err != nil {
			return err
		}
	}
	res, err := connection.CallWithKey[protocol.CreateResult](c, protocol.DoImport, "", o.Key, data)
	if err != nil {
		return err
	}
	if !o.CLI.Out.JSON {
		o.CLI.Out.Notef("%s", log.Summary())
	}
	return o.CLI.Out.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}

// createData returns the data of the new session. A command that the file names as its agent is not
// run: nothing proves who wrote it.
func (o *importOptions) createData(log *sessionlog.Exported) protocol.CreateData {
	d := protocol.CreateData{
		Name: o.Name, Title: o.Title, Agent: o.Agent, CWD: o.CWD, Lazy: true, Sandbox: log.Created.Sandbox,
	}
	if d.Title == "" {
		d.Title = log.Created.Title
	}
	if d.Agent == "" && !strings.ContainsAny(log.Created.Agent, ": \t\n") {
		d.Agent = log.Created.Agent
	}
	return d
}
