package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// Bounds of what an agent announces of its sub-agents.
const (
	maxSubAgents = 1000                   // of a process
	maxSubID     = 1 << 10                // bytes of an id
	maxTask      = 64 << 10               // bytes of a task
	maxBegin     = time.Second            // for the begin of turns at the end of their parent's
	taskDelay    = 200 * time.Millisecond // for the task, after the report that the sub-agent works
)

// The kinds of updates about sub-agents, which the client has to offer to take.
const (
	subAgentUpdated = "subagent_update"
	messageUpdated  = "session_message"
	messageAdded    = "session_message_chunk"
	stateUpdated    = "state_update" // of version 2, in the session itself
)

// subAgentUpdate is an update about a sub-agent, sent in the session of its parent, or a message from
// one session to another, sent in both. Fields that are absent are unchanged; null clears.
type subAgentUpdate struct {
	Session      string          `json:"sessionId"`
	Title        json.RawMessage `json:"title"`
	Description  json.RawMessage `json:"description"`
	Capabilities json.RawMessage `json:"capabilities"`
	State        json.RawMessage `json:"state"`
	CWD          json.RawMessage `json:"cwd"`

	Recipient string          `json:"recipientSessionId"`
	Content   json.RawMessage `json:"content"` // a list of blocks, or one
}

// subAgents are the sub-agents of an agent process. The zero value shows none.
type subAgents struct {
	agent *Agent
	host  agent.WorkHost // nil: sub-agents are not offered, and not shown

	mu   sync.Mutex // guards what a subAgent says it does
	byID map[string]*subAgent
	full bool // users know that not all are shown
}

// A subAgent is a sub-agent, by its ACP session. Its session below the parent's is made with its
// first work.
type subAgent struct {
	id     string
	parent *subAgent // nil: the agent itself
	all    *subAgents
	client *client
	lane   lane
	wire   wire

	// Guarded by subAgents.mu.
	title, description string
	cwd                string
	cancels            bool
	task               string // of the next turn
	delay              *time.Timer
	host               agent.SubAgentHost // nil: no session yet
	unshown            bool               // it has no session, or a closed one
	turns              int
}

// get returns the sub-agent with an id; nil: it is not known.
func (s *subAgents) get(id string) *subAgent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *subAgents) list() []*subAgent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.byID))
}

// apply applies an update about a sub-agent or a message between sessions. It returns false for one
// that is not about a known sub-agent.
func (s *subAgents) apply(c *client, to target, kind string, p *updateParams) bool {
	var u subAgentUpdate
	if s.host == nil || decode(p.Update, &u) != nil {
		return false
	}
	if kind != subAgentUpdated {
		if to.replay != nil || to.sub == nil || u.Recipient != "" && u.Recipient != p.Session {
			return false // the sender's view
		}
		return to.sub.receive(&u, kind == messageAdded)
	}
	sub := s.announced(c, p.Session, u.Session)
	if sub == nil {
		return false
	}
	sub.describe(&u)
	if to.replay == nil && len(u.State) > 0 {
		sub.setState(u.State)
	}
	return true
}

// announced returns the sub-agent that is announced in an ACP session. It returns nil for one whose
// parent is not known, is the sub-agent itself, or is another one than before.
func (s *subAgents) announced(c *client, of, id string) *subAgent {
	c.mu.Lock()
	own := cmp.Or(c.session, of) // no session: it is being restored
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	parent, sub := s.byID[of], s.byID[id]
	switch {
	case id == "", len(id) > maxSubID, id == of, id == own, parent == nil && of != own, sub != nil && sub.parent != parent:
		return nil
	case sub != nil:
		return sub
	}
	if len(s.byID) == maxSubAgents {
		s.tellFull(c, fmt.Sprintf("more than %d", maxSubAgents))
		return nil
	}
	sub = &subAgent{id: id, parent: parent, all: s, client: c, wire: newWire(c.config.Version)}
	sub.lane.begin = sub.begin
	if s.byID == nil {
		s.byID = map[string]*subAgent{}
	}
	s.byID[id] = sub
	return sub
}

// tellFull emits one notice that some sub-agents are not shown. It requires mu.
func (s *subAgents) tellFull(c *client, why string) {
	if !s.full {
		c.notice(protocol.LevelWarning, c.config.Name+" has sub-agents that are not shown", why)
	}
	s.full = true
}

// awaitBegins waits until the turns of sub-agents that begin have begun, at most for a while, so that
// the turn of their parent has calls that stand for them.
func (s *subAgents) awaitBegins() {
	timer := time.NewTimer(maxBegin)
	defer timer.Stop()
	for _, sub := range s.list() {
		if begun := sub.lane.pending(); begun != nil {
			select {
			case <-begun:
			case <-timer.C:
				return
			}
		}
	}
}

