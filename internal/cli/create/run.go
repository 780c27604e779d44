package create

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The label of sessions that run created.
const (
	runsLabel = "run"
	runsValue = "one-shot"
)

type runOptions struct {
	verb.Options

	Prompt   []string
	Agent    string
	CWD      string
	Env      []string
	Settings settingFlags
	Sandbox  sandboxFlags
	Attach   []string
	Keep     bool
	Continue bool

	FailOnDenied bool
}

var runVerb = verb.Verb{
	Use:   "run [PROMPT|-]",
	Short: "Run one prompt and print the answer",
	Long: `Create a session, send PROMPT, print the answer as it arrives and remove the session. stdin that is
not a terminal goes with the prompt as context; without PROMPT, or with -, it is the prompt. A
request that --policy leaves open is shown on a terminal; elsewhere run exits 6, and the session and
its agent stay. The other exit codes are the same as for "agentctl send --wait". With -o json the
result is an object of type outcome. See docs/scripts.md.`,
	Example: "  agentctl run \"what does this project do?\"\n" +
		"  git diff | agentctl run \"review this change\"\n" +
		"  agentctl run --policy deny -o json \"find dead code\" | jq -r .text\n" +
		"  agentctl run --keep \"plan it\" && agentctl run --continue \"do step 1\"",
	Group: verb.GroupStart, Sends: protocol.DoCreate,
	Needs: []verb.FlagFeature{
		{Flag: "env", Feature: codec.CreateEnv},
		{Flag: "cwd", Feature: codec.CreateCWD},
		{Flag: "mode", Feature: codec.CreateSettings},
		{Flag: "model", Feature: codec.CreateSettings},
		{Flag: "option", Feature: codec.CreateSettings},
		{Flag: "policy", Feature: codec.CreateSettings},
		{Flag: settingLimit, Feature: codec.CreateSettings},
		{Flag: "sandbox", Feature: codec.CreateSandbox},
		{Flag: "sandbox-network", Feature: codec.CreateSandbox},
		{Flag: "attach", Feature: codec.SendParts},
	},

	Do: &verb.Steps[runOptions]{
		Flags: func(o *runOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Agent, "agent", "", "`AGENT` to run")
			f.StringVar(&o.CWD, "cwd", "", "working `DIR` of the agent, on the server")
			f.StringArrayVar(&o.Env, "env", nil, "environment `K=V`, K= removes it; repeatable")
			o.Settings.add(f)
			o.Sandbox.add(cmd)
			f.BoolVar(&o.Keep, "keep", false, "keep the session")
			f.BoolVarP(&o.Continue, "continue", "c", false, "continue the last kept run of this directory")
			turn.AddDeniedFlag(cmd, &o.FailOnDenied)
			turn.AddAttachFlag(cmd, &o.Attach)
			_ = cmd.RegisterFlagCompletionFunc("agent", completion.Agents(o.CLI))
			verb.CompleteDirs(cmd, "cwd")
			verb.CompleteValues(cmd, settingPolicy, policyNames())
		},
		Read: func(o *runOptions, args []string) error { o.Prompt = args; return o.check() },
		Run:  runRun,
	},
}

func (o *runOptions) check() error {
	settings, err := o.Settings.values()
	if err != nil {
		return err
	}
	if _, err := o.Settings.policyFile(); err != nil {
		return err
	}
	sandbox, err := o.Sandbox.value()
	if err != nil {
		return err
	}
	if o.Continue && (sandbox != (protocol.Sandbox{}) || o.Agent != "" || len(o.Env) > 0 || len(settings) > 0 || o.Settings.Policy != "") {
		return exit.Usagef("--continue uses the session as it is: omit --agent, --env, --sandbox and settings")
	}
	_, err = verb.ParsePairs("--env", o.Env)
	return err
}

