package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type statusOptions struct {
	app *app

	Session string
}

func newStatus(a *app, run func(context.Context, *statusOptions) error) *cobra.Command {
	o := &statusOptions{app: a}
	return &cobra.Command{
		Use:   "status SESSION",
		Short: "Show what a session is doing",
		Long: `Show what a session is doing: its status (idle, running, waiting for a decision, closed), its position, the turn under way, the
queue, what waits for a decision, how full the context is and who is attached.`,
		Example:           "  agentctl status fix\n  agentctl status fix -o json | jq .status",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

// A statusView is the status of a session as scripts read it. Lists are never null.
type statusView struct {
	Session   string                `json:"session"`
	Name      string                `json:"name,omitempty"`
	Title     string                `json:"title,omitempty"`
	Agent     string                `json:"agent,omitempty"`
	CWD       string                `json:"cwd,omitempty"`
	Status    protocol.Status       `json:"status"`
	Seq       uint64                `json:"seq"`
	Epoch     string                `json:"epoch"`
	Turn      *string               `json:"turn"` // under way, or null
	Last      *protocol.LastTurn    `json:"last,omitempty"`
	Turns     int                   `json:"turns"`
	Queue     []protocol.Message    `json:"queue"`
	Holds     []protocol.Hold       `json:"holds"`
	Approvals []protocol.Approval   `json:"approvals"`
	Rules     int                   `json:"rules"`
	Plan      *protocol.Plan        `json:"plan,omitempty"`
	Context   *protocol.ContextInfo `json:"context"`
	Usage     *protocol.Usage       `json:"usage,omitempty"`
	Clients   []protocol.Client     `json:"clients"`
}

func newStatusView(r *protocol.SnapshotResult) *statusView {
	s := r.Snapshot.State
	v := &statusView{
		Session: s.Session, Name: s.Name, Title: s.Title, Agent: s.Agent, CWD: s.CWD, Status: r.Status, Seq: s.Seq,
		Epoch: r.Snapshot.Epoch, Last: s.Last, Turns: s.Turns, Queue: list(s.Queue), Holds: list(s.Holds), Approvals: list(s.Approvals),
		Rules: len(s.Rules), Plan: s.Plan, Context: s.Context, Usage: s.Usage, Clients: list(r.Clients),
	}
	if s.Turn != nil {
		v.Turn = &s.Turn.Turn
	}
	return v
}

// list is never nil, so that JSON says [] and not null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// snapshot asks for a session's state now.
func (l *link) snapshot(session string) (*protocol.SnapshotResult, error) {
	r, err := ask[protocol.SnapshotResult](l, protocol.DoSnapshot, session, nil)
	if err != nil {
		return nil, err
	}
	if r.Snapshot.State == nil {
		return nil, fmt.Errorf("snapshot of %s: the server sent no state", session)
	}
	return &r, nil
}

func runStatus(ctx context.Context, o *statusOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	r, err := l.snapshot(o.Session)
	if err != nil {
		return err
	}
	v := newStatusView(r)
	return o.app.emit(v, func(w io.Writer) { v.write(w, r.Snapshot.State) })
}

func (v *statusView) write(w io.Writer, s *protocol.State) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("session", "%s  %s", v.Session, oneLine(v.Name, 40))
	if v.Title != "" {
		row("title", "%s", oneLine(v.Title, 80))
	}
	row("status", "%s", v.Status)
	row("agent", "%s  %s", cell(v.Agent, 40), oneLine(v.CWD, 0))
	row("position", "%s", protocol.Position{Epoch: v.Epoch, Seq: v.Seq})
	if s.Turn != nil {
		row("turn", "%s  %s", s.Turn.Turn, oneLine(s.Turn.Message.Text, 72))
	}
	if v.Last != nil {
		row("last turn", "%s  %s %s", v.Last.Turn, v.Last.Reason, oneLine(v.Last.Message, 72))
	}
	if c := v.Context; c != nil {
		row("context", "%.0f%%  %d of %d tokens", c.Percent, c.Tokens, c.MaxTokens)
	}
	for i, h := range v.Holds {
		row(first(i, "holds"), "%s  %s %s by %s", h.ID, h.Reason, h.MessageID, actor(h.By))
	}
	for i := range v.Queue {
		row(first(i, "queue"), "%s", queueLine(i, &v.Queue[i]))
	}
	for i := range v.Approvals {
		row(first(i, "approvals"), "%s", approvalLine(&v.Approvals[i]))
	}
	for i, c := range v.Clients {
		lag := ""
		if c.LagEvents > 0 {
			lag = fmt.Sprintf("  %d events behind", c.LagEvents)
		}
		row(first(i, "clients"), "%s  %s%s", actor(&c.By), oneLine(c.Agent, 40), lag)
	}
	_ = t.Flush() // w keeps its error
}

// first names a row's block on its first line.
func first(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

// actor is a person's name for people.
func actor(a *protocol.Actor) string {
	if a == nil || a.Name == "" {
		return "-"
	}
	return oneLine(a.Name, 40)
}