// finish ends what waits for turns of sub-agents, after the end of the process.
func (s *subAgents) finish() {
	for _, sub := range s.list() {
		sub.stopDelay()
		sub.lane.finish()
	}
}

// describe sets what an update says about the sub-agent.
func (s *subAgent) describe(u *subAgentUpdate) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	for _, f := range []struct {
		field *string
		raw   json.RawMessage
	}{{&s.title, u.Title}, {&s.description, u.Description}, {&s.cwd, u.CWD}} {
		var text string
		if len(f.raw) > 0 && decode(f.raw, &text) == nil {
			*f.field = protocol.SplitText(protocol.ValidText(text), maxTask)[0]
		}
	}
	if len(u.Capabilities) > 0 {
		var can struct{ Cancel *struct{} }
		s.cancels = decode(u.Capabilities, &can) == nil && can.Cancel != nil
	}
}

// readState reads a state: the session works, or how its work ended.
func readState(raw json.RawMessage) (end agent.End, works, ok bool) {
	var st struct {
		State  string `json:"state"`
		Reason string `json:"stopReason"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if decode(raw, &st) != nil || raw[0] != '{' && present(raw) {
		return end, false, false
	}
	switch st.State {
	case "idle":
		end = (&promptResult{Reason: cmp.Or(st.Reason, "end_turn")}).end()
		if st.Reason == "error" || st.Error.Message != "" { // Codex 2.6.0 reports end_turn with an error
			end = agent.End{
				Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
				Message: cmp.Or(st.Error.Message, "the agent reports an error without a message"),
			}
		}
		return end, false, true
	case "", "unknown": // cleared, or no longer known
		end = agent.End{Reason: protocol.ReasonInterrupted, Message: "the agent reports no longer what it does"}
		return end, false, true
	}
	return end, true, true
}

// setState applies a state.
func (s *subAgent) setState(raw json.RawMessage) {
	end, works, ok := readState(raw)
	switch {
	case !ok:
	case works && s.client.known().TaskFollows:
		s.lane.setActive(true)
		s.beginSoon()
	default:
		s.stopDelay()
		s.lane.applyState(end, works)
	}
}

// receive takes a message to the sub-agent: the task of its next turn, or a notice in the current
// one. It returns false for a part of a message in a turn.
func (s *subAgent) receive(u *subAgentUpdate, chunk bool) bool {
	text := messageText(u.Content)
	if t := s.lane.current(); t != nil {
		if !chunk {
			t.notify("message from its parent: " + text)
		}
		return !chunk
	}
	s.all.mu.Lock()
	if chunk {
		text = s.task + text
	}
	s.task = protocol.SplitText(protocol.ValidText(text), maxTask)[0]
	s.all.mu.Unlock()
	s.lane.accept()
	if chunk {
		s.beginSoon()
	} else {
		s.beginNow()
	}
	return true
}

// messageText returns the text of the content of a message.
func messageText(raw json.RawMessage) (text string) {
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		list = make([]block, 1)
		_ = decode(raw, &list[0])
	}
	for i := range list {
		t, _ := list[i].text()
		text += t
	}
	return text
}

// beginNow begins a turn unless one runs.
func (s *subAgent) beginNow() {
	s.stopDelay()
	s.lane.pass(arrival{work: true, drop: func() {}, apply: func(*turn) bool { return true }})
}

// beginSoon begins a turn unless a task, or output, begins one before.
func (s *subAgent) beginSoon() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.delay == nil {
		s.delay = time.AfterFunc(taskDelay, s.beginNow)
		return
	}
	s.delay.Reset(taskDelay)
}

func (s *subAgent) stopDelay() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.delay != nil {
		s.delay.Stop()
	}
}

// session returns the session of the sub-agent, which it makes on the first call.
func (s *subAgent) session() (agent.SubAgentHost, error) {
	var of interface {
		SubAgent(s agent.SubAgent, title string) (agent.SubAgentHost, error)
	} = s.all.host
	if s.parent != nil {
		parent, err := s.parent.session()
		if err != nil {
			return nil, err
		}
		of = parent
	}
	s.all.mu.Lock()
	host, title := s.host, cmp.Or(s.title, s.description, "sub-agent")
	s.all.mu.Unlock()
	if host != nil {
		return host, nil
	}
	host, err := of.SubAgent(agent.SubAgent{ID: s.id, Reads: catalog.ReadTools()}, title)
	if err != nil {
		return nil, err
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.host = host
	return host, nil
}

// begin begins a turn in the session of the sub-agent.
func (s *subAgent) begin(ctx context.Context) error {
	s.all.mu.Lock()
	unshown := s.unshown
	s.all.mu.Unlock()
	if unshown {
		return errUnshown
	}
	host, err := s.session()
	if err == nil {
		task := s.takeTask()
		err = host.Begin(ctx, agent.Work{
			Text: task, Interruptible: s.canCancel,
			Run: func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
				return s.run(ctx, host.Session(), task, turn, out)
			},
		})
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	switch protocol.CodeOf(err) { //nolint:exhaustive // after other errors the next work tries again
	case protocol.CodeSessionLimit:
		s.all.tellFull(s.client, protocol.AsError(err).Message)
		s.unshown = true
	case protocol.CodeSessionClosed, protocol.CodeNoSession:
		s.unshown = true
	}
	return err //nolint:wrapcheck // of the same operation
}

var errUnshown = protocol.Errorf(protocol.CodeSessionClosed, "the sub-agent has no session")

// takeTask returns the task of the next turn. The first turn of a sub-agent without a message has its
// description, or its title.
func (s *subAgent) takeTask() string {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	task := s.task
	if s.turns++; s.turns == 1 {
		task = cmp.Or(task, s.description, s.title)
	}
	s.task = ""
	return task
}

func (s *subAgent) canCancel() bool {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.cancels
}

// run runs a turn of the sub-agent. The turn of its parent has a call that stands for it.
func (s *subAgent) run(
	ctx context.Context, session, task string, turn agent.Turn, out agent.Output,
) (agent.End, error) {
	s.all.mu.Lock()
	cwd, title := s.cwd, cmp.Or(s.title, "sub-agent")
	s.all.mu.Unlock()
	if !filepath.IsAbs(cwd) {
		cwd = s.all.agent.spec.CWD
	}
	above := &s.client.lane
	if s.parent != nil {
		above = &s.parent.lane
	}
	line := startSubAgentLine(above.current(), turn.ID, title, task, session)
	w := &work{agent: s.all.agent, client: s.client, session: s.id, cwd: cwd, lane: &s.lane, sub: s}
	t := newTurn(ctx, turn.ID, out, cwd, s.client.known())
	t.said = new(textEnd)
	end, err := w.runTurn(ctx, t, turn)
	said, _ := t.said.last()
	line.end(end, err, said)
	return end, err
}

// applyOptions takes updates about the sub-agent that the agent itself has its own of: its settings
// cannot be changed. It reports whether u is one.
func (s *subAgent) applyOptions(u *update) bool {
	switch u.Kind {
	case "usage_update":
		if t := s.lane.current(); t != nil && u.Size > 0 {
			_ = t.emit(protocol.ContextUpdated, u.context()) // fails when the turn is over
		}
	case "session_info_update":
		s.rename(u.Title)
	case "notice":
		if t := s.lane.current(); t != nil {
			t.notify(strings.TrimSuffix(u.Title+": "+u.Description, ": "))
		}
	case "available_commands_update", "current_mode_update", "config_option_update", "compaction_update":
	default:
		return false
	}
	return true
}

// rename changes the title of the session, if there is one.
func (s *subAgent) rename(title string) {
	s.all.mu.Lock()
	host, same := s.host, title == "" || title == s.title
	if !same {
		s.title = title
	}
	s.all.mu.Unlock()
	if host == nil || same {
		return
	}
	e := agent.Event{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &title}}
	if err := host.Emit(e); err != nil {
		s.all.agent.host.Logf("title of a sub-agent: %v", err)
	}
}

// updates decodes an update of an ACP session. Version 2 joins what one session sends: another one
// must be known.
func (c *client) updates(to target, raw json.RawMessage) (list []*update, ok bool) {
	switch {
	case to.sub != nil:
		return to.sub.wire.updates(raw)
	case to.own || c.wire.decodesLines():
		return c.wire.updates(raw)
	}
	return nil, false
}

// applySubAgents applies an update about a sub-agent, or the state of a session in version 2. It
// reports whether nothing else is to be done with it.
func (c *client) applySubAgents(to target, p *updateParams) bool {
	switch kind := p.kind(); kind {
	case subAgentUpdated, messageUpdated, messageAdded:
		return exactNames(p.Update) && c.subs.apply(c, to, kind, p)
	case stateUpdated:
		if to.lane == nil || to.replay != nil || c.wire.decodesLines() || !exactNames(p.Update) {
			return false
		}
		if to.sub != nil {
			to.sub.setState(p.Update)
			return true
		}
		if end, works, ok := readState(p.Update); ok {
			to.lane.applyState(end, works)
		}
	}
	return false
}
