package mcp

import (
	"maps"
	"strings"
	"time"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/policy"
)

// Limits of lists in results, and of lines in them, in characters.
const (
	maxMCPSessions = 50
	maxMCPItems    = 20
	maxMCPLine     = 160
)

// An mcpSession is a session in a result.
type mcpSession struct {
	Session string          `json:"session"`
	Name    string          `json:"name,omitempty"`
	Title   string          `json:"title,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	CWD     string          `json:"cwd,omitempty"`
	Parent  string          `json:"parent,omitempty"` // the session whose agent created it
	Status  protocol.Status `json:"status"`
}

func newMCPSession(id, name, title, agent, cwd, parent string, status protocol.Status) mcpSession {
	return mcpSession{
		id, output.OneLine(name, maxMCPLine), output.OneLine(title, maxMCPLine), output.OneLine(agent, maxMCPLine),
		output.OneLine(cwd, 0), parent, status,
	}
}

type mcpListInput struct {
	Closed bool   `json:"closed,omitempty" jsonschema:"include closed sessions"`
	Parent string `json:"parent,omitempty" jsonschema:"id of a session: only those that its agent created"`
}

type mcpList struct {
	Note     string          `json:"note"`
	Sessions []mcpListedItem `json:"sessions"`
	More     int             `json:"more,omitempty"` // sessions that are not in the result
}

type mcpListedItem struct {
	mcpSession

	Doing   string    `json:"doing,omitempty"`
	Output  string    `json:"output,omitempty"` // the last line that the agent wrote
	Updated time.Time `json:"updated"`
}

// list lists sessions.
func (c *mcpCall) list(in *mcpListInput) (*mcpList, error) {
	all, err := connection.Call[protocol.ListResult](c.Conn, protocol.DoList, "", protocol.ListData{Closed: in.Closed})
	if err != nil {
		return nil, err
	}
	result := &mcpList{Note: mcpNote, Sessions: []mcpListedItem{}}
	for i := range all.Sessions {
		s := &all.Sessions[i]
		switch {
		case in.Parent != "" && s.Parent != in.Parent:
		case len(result.Sessions) == maxMCPSessions:
			result.More++
		default:
			result.Sessions = append(result.Sessions, mcpListedItem{
				newMCPSession(s.Session, s.Name, s.Title, s.Agent, s.CWD, s.Parent, s.Status),
				output.OneLine(s.Doing, maxMCPLine), output.OneLine(s.Output, maxMCPLine), s.Updated,
			})
		}
	}
	return result, nil
}

type mcpStatusInput struct {
	Session string `json:"session" jsonschema:"id or name of the session"`
}

type mcpStatus struct {
	Note string `json:"note"`
	mcpSession

	Seq       uint64             `json:"seq"`
	Message   string             `json:"message,omitempty"` // of the turn that runs
	Queue     []string           `json:"queue,omitempty"`
	Approvals []string           `json:"approvals,omitempty"` // what the user must decide
	Plan      []string           `json:"plan,omitempty"`
	Last      *protocol.LastTurn `json:"last_turn,omitempty"`
	Context   float64            `json:"context_percent,omitempty"`
}

// status shows one session.
func (c *mcpCall) status(in *mcpStatusInput) (*mcpStatus, error) {
	r, err := c.Snapshot(in.Session)
	if err != nil {
		return nil, err
	}
	s := r.Snapshot.State
	v := &mcpStatus{
		Note: mcpNote, mcpSession: newMCPSession(s.Session, s.Name, s.Title, s.Agent, s.CWD, s.Parent, r.Status),
		Seq: s.Seq, Last: s.Last,
	}
	if s.Turn != nil {
		v.Message = output.OneLine(s.Turn.Message.Label(), maxMCPLine)
	}
	for i := range s.Queue[:min(len(s.Queue), maxMCPItems)] {
		m := &s.Queue[i]
		v.Queue = append(v.Queue, m.MessageID+"  "+output.OneLine(m.Text, maxMCPLine))
	}
	for i := range s.Approvals[:min(len(s.Approvals), maxMCPItems)] {
		v.Approvals = append(v.Approvals, output.Approval(&s.Approvals[i]))
	}
	if s.Plan != nil {
		for _, t := range s.Plan.Tasks[:min(len(s.Plan.Tasks), maxMCPItems)] {
			v.Plan = append(v.Plan, string(t.Status)+"  "+output.OneLine(t.Title, maxMCPLine))
		}
	}
	return v, nil
}

type mcpNewInput struct {
	Agent  string `json:"agent,omitempty" jsonschema:"name of an agent, such as claude; default: the server's"`
	Prompt string `json:"prompt,omitempty" jsonschema:"the first message"`
	Name   string `json:"name,omitempty" jsonschema:"unique name of the session"`
	Title  string `json:"title,omitempty" jsonschema:"text that describes the session"`
	CWD    string `json:"cwd,omitempty" jsonschema:"working directory; default: the directory of this program"`
	Model  string `json:"model,omitempty" jsonschema:"model of the agent"`
	Key    string `json:"key,omitempty" jsonschema:"idempotency key: calls with the same key act once"`
}

type mcpNew struct {
	Session string         `json:"session"`
	Message *mcpSentResult `json:"message,omitempty"`
}

// create creates a session. Its agent is one of the server's: any other name is a command, which
// would run without an approval.
func (c *mcpCall) create(in *mcpNewInput) (*mcpNew, error) {
	if scheme, _, adHoc := strings.Cut(in.Agent, ":"); adHoc && scheme+":" != agents.LLMScheme && !c.isAgent() {
		return nil, exit.From(protocol.Errorf(protocol.CodeForbidden,
			"agentctl mcp creates sessions of the server's agents only, not of %.80q", in.Agent)).
			WithHint("the user names them with: agentctl agents")
	}
	data := protocol.CreateData{
		Name: in.Name, Title: in.Title, Agent: in.Agent, CWD: in.CWD, Prompt: in.Prompt, Check: true,
	}
	data.Settings = map[string]string{}
	if in.Model != "" {
		data.Settings["model"] = in.Model
	}
	if !c.isAgent() { // as the server does for its agents
		data.Labels = map[string]string{mcpLabel: c.clientName()}
		data.Settings[protocol.PolicySetting] = string(policy.Ask)
	}
	if c.Own {
		data.Env = maps.Clone(localagent.Of(c.cli).Environment(in.Agent))
	}
	if c.Local {
		if err := connection.ResolvePaths(&data); err != nil {
			return nil, err
		}
	}
	r, err := connection.CallWithKey[protocol.CreateResult](c.Conn, protocol.DoCreate, "", in.Key, data)
	if err != nil {
		return nil, err
	}
	result := &mcpNew{Session: r.Session}
	if r.Message != nil {
		result.Message = newMCPSent(r.Message)
	}
	return result, nil
}
