package create

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/attachment"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

type newOptions struct {
	verb.Options

	SessionFlags
	Name     string
	Title    string
	Labels   []string
	Worktree worktreeFlags
	Load     string
	Lazy     bool
	NoCheck  bool
	Prompt   string
	Wait     bool
	Follow   bool
	Key      string
}

var newVerb = verb.Verb{
	Use:   "new",
	Most:  1, // a branch after --worktree
	Short: "Create a session",
	Long: `Create a session and print its id. AGENT is a configured agent, a preset ("agentctl agents"),
"acp:COMMAND ARG…" or "script:FILE"; without --agent it is the server's default, else the first that
is ready. If it cannot start, no session is created, unless you pass --no-check or --lazy. agentctl
refuses an agent the direct ways to decide its own requests; without --sandbox, its processes can
act as you. See docs/agents.md and docs/sessions.md.`,
	Example: "  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n" +
		"  agentctl new --worktree fix/login --base main --agent claude\n" +
		"  S=$(agentctl new --agent \"acp:my-agent --acp\")",
	Group: verb.GroupStart, Sends: protocol.DoCreate,
	Needs: append([]verb.FlagFeature{
		{Flag: "name", Feature: codec.CreateName},
		{Flag: "title", Feature: codec.CreateTitle},
		{Flag: "worktree", Feature: codec.CreateLabels},
		{Flag: "load", Feature: codec.CreateLoad},
	}, sessionNeeds...),
	Trial:    "--agent script:agent.script",
	Complete: completion.None,

	Do: &verb.Steps[newOptions]{
		Flags: func(o *newOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			o.SessionFlags.add(o.CLI, cmd)
			f.StringVar(&o.Name, "name", "", "unique `NAME` of the session")
			f.StringVar(&o.Title, "title", "", "`TEXT` that describes the session")
			f.StringArrayVar(&o.Labels, "label", nil, "set the label `K=V` of the session; repeatable")
			o.Worktree.add(cmd)
			f.StringVar(&o.Load, "load", "", "continue the agent's own session `ID`")
			f.BoolVar(&o.Lazy, "lazy", false, "start the agent with the first message")
			f.BoolVar(&o.NoCheck, "no-check", false, "create it even if the agent cannot start")
			f.StringVar(&o.Prompt, "prompt", "", "`TEXT` of the first message")
			f.BoolVarP(&o.Wait, "wait", "w", false, "wait for the end of its turn, as send does")
			f.BoolVarP(&o.Follow, "follow", "f", false, "wait and print the answer")
			verb.AddKeyFlag(cmd, &o.Key)
		},
		Read: func(o *newOptions, args []string) error {
			return cmp.Or(o.Worktree.setArgs(args), o.check())
		},
		Run: runNew,
	},
}

func (o *newOptions) check() error {
	if (o.Wait || o.Follow) && o.Prompt == "" && len(o.Attach) == 0 {
		return exit.Usagef("--wait and --follow need a --prompt")
	}
	if err := turn.CheckDeniedFlag(o.FailOnDenied, o.Wait || o.Follow); err != nil {
		return err
	}
	_, err := o.data()
	return err
}

func runNew(ctx context.Context, o *newOptions) error {
	files, err := turn.ReadAttachments(o.Attach)
	if err != nil {
		return err
	}
	policy := connection.OneShot
	if o.Wait || o.Follow {
		policy = connection.Bounded
	}
	start := newStartProgress(&o.CLI.Out)
	c, err := (&connection.Dialer{CLI: o.CLI, Policy: policy, OnProcess: start.show}).Open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := o.create(c, files)
	start.end()
	if err != nil {
		return err
	}
	if dir, err := o.CLI.DataDir(); err == nil && c.Own {
		for _, url := range dir.Addresses().Open() {
			o.CLI.Out.Notef("agents can decide their own requests at %s: start the server with role=operator for it", url)
		}
	}
	if d, _ := dialect.Find(o.CLI.Flags.Dialect); d.SessionTerm != "" && !o.CLI.Out.JSON {
		o.CLI.Out.Notef("other verbs and the clients of %s use it as the %s", d.Name, d.SessionTerm)
	}
	if res.Sandbox.Shown() && !o.CLI.Out.JSON {
		o.CLI.Out.Notef("sandbox: %s", res.Sandbox)
	}
	if err := o.CLI.Out.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) }); err != nil {
		return err
	}
	if !o.Wait && !o.Follow {
		return nil
	}
	if res.Message == nil {
		return exit.Unsupportedf("the server does not report the first message: agentctl wait %s", res.Session)
	}
	t := turn.Tracker{
		CLI: o.CLI, Message: res.Message.MessageID, Turn: res.Message.Turn, Print: o.Follow,
		Continues: o.Settings.Limit != "", FailOnDenied: o.FailOnDenied,
	}
	return t.TrackUntilInterrupted(c, res.Session, res.Message.Seq)
}

// data returns the data of the session but for its first message.
func (o *newOptions) data() (protocol.CreateData, error) {
	data, err := o.SessionFlags.data()
	labels, labelErr := verb.ParsePairs("--label", o.Labels)
	data.Name, data.Title, data.Labels, data.Load = o.Name, o.Title, labels, o.Load
	data.Lazy, data.Check = o.Lazy, !o.NoCheck && !o.Lazy
	return data, cmp.Or(err, labelErr)
}

// create creates the session with the attachments of its first message.
func (o *newOptions) create(c *connection.Conn, files []attachment.File) (res protocol.CreateResult, err error) {
	data, err := o.data()
	if err != nil {
		return res, err
	}
	data.Prompt = o.Prompt
	if data.Parts, err = turn.MessageParts(o.Prompt, files, c.Local); err != nil {
		return res, err
	}
	if err := complete(o.CLI, c, &data); err != nil {
		return res, err
	}
	res, err = o.createIn(c, &data)
	return res, localagent.Of(o.CLI).WithKeyHint(err, data.Agent, c.Own)
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&newVerb, &runVerb, &upVerb}
