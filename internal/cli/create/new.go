package create

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"

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

	Name     string
	Title    string
	Agent    string
	CWD      string
	Env      []string
	Labels   []string
	Settings settingFlags
	Sandbox  sandboxFlags
	Worktree worktreeFlags
	Load     string
	Lazy     bool
	NoCheck  bool
	Prompt   string
	Wait     bool
	Follow   bool
	Attach   []string
	Key      string

	FailOnDenied bool
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
	Needs: []verb.FlagFeature{
		{Flag: "name", Feature: codec.CreateName},
		{Flag: "title", Feature: codec.CreateTitle},
		{Flag: "env", Feature: codec.CreateEnv},
		{Flag: "cwd", Feature: codec.CreateCWD},
		{Flag: "mode", Feature: codec.CreateSettings},
		{Flag: "model", Feature: codec.CreateSettings},
		{Flag: "option", Feature: codec.CreateSettings},
		{Flag: "policy", Feature: codec.CreateSettings},
		{Flag: settingLimit, Feature: codec.CreateSettings},
		{Flag: "sandbox", Feature: codec.CreateSandbox},
		{Flag: "sandbox-network", Feature: codec.CreateSandbox},
		{Flag: "worktree", Feature: codec.CreateLabels},
		{Flag: "load", Feature: codec.CreateLoad},
		{Flag: "attach", Feature: codec.SendParts},
	},
	Trial:    "--agent script:agent.script",
	Complete: completion.None,

	Do: &verb.Steps[newOptions]{
		Flags: func(o *newOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Name, "name", "", "unique `NAME` of the session")
			f.StringVar(&o.Title, "title", "", "`TEXT` that describes the session")
			f.StringVar(&o.Agent, "agent", "", "`AGENT` to run")
			f.StringVar(&o.CWD, "cwd", "", "working `DIR` of the agent, on the server")
			f.StringArrayVar(&o.Env, "env", nil, "environment `K=V`, K= removes it; repeatable")
			f.StringArrayVar(&o.Labels, "label", nil, "set the label `K=V` of the session; repeatable")
			o.Settings.add(f)
			o.Sandbox.add(cmd)
			o.Worktree.add(cmd)
			f.StringVar(&o.Load, "load", "", "continue the agent's own session `ID`")
			f.BoolVar(&o.Lazy, "lazy", false, "start the agent with the first message")
			f.BoolVar(&o.NoCheck, "no-check", false, "create it even if the agent cannot start")
			f.StringVar(&o.Prompt, "prompt", "", "`TEXT` of the first message")
			f.BoolVarP(&o.Wait, "wait", "w", false, "wait for the end of its turn, as send does")
			f.BoolVarP(&o.Follow, "follow", "f", false, "wait and print the answer")
			turn.AddDeniedFlag(cmd, &o.FailOnDenied)
			turn.AddAttachFlag(cmd, &o.Attach)
			verb.AddKeyFlag(cmd, &o.Key)
			_ = cmd.RegisterFlagCompletionFunc("agent", completion.Agents(o.CLI))
			verb.CompleteDirs(cmd, "cwd")
			verb.CompleteValues(cmd, settingPolicy, policyNames())
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
	_, envErr := verb.ParsePairs("--env", o.Env)
	_, labelErr := verb.ParsePairs("--label", o.Labels)
	_, err := o.Settings.values()
	_, fileErr := o.Settings.policyFile()
	_, sandboxErr := o.Sandbox.value()
	return cmp.Or(envErr, labelErr, err, fileErr, sandboxErr)
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
	c, err := connection.OpenToCreate(ctx, o.CLI, policy, start.show)
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

// create creates the session with the attachments of its first message.
func (o *newOptions) create(c *connection.Conn, files []attachment.File) (res protocol.CreateResult, err error) {
	env, err := verb.ParsePairs("--env", o.Env)
	if err != nil {
		return res, err
	}
	labels, err := verb.ParsePairs("--label", o.Labels)
	if err != nil {
		return res, err
	}
	settings, err := o.Settings.values()
	if err != nil {
		return res, err
	}
	parts, err := turn.MessageParts(o.Prompt, files, c.Local)
	if err != nil {
		return res, err
	}
	data := protocol.CreateData{
		Name: o.Name, Title: o.Title, Agent: o.Agent, CWD: o.CWD, Env: env, Prompt: o.Prompt, Parts: parts,
		Labels: labels, Settings: settings, Load: o.Load, Lazy: o.Lazy, Check: !o.NoCheck && !o.Lazy,
	}
	if data.Policy, err = o.Settings.policyFile(); err != nil {
		return res, err
	}
	if data.Sandbox, err = o.Sandbox.value(); err != nil {
		return res, err
	}
	if c.Local {
		if err := connection.ResolvePaths(&data); err != nil {
			return res, err
		}
	}
	if data.Agent == "" && o.Load == "" {
		if data.Agent, err = localagent.Choose(o.CLI, c.Own, c.Hello().Agents); err != nil {
			return res, err
		}
	}
	if c.Own && o.CLI.Flags.Dialect == "" {
		data.Env = localagent.Of(o.CLI).Environment(data.Agent)
		maps.Copy(data.Env, env)
	}
	res, err = o.createIn(c, &data)
	return res, localagent.Of(o.CLI).WithKeyHint(err, data.Agent, c.Own)
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&newVerb, &runVerb, &upVerb}
