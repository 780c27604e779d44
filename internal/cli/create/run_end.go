package create

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/plain"
	"agentctl/wsclient"
)

// leaveTimeout bounds the end of a session after the end of the run.
const leaveTimeout = 10 * time.Second

// leave ends the run with the result err: it removes the session, or keeps it and says so. A
// session that waits for a decision is kept. cut: the turn may run on, and is interrupted.
func (o *runOptions) leave(c *connection.Conn, session string, cut bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), leaveTimeout)
	defer cancel()
	var e *exit.Error
	waits := errors.As(err, &e) && e.Status == exit.NeedsPerson
	if !waits && !o.Keep && !o.Continue {
		data := protocol.CloseData{Delete: true}
		if _, err := wsclient.Call[protocol.Empty](ctx, c.Client, protocol.DoClose, session, data); err != nil {
			o.CLI.Out.Notef("the session %s was not removed: %s", session, err)
		}
		return
	}
	if cut {
		_, _ = wsclient.Call[protocol.InterruptResult](ctx, c.Client, protocol.DoInterrupt, session,
			protocol.InterruptData{}) // the session is kept as it is
	}
	switch {
	case waits && !c.Ephemeral():
		o.CLI.Out.Notef("kept %[1]s and its agent (about 400 MB each) until somebody decides: agentctl approve %[1]s, or deny; "+
			"to end both: agentctl rm %[1]s", session)
	case !o.CLI.Out.JSON:
		o.CLI.Out.Notef("kept %[1]s: agentctl attach %[1]s; agentctl run --continue", session)
	}
}

// An asker asks the user on a terminal about the requests of a run.
type asker struct {
	cli        *verb.Context
	connection *connection.Conn
	session    string
}

// decide returns the function that decides pending requests; nil: there is no terminal.
func (k *asker) decide() func(*protocol.State) error {
	if k.cli.Out.JSON || !output.IsTerminal(k.cli.Stdin) || !output.IsTerminal(k.cli.Out.Stderr) {
		return nil
	}
	return func(s *protocol.State) error {
		for i := range s.Approvals {
			if err := k.ask(s, &s.Approvals[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// ask shows a request and sends the decision of the user.
func (k *asker) ask(s *protocol.State, a *protocol.Approval) error {
	if a.Kind == protocol.ApproveQuestion || a.Kind == protocol.ApprovePlan {
		return turn.ApprovalNeeded(s) // it takes more than a decision
	}
	out := &output.CleanWriter{W: k.cli.Out.Stderr}
	fmt.Fprint(out, "\n"+plain.Request(a, time.Local, output.Columns(k.cli.Out.Stderr)))
	decision := protocol.Decision("")
	for decision == "" {
		answer, err := k.cli.Input().Ask(k.connection.Context(), out, "allow once? y yes, n no, s no and stop: ")
		if err != nil {
			return err
		}
		decision = map[string]protocol.Decision{
			"y": protocol.AllowOnce, "yes": protocol.AllowOnce, "n": protocol.Deny, "no": protocol.Deny,
			"s": protocol.DenyStop, "stop": protocol.DenyStop,
		}[answer]
	}
	_, err := connection.Call[protocol.ApproveResult](k.connection, protocol.DoApprove, k.session,
		protocol.ApproveData{Request: a.Request, Decision: decision})
	if protocol.CodeOf(err) == protocol.CodeConflict { // somebody else has decided
		return nil
	}
	return err
}
