package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/output"
	"agentctl/server/session/record"
)

// A SubAgent is a sub-agent of a carried session, with its newest finished turns.
type SubAgent struct {
	Session string          `json:"session"` // of the source
	Parent  string          `json:"parent"`  // of the source
	Agent   *agent.SubAgent `json:"agent"`
	Title   string          `json:"title,omitempty"`
	Turns   int             `json:"turns,omitempty"` // finished ones, with those that History lacks
	History []Event         `json:"history,omitempty"`
}

// A SubAgentPast is the past of a sub-agent that gets a session below a new one.
type SubAgentPast struct {
	Session string // the new one
	Parent  string // the new one; empty: the session that the past is of
	Agent   *agent.SubAgent
	Title   string
	Past    Past
}

// NewSessions are the sessions that the sub-agents of a new session get.
type NewSessions struct {
	ID   func(id string) string // by the agent's own id of it
	Most int                    // how many are made
}

// readSubAgents returns those of the sub-agents below a session, each after its parent, that the carried
// events name, with as many of their finished turns as fit most bytes. Turns that began after a time are
// left out; zero: none. Errors are the store's.
func readSubAgents(
	ctx context.Context, store Store, log *slog.Logger, of []SubAgent, history []Event, until time.Time, most int,
) ([]SubAgent, error) {
	var carried []SubAgent
	named := map[string]bool{}
	collect := func(events []Event) {
		for i := range events {
			if session := namedSession(&events[i]); session != "" {
				named[session] = true
			}
		}
	}
	collect(history)
	for _, s := range of {
		raw, err := record.Encode(s)
		if err != nil {
			return nil, err
		}
		size := len(raw) + len(`"history":[],`)
		if !named[s.Session] || size > most {
			continue
		}
		most -= size
		const newest = ^uint64(0)
		turns, err := ReadTurns(ctx, store, log, s.Session, newest, most)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(turns) {
			if !until.IsZero() && t.events[0].Time.After(until) {
				s.Turns--
				continue
			}
			s.History = append(s.History, t.events...)
			most -= t.bytes
		}
		collect(s.History)
		carried = append(carried, s)
	}
	return carried, nil
}

// namedSession returns the session that a call stands for, or "".
func namedSession(e *Event) string {
	if e.Type != protocol.ToolStarted {
		return ""
	}
	data, err := e.decode()
	if err != nil {
		return ""
	}
	return data.(*protocol.ToolStartedData).Session
}

// newPast returns the turns of a past of a session, and the pasts of its sub-agents, with the ids of their
// new sessions. No turn may have a message with one of the ids in use.
func newPast(
	source string, history []Event, inUse []protocol.Message, of []SubAgent, made NewSessions,
) (*Past, error) {
	var rest []record.Event
	if n := len(of) - max(made.Most, 0); n > 0 {
		of = of[:len(of)-n]
		rest = append(rest, note(fmt.Sprintf("the session has too many sub-agents: %d without a session", n)))
	}
	ids, used := map[string]string{source: ""}, map[string]bool{}
	for i := range of {
		s := &of[i]
		_, parent := ids[s.Parent]
		if _, again := ids[s.Session]; again || !parent || s.Agent == nil || used[s.Agent.ID] {
			return nil, fmt.Errorf("sub-agent %d has no parent, or the id of another", i+1)
		}
		used[s.Agent.ID], ids[s.Session] = true, made.ID(s.Agent.ID)
	}
	turns, err := check(renamed(history, ids), inUse)
	if err != nil {
		return nil, err
	}
	p := &Past{Turns: turns, Rest: rest}
	for i := range of {
		s := &of[i]
		turns, err := check(renamed(s.History, ids), nil)
		if err != nil {
			return nil, fmt.Errorf("sub-agent %d: %w", i+1, err)
		}
		past := Past{Turns: turns, Origin: earlierTurns(s.Turns - finished(s.History))}
		p.SubAgents = append(p.SubAgents, SubAgentPast{
			Session: ids[s.Session], Parent: ids[s.Parent], Agent: s.Agent, Title: s.Title, Past: past,
		})
	}
	return p, nil
}

// finished returns the number of turns in a history.
func finished(history []Event) (n int) {
	for i := range history {
		if history[i].Type == protocol.TurnEnded {
			n++
		}
	}
	return n
}

// renamed returns events with the new ids of the sessions of sub-agents. A session that has none is not
// named.
func renamed(events []Event, ids map[string]string) []Event {
	out := slices.Clone(events)
	for i := range out {
		e := &out[i]
		if e.Type != protocol.ToolStarted && e.Type != protocol.ApprovalRequested {
			continue
		}
		data, err := e.decode()
		if err != nil {
			continue // check refuses it
		}
		switch d := data.(type) {
		case *protocol.ToolStartedData:
			if d.Session == "" {
				continue
			}
			d.Session = output.ID(ids[d.Session])
		case *protocol.Approval:
			if d.SubAgent == nil {
				continue
			}
			d.SubAgent.Session = output.ID(ids[d.SubAgent.Session])
		}
		e.Data = protocol.MustEncode(data)
	}
	return out
}

// ownRequests are the requests of a session so far that are its own. Those of its sub-agents may be
// decided after the turn in which they were asked; they are carried with the sub-agents.
type ownRequests map[string]bool

// carry reports whether an event of the session is carried, by the request that it is about.
func (o ownRequests) carry(session string, e *Event) bool {
	switch e.Type {
	case protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved:
	default:
		return true
	}
	var d struct {
		Request  string             `json:"request"`
		SubAgent *protocol.SubAgent `json:"sub_agent"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return true // check refuses it
	}
	if e.Type == protocol.ApprovalRequested {
		o[d.Request] = d.SubAgent == nil || d.SubAgent.Session == session
	}
	return o[d.Request]
}
