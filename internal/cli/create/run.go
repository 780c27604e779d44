package create

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// The label of sessions that run created.
const (
	runsLabel = "run"
	runsValue = "one-shot"
)

type runOptions struct {
	verb.Options

	SessionFlags
	Prompt   []string
	Keep     bool
	Continue bool
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
	Needs: sessionNeeds,

	Do: &verb.Steps[runOptions]{
		Flags: func(o *runOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			o.SessionFlags.add(o.CLI, cmd)
			f.BoolVar(&o.Keep, "keep", false, "keep the session")
			f.BoolVarP(&o.Continue, "continue", "c", false, "continue the last kept run of this directory")
		},
		Read: func(o *runOptions, args []string) error { o.Prompt = args; return o.check() },
		Run:  runRun,
	},
}

func (o *runOptions) check() error {
	d, err := o.data()
	if err != nil {
		return err
	}
	if o.Continue && (d.Sandbox != (protocol.Sandbox{}) || d.Agent != "" || len(d.Env)+len(d.Settings) > 0 || d.Policy != nil) {
		return exit.Usagef("--continue uses the session as it is: omit --agent, --env, --sandbox and settings")
	}
	return nil
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
	data, err := o.data()
	if err != nil {
		return "", sent, err
	}
	data.CWD, data.Prompt, data.Parts, data.Check = cwd, m.text, parts, true
	data.Labels = map[string]string{runsLabel: runsValue}
	if err := complete(o.CLI, c, &data); err != nil {
		return "", sent, err
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
