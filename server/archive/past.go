package archive

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/item"
	"agentctl/server/session/output"
	"agentctl/server/session/record"
)

// A Past is the part of a new session that comes from another session or from a log. Its events are
// recorded in this order, after session.created; recording them cannot fail.
type Past struct {
	Origin []record.Event   // the source of the session
	Turns  []eventlog.Entry // finished turns and the events between them
	Rest   []record.Event   // state that the session continues with: plan, context, usage, waiting messages

	SubAgents []SubAgentPast // that get sessions below it, each after its parent
}

// restored returns the events about the source of a session and the turns left out.
func restored(by *protocol.Actor, from protocol.StateRestoredData, leftOut int) []record.Event {
	return append([]record.Event{{Type: protocol.StateRestored, By: by, Data: from}}, earlierTurns(leftOut)...)
}

// earlierTurns returns the notice of the turns left out, if there are any.
func earlierTurns(leftOut int) []record.Event {
	if leftOut <= 0 {
		return nil
	}
	text := "1 earlier turn is not in the exported state"
	if leftOut > 1 {
		text = fmt.Sprintf("%d earlier turns are not in the exported state", leftOut)
	}
	return []record.Event{note(text)}
}

func note(text string) record.Event {
	return record.Event{Type: protocol.Notice, Data: protocol.NoticeData{Level: protocol.LevelInfo, Message: text}}
}

// A checker checks the events of an exported state one after the other, and makes the entries
// that record them. Its state is reduced from the entries, so that recording them cannot fail.
type checker struct {
	state   protocol.State
	ids     map[string]bool // of turns, messages and requests so far
	started bool            // the current turn
	entries []eventlog.Entry
}

// check returns the entries of events, which must be complete turns and notices between them. No
// turn may have a message with one of the ids in use. Data that does not fit an event is split,
// moved to a blob or truncated, like an agent's output.
func check(events []Event, inUse []protocol.Message) ([]eventlog.Entry, error) {
	c := checker{ids: map[string]bool{}}
	for i := range inUse {
		c.ids["message "+inUse[i].MessageID] = true
	}
	for i := range events {
		if err := c.add(&events[i]); err != nil {
			return nil, fmt.Errorf("event %d, %.40q: %w", i+1, string(events[i].Type), err)
		}
	}
	if c.state.Turn != nil {
		return nil, fmt.Errorf("turn %.80q has no end", c.state.Turn.Turn)
	}
	return c.entries, nil
}

func (c *checker) add(p *Event) error {
	if p.Time.IsZero() {
		return errors.New("it has no time")
	}
	if p.By != nil && len(p.By.Name)+len(p.By.Subject) > record.MaxActor {
		return fmt.Errorf("its actor is longer than %d bytes", record.MaxActor)
	}
	if len(p.Turn) > output.MaxID {
		return fmt.Errorf("the id of its turn is longer than %d bytes", output.MaxID)
	}
	data, err := p.decode()
	if err != nil {
		return err
	}
	if err := c.checkOrder(p, data); err != nil {
		return err
	}
	entries, err := p.entries(data)
	if err != nil {
		return err
	}
	for _, en := range entries {
		if en.Type != p.Type && p.Type != protocol.JoinedDeltas {
			return fmt.Errorf("it is larger than %d bytes", protocol.MaxEvent)
		}
		if err := c.checkOpen(en.Delta); err != nil {
			return err
		}
		en.Turn, en.Time = p.Turn, p.Time.UTC().Truncate(time.Millisecond)
		if en.Delta.Kind == "" {
			en.By = p.By
		}
		e := protocol.Event{
			Seq: c.state.Seq + 1, Turn: en.Turn, Task: en.Task, Time: en.Time, Type: en.Type, By: en.By, Data: en.Data,
		}
		if err := c.state.Apply(&e); err != nil {
			return err
		}
		c.entries = append(c.entries, en)
	}
	if t := c.state.Turn; t != nil && (len(t.Parts) > item.MaxOpen+1 || len(t.Tools) > item.MaxOpen+1) {
		return fmt.Errorf("more than %d parts or tools are open", item.MaxOpen)
	}
	return nil
}