func runRun(ctx context.Context, o *runOptions) (err error) {
	m, err := o.readMessage(ctx)
	if err != nil {
		return err
	}
	ctx, stop := verb.NotifySignal(ctx, os.Interrupt)
	c, err := connection.OpenWith(ctx, o.CLI, connection.Bounded)
	if err != nil {
		return errors.Join(stop(), err)
	}
	defer c.Close()
	session, sent, err := o.start(c, m)
	if err == nil {
		asker := asker{cli: o.CLI, connection: c, session: session}
		t := turn.Tracker{
			CLI: o.CLI, Message: sent.MessageID, Turn: sent.Turn, Print: !o.CLI.Out.JSON, Decide: asker.decide(),
			Continues: o.Settings.Limit != "", FailOnDenied: o.FailOnDenied,
		}
		err = t.Track(c, session, sent.Seq)
	}
	cut := c.Context().Err() != nil // by a signal or --timeout
	if signalled := stop(); signalled != nil {
		err = signalled
	}
	if session != "" {
		o.leave(c, session, cut, err)
	}
	return err
}

// start creates the session, or finds the one to continue, and sends the message. The session is
// not empty if it exists, also with an error.
func (o *runOptions) start(c *connection.Conn, m *runMessage) (session string, sent protocol.SendResult, err error) {
	parts, err := m.parts(c.Local)
	if err != nil {
		return "", sent, err
	}
	cwd, err := o.directory(c)
	if err != nil {
		return "", sent, err
	}
	if o.Continue {
		if session, err = lastRun(c, cwd); err != nil {
			return "", sent, err
		}
		data := protocol.SendData{Text: m.text, Parts: parts}
		sent, err = connection.Call[protocol.SendResult](c, protocol.DoSend, session, data)
		return session, sent, err
	}
	data := protocol.CreateData{
		Agent: o.Agent, CWD: cwd, Prompt: m.text, Parts: parts, Check: true,
		Labels: map[string]string{runsLabel: runsValue},
	}
	if data.Settings, err = o.Settings.values(); err != nil {
		return "", sent, err
	}
	if data.Policy, err = o.Settings.policyFile(); err != nil {
		return "", sent, err
	}
	if data.Sandbox, err = o.Sandbox.value(); err != nil {
		return "", sent, err
	}
	if c.Local {
		if err := connection.ResolvePaths(&data); err != nil {
			return "", sent, err
		}
	}
	if data.Agent == "" {
		if data.Agent, err = localagent.Choose(o.CLI, c.Own, c.Hello().Agents); err != nil {
			return "", sent, err
		}
	}
	env, err := verb.ParsePairs("--env", o.Env)
	if err != nil {
		return "", sent, err
	}
	data.Env = env
	if c.Own && o.CLI.Flags.Dialect == "" {
		data.Env = localagent.Of(o.CLI).Environment(data.Agent)
		maps.Copy(data.Env, env)
	}
	created, err := createUninterrupted(c, data)
	switch {
	case err != nil:
		return created.Session, sent, err
	case created.Message == nil:
		return created.Session, sent, exit.Unsupportedf("the server does not report the first message")
	}
	return created.Session, *created.Message, nil
}

// directory returns the working directory on the server; empty: the server's.
func (o *runOptions) directory(c *connection.Conn) (string, error) {
	if !c.Local {
		return o.CWD, nil
	}
	return filepath.Abs(o.CWD)
}

// createUninterrupted creates a session. If a signal ends the connection's context before the
// answer, it waits a while for the answer: the session exists then and is to be removed.
func createUninterrupted(c *connection.Conn, data protocol.CreateData) (protocol.CreateResult, error) {
	type answer struct {
		protocol.CreateResult
		err error
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		var a answer
		body, err := protocol.Encode(data)
		if err == nil {
			err = c.Do(ctx, protocol.Command{Command: protocol.DoCreate, Data: body}, &a.CreateResult)
		}
		a.err = c.Cause(err)
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.CreateResult, a.err
	case <-c.Context().Done():
	}
	defer time.AfterFunc(leaveTimeout, cancel).Stop()
	a := <-answers
	return a.CreateResult, context.Cause(c.Context())
}

// lastRun returns the last session that run kept in a directory.
func lastRun(c *connection.Conn, cwd string) (string, error) {
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list.Sessions, func(s protocol.Summary) bool {
		return s.Labels[runsLabel] == runsValue && (cwd == "" || s.CWD == cwd)
	})
	if i < 0 {
		return "", exit.Errorf(exit.NoSession, protocol.CodeNoSession, "no run was kept in this directory").
			WithHint(`keep one: agentctl run --keep "PROMPT"`)
	}
	return list.Sessions[i].Session, nil
}
