package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/agents"
	"agentctl/internal/attachment"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type newOptions struct {
	app *app

	Name     string
	Title    string
	Agent    string
	CWD      string
	Env      []string
	Labels   []string
	Settings settingFlags
	Worktree worktreeFlags
	Load     string
	Lazy     bool
	NoCheck  bool
	Prompt   string
	Wait     bool
	Follow   bool
	Attach   []string
	Key      string
}

func newNew(a *app, run func(context.Context, *newOptions) error) *cobra.Command {
	o := &newOptions{app: a}
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Create a session",
		Long: `Create a session and print its id. AGENT is an agent of the server's configuration, a
preset (see "agentctl agents"), or ad hoc: "acp:COMMAND ARG…" for a command that speaks the Agent
Client Protocol, "script:FILE" for a script. Without --agent it is the default of the server, else
the first agent that is ready: with a key in the environment, or installed and logged in. On the local server the session works in the current
directory unless you pass --cwd.

The agent starts at once. If it is not installed, needs a login or cannot start, new fails and there
is no session; --no-check creates the session all the same, and --lazy starts the agent with the
first message. On your own server, the variables that known agents need, above all API keys, and
those that "pass_env" in your configuration names come from your shell; a variable that your shell
lacks is removed. Another server gets only what --env names. They are never shown or logged.

--load continues a session that the agent has stored itself; "agentctl agents sessions" lists them.
The end of its conversation becomes the first turn, if the agent repeats it.

--wait and --follow wait for the end of the first message's turn, with the exit codes and the output
of "agentctl send".

--policy chooses what runs without asking: ask (default), auto-read, auto-edit, deny or plan, or
a file with rules (docs/agents.md).
"agentctl set SESSION policy NAME" changes it.

--worktree gives the session a git worktree of its own, on a new branch BRANCH (else the session's
name) that starts at --base or what is checked out, or on a branch that exists. The directory is
beside the repository; "worktree" in the configuration file has another "path", a template, and a
"setup" command that runs there. If something fails, nothing of it is left. The label worktree has
the branch, and "agentctl rm" removes the worktree when nothing is lost. The server must be on this
machine.

--mode, --model and --option choose settings of the agent before its first message;
"agentctl options" lists them. --attach sends files with the first message, as that of
"agentctl send".`,
		Example: "  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n" +
			"  agentctl new --worktree fix/login --base main --agent claude\n" +
			"  S=$(agentctl new --agent \"acp:my-agent --acp\")",
		Args: rangeArgs(0, 1),
		RunE: runE(a, o, func(args []string) error {
			return cmp.Or(o.Worktree.setArgs(args), o.check())
		}, run),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "unique `NAME` of the session")
	f.StringVar(&o.Title, "title", "", "`TEXT` that describes the session")
	f.StringVar(&o.Agent, "agent", "", "`AGENT` to run")
	f.StringVar(&o.CWD, "cwd", "", "working `DIR` of the agent, on the server")
	f.StringArrayVar(&o.Env, "env", nil, "set `K=V` in its environment, K= removes; repeatable")
	f.StringArrayVar(&o.Labels, "label", nil, "set the label `K=V` of the session; repeatable")
	o.Settings.add(f)
	o.Worktree.add(cmd)
	f.StringVar(&o.Load, "load", "", "continue the agent's own session `ID`")
	f.BoolVar(&o.Lazy, "lazy", false, "start the agent with the first message")
	f.BoolVar(&o.NoCheck, "no-check", false, "create the session even if the agent cannot start")
	f.StringVar(&o.Prompt, "prompt", "", "`TEXT` of the first message")
	f.BoolVarP(&o.Wait, "wait", "w", false, "wait for the end of its turn, as send does")
	f.BoolVarP(&o.Follow, "follow", "f", false, "wait and print the answer")
	addAttachFlag(cmd, &o.Attach)
	addKeyFlag(cmd, &o.Key)
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	completeDirs(cmd, "cwd")
	completeValues(cmd, settingPolicy, policyNames())
	return cmd
}

func (o *newOptions) check() error {
	if (o.Wait || o.Follow) && o.Prompt == "" && len(o.Attach) == 0 {
		return exit.Usagef("--wait and --follow need a --prompt")
	}
	_, envErr := parsePairs("--env", o.Env)
	_, labelErr := parsePairs("--label", o.Labels)
	_, err := o.Settings.values()
	_, fileErr := o.Settings.policyFile()
	return cmp.Or(envErr, labelErr, err, fileErr)
}

func runNew(ctx context.Context, o *newOptions) error {
	files, err := readAttachments(o.Attach)
	if err != nil {
		return err
	}
	policy := oneShot
	if o.Wait || o.Follow {
		policy = bounded
	}
	c, err := o.app.connectWith(ctx, policy)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := o.create(c, files)
	if err != nil {
		return err
	}
	if d, _ := dialect.Find(o.app.flags.Dialect); d.SessionTerm != "" && !o.app.json() {
		o.app.notef("other verbs and the clients of %s use it as the %s", d.Name, d.SessionTerm)
	}
	if err := o.app.print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) }); err != nil {
		return err
	}
	if !o.Wait && !o.Follow {
		return nil
	}
	if res.Message == nil {
		return exit.Unsupportedf("the server does not report the first message: agentctl wait %s", res.Session)
	}
	t := messageTracker{app: o.app, message: res.Message.MessageID, turn: res.Message.Turn, print: o.Follow}
	return t.trackUntilInterrupted(c, res.Session, res.Message.Seq)
}

// create creates the session with the attachments of its first message.
func (o *newOptions) create(c *connection, files []attachment.File) (res protocol.CreateResult, err error) {
	env, err := parsePairs("--env", o.Env)
	if err != nil {
		return res, err
	}
	labels, err := parsePairs("--label", o.Labels)
	if err != nil {
		return res, err
	}
	settings, err := o.Settings.values()
	if err != nil {
		return res, err
	}
	parts, err := messageParts(o.Prompt, files, c.local)
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
	if c.local {
		if err := resolvePaths(&data); err != nil {
			return res, err
		}
	}
	if data.Agent == "" && o.Load == "" {
		if data.Agent, err = o.app.chooseAgent(c); err != nil {
			return res, err
		}
	}
	if c.own && o.app.flags.Dialect == "" {
		data.Env = o.app.shellEnvironment(data.Agent)
		maps.Copy(data.Env, env)
	}
	res, err = o.createIn(c, &data)
	return res, o.app.withKeyHint(err, data.Agent, c.own)
}

// resolvePaths makes the paths of a new session absolute: the server runs in another directory.
func resolvePaths(d *protocol.CreateData) error {
	cwd, err := filepath.Abs(d.CWD) // "" is the current directory
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return exit.Usagef("--cwd %s is not a directory", d.CWD)
	}
	d.CWD = cwd
	if file, ok := strings.CutPrefix(d.Agent, agents.ScriptScheme); ok {
		if file, err = filepath.Abs(file); err != nil {
			return fmt.Errorf("script: %w", err)
		}
		d.Agent = agents.ScriptScheme + file
	}
	return nil
}
