package read

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{
	&statusVerb, &eventsVerb, &historyVerb, &searchVerb, &exportVerb, &blobVerb, &contextVerb, &optionsVerb,
}

var statusVerb = verb.Verb{
	Use:   "status SESSION",
	Short: "Show the status of a session",
	Long: `Show the status of a session (idle, running, waiting for an approval, closed), its
position, current turn, queue, pending approvals, context usage and attached clients.`,
	Example: "  agentctl status fix\n  agentctl status fix -o json | jq .status",
	Group:   verb.GroupSession, Reads: true, Sends: protocol.DoSnapshot,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{Run: printStatus},
}

// A statusResult is the status of a session in JSON. Lists are never null.
type statusResult struct {
	Session  string `json:"session"`
	Name     string `json:"name,omitempty"`
	Title    string `json:"title,omitempty"`
	Agent    string `json:"agent,omitempty"`
	CWD      string `json:"cwd,omitempty"`
	Parent   string `json:"parent,omitempty"`    // the session whose agent created it
	SubAgent bool   `json:"sub_agent,omitempty"` // it shows a sub-agent of the parent's agent

	Status protocol.Status    `json:"status"`
	Seq    uint64             `json:"seq"`
	Epoch  string             `json:"epoch"`
	Turn   *string            `json:"turn"` // current turn, or null
	Last   *protocol.LastTurn `json:"last,omitempty"`
	Turns  int                `json:"turns"`

	Queue     []protocol.Message     `json:"queue"`
	Holds     []protocol.Hold        `json:"holds"`
	Scheduled []protocol.Message     `json:"scheduled,omitempty"` // by time
	Approvals []protocol.Approval    `json:"approvals"`
	Plan      *protocol.Plan         `json:"plan,omitempty"`
	Context   *protocol.ContextInfo  `json:"context"`
	Usage     *protocol.Usage        `json:"usage,omitempty"`
	Limits    []protocol.UsageWindow `json:"limits,omitempty"` // of the agent's account, as last reported

	Rules      int              `json:"rules"`
	Policy     string           `json:"policy,omitempty"`
	Sandbox    protocol.Sandbox `json:"sandbox,omitzero"`      // absent: none
	MCPServers []string         `json:"mcp_servers,omitempty"` // names of those that the session's creator gave

	Clients     []protocol.Client      `json:"clients"`                // this and what follows are not in the log
	ClientCount int                    `json:"client_count,omitempty"` // if Clients lacks some
	Process     *protocol.AgentProcess `json:"process,omitempty"`
}

func newStatusResult(r *protocol.SnapshotResult) *statusResult {
	s := r.Snapshot.State
	v := &statusResult{
		Session: s.Session, Name: s.Name, Title: s.Title, Agent: s.Agent, CWD: s.CWD, Parent: s.Parent, SubAgent: s.SubAgent,
		Status: r.Status, Seq: s.Seq, Epoch: r.Snapshot.Epoch, Last: s.Last, Turns: s.Turns,
		Queue: output.NonNil(s.Queue), Holds: output.NonNil(s.Holds), Scheduled: s.Scheduled,
		Approvals: output.NonNil(s.Approvals), Plan: s.Plan, Context: s.Context, Usage: s.Usage, Limits: s.Limits,
		Rules: len(s.Rules), Policy: s.Policy(), Sandbox: s.Sandbox, MCPServers: s.MCPServers,
		Clients: output.NonNil(r.Clients), ClientCount: r.ClientCount, Process: r.Process,
	}
	if s.Turn != nil {
		v.Turn = &s.Turn.Turn
	}
	return v
}

func printStatus(c *call.Call) error {
	r, err := c.Snapshot()
	if err != nil {
		return err
	}
	result := newStatusResult(r)
	return c.CLI.Out.Print(result, func(w io.Writer) { result.write(w, r.Snapshot.State) })
}

// write writes the status as a table.
func (v *statusResult) write(w io.Writer, s *protocol.State) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("session", "%s  %s", v.Session, output.OneLine(v.Name, 40))
	if v.Title != "" {
		row("title", "%s", output.OneLine(v.Title, 80))
	}
	switch {
	case v.SubAgent:
		row("parent", "%s  this session shows a sub-agent of its agent", v.Parent)
	case v.Parent != "":
		row("parent", "%s  its agent created this session", v.Parent)
	}
	row("status", "%s", v.Status)
	row("agent", "%s  %s", output.Cell(v.Agent, 40), output.OneLine(v.CWD, 0))
	if v.Process != nil {
		row("process", "%s", processLine(v.Process))
	}
	if v.Policy != "" {
		row("policy", "%s", output.OneLine(v.Policy, 40))
	}
	row("sandbox", "%s", output.OneLine(v.Sandbox.String(), 40))
	if len(v.MCPServers) > 0 {
		row("mcp servers", "%s", output.OneLine(strings.Join(v.MCPServers, ", "), 80))
	}
	row("position", "%s", protocol.Position{Epoch: v.Epoch, Seq: v.Seq})
	if s.Turn != nil {
		row("turn", "%s  %s", s.Turn.Turn, output.OneLine(s.Turn.Message.Label(), 72))
	}
	if v.Last != nil {
		row("last turn", "%s  %s %s", v.Last.Turn, v.Last.Reason, output.OneLine(v.Last.Message, 72))
		if at := v.Last.ResetsAt; at != nil {
			row("", "the limit resets %s", output.LocalTime(*at))
		}
	}
	if c := v.Context; c != nil {
		row("context", "%s", contextText(c))
	}
	for i := range v.Limits {
		row(rowName(i, "limits"), "%s", describe.Window(&v.Limits[i], output.LocalTime))
	}
	for i, h := range v.Holds {
		until := ""
		if h.Until != nil {
			until = ", released " + output.LocalTime(*h.Until)
		}
		row(rowName(i, "holds"), "%s  %s %s by %s%s", h.ID, h.Reason, h.MessageID, output.Actor(h.By), until)
	}
	for i := range v.Queue {
		row(rowName(i, "queue"), "%s", output.Queued(i, &v.Queue[i]))
	}
	for i := range v.Scheduled {
		row(rowName(i, "scheduled"), "%s", output.Scheduled(&v.Scheduled[i]))
	}
	for i := range v.Approvals {
		row(rowName(i, "approvals"), "%s", output.Approval(&v.Approvals[i]))
	}
	for i, c := range v.Clients {
		lag := ""
		if c.LagEvents > 0 {
			lag = fmt.Sprintf("  %d events behind", c.LagEvents)
		}
		row(rowName(i, "clients"), "%s  %s%s", output.Actor(&c.By), output.OneLine(c.Agent, 40), lag)
	}
	if more := v.ClientCount - len(v.Clients); more > 0 {
		row("", "and %d more", more)
	}
	_ = t.Flush() // w keeps its error
}

// rowName returns the name of the i-th row of a block: only the first row has one.
func rowName(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

// processLine describes the process of the agent.
func processLine(p *protocol.AgentProcess) string {
	since := ""
	if p.Since != nil {
		since = p.Since.Local().Format(time.DateTime)
	}
	switch {
	case p.Phase == protocol.ProcessRunning && p.Restores:
		return "running since " + since
	case p.Phase == protocol.ProcessRunning:
		return "running since " + since + "; it cannot restore its conversation, so it is not ended when idle"
	case p.Phase == protocol.ProcessStarting:
		return strings.TrimPrefix(describe.Starting(p, time.Now()), "the agent ")
	case p.Idle:
		return "ended for idleness at " + since + "; resumes with the next message"
	}
	return "not running; starts with the next message"
}