// checkOrder checks that an event may follow the previous ones.
func (c *checker) checkOrder(p *Event, data any) error {
	t := c.state.Turn
	if t == nil {
		if protocol.OutsideOfTurns(p.Type, p.Turn) {
			return nil
		}
		if d, ok := data.(*protocol.MessageUserData); ok {
			c.started = false
			return errors.Join(c.use("turn", p.Turn), c.use("message", d.MessageID))
		}
		return errors.New("it is outside of a turn")
	}
	if p.Turn != t.Turn {
		return fmt.Errorf("it is not of turn %.80q, which has no end", t.Turn)
	}
	pending := func(request string) error {
		if c.state.PendingApproval(request) == nil {
			return fmt.Errorf("request %.80q is not pending", request)
		}
		return nil
	}
	switch d := data.(type) {
	case *protocol.MessageUserData:
		return errors.New("it is within a turn")
	case *protocol.TurnStartedData:
		if d.MessageID != t.Message.MessageID || c.started && !d.Resumed {
			return errors.New("the turn started before, or has another message")
		}
		c.started = true
	case *protocol.TurnEndedData:
		if !c.started || d.Reason == "" ||
			len(t.Parts)+len(t.Tools)+len(c.state.Approvals)+len(t.Sent()) > 0 {
			return errors.New("the turn did not start, has no reason of its end, or leaves something open")
		}
	case *protocol.MessageSteeredData:
		if t.Has(d.MessageID) {
			return fmt.Errorf("message %.80q is in the turn already", d.MessageID)
		}
	case *protocol.MessageResolvedData:
		return c.checkResolved(d)
	case *protocol.Approval:
		return c.use("request", d.Request)
	case *protocol.ApprovalExplainedData:
		return pending(d.Request)
	case *protocol.ApprovalResolvedData:
		switch d.Outcome {
		case protocol.Allowed, protocol.Denied, protocol.Expired, protocol.Cancelled:
		default:
			return fmt.Errorf("%.40q is no outcome", string(d.Outcome))
		}
		if d.Decision != "" && !d.Decision.Valid() {
			return fmt.Errorf("%.40q is no decision", string(d.Decision))
		}
		return pending(d.Request)
	}
	return nil
}

// checkResolved checks the outcome of a message that joined the turn. A refused one may start a turn later.
func (c *checker) checkResolved(d *protocol.MessageResolvedData) error {
	sent := func(m protocol.Message) bool { return m.MessageID == d.MessageID }
	if !slices.ContainsFunc(c.state.Turn.Sent(), sent) {
		return fmt.Errorf("message %.80q did not join the turn, or has an outcome", d.MessageID)
	}
	switch d.Outcome {
	case protocol.SteerTakenIn, protocol.SteerUnknown:
		return c.use("message", d.MessageID)
	case protocol.SteerRefused:
		return nil
	}
	return fmt.Errorf("%.40q is no outcome", string(d.Outcome))
}

// use notes an id, which must be new.
func (c *checker) use(kind, id string) error {
	key := kind + " " + id
	if id == "" || len(id) > output.MaxID || c.ids[key] {
		return fmt.Errorf("the id %.80q of its %s is empty, too long or used before", id, kind)
	}
	c.ids[key] = true
	return nil
}

// checkOpen checks that the text or reasoning part of a delta is open.
func (c *checker) checkOpen(d protocol.Delta) error {
	if d.Part == "" || d.Kind != protocol.KindText && d.Kind != protocol.KindReasoning {
		return nil
	}
	open := func(p protocol.OpenPart) bool { return p.Part == d.Part && p.Kind == d.Kind }
	if !slices.ContainsFunc(c.state.Turn.Parts, open) {
		return fmt.Errorf("part %.80q is not open", d.Part)
	}
	return nil
}

// entries returns the log entries of the event with its decoded data.
func (p *Event) entries(data any) ([]eventlog.Entry, error) {
	base := eventlog.Entry{Type: p.Type, Task: output.ID(p.Task), Parent: output.ID(p.Parent)}
	switch d := data.(type) {
	case *protocol.JoinedData:
		var list []eventlog.Entry
		for _, part := range d.Parts {
			d := protocol.Delta{Part: part.Part, Kind: part.Kind, Text: part.Text}
			of := eventlog.Entry{Type: d.Type(), Task: output.ID(part.Task), Parent: output.ID(part.Parent)}
			if of.Type == "" {
				return nil, fmt.Errorf("%.40q is no kind of a part", string(part.Kind))
			}
			list = append(list, output.Split(of, d)...)
		}
		return list, nil
	case *protocol.Approval:
		d.Turn, d.Task, d.Explained = "", "", nil
		base.Blobs = output.Contents(d.Content)
	}
	if protocol.EventTypeOf(p.Type).AgentMay {
		event, err := output.Sanitize(agent.Event{Type: p.Type, Task: p.Task, Parent: p.Parent, Data: data})
		return event.Entries, err
	}
	en, err := output.Encode(base, data)
	return []eventlog.Entry{en}, err
}
