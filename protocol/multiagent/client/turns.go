package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A turn is a turn as the server's messages show it.
type turn struct {
	id            string
	message       string // the server's message id of the chunks
	part          string // open part; empty: none
	agent         string // of the part
	parts         int
	text          []byte            // of the message so far
	tools         map[string]string // names of open tools, by id
	hasText       bool              // the message has text
	byOther       bool              // another client started it
	isToolRequest bool              // asks a server other than agentctl's for one tool, and has no stream
	stopped       bool              // a decision of this client stops it
	started       time.Time
}

// An endedTurn is a finished turn whose output the client saw.
type endedTurn struct {
	output string // its message id at the server
	start  turnStart
}

// A turnStart is the start of a turn in the log.
type turnStart struct {
	turn string
	seq  uint64
}

// maxEnded bounds turns.ended: a message sent again over a lost connection is one of the newest.
const maxEnded = 16

// turns holds the current turn of a session and facts about ended ones. Its methods return the
// events to record, in order. st is the session's state before these events.
type turns struct {
	newID          func(prefix string) string
	peerIsAgentctl bool

	current    *turn       // nil: none
	quietAt    time.Time   // the current turn ends then if no message comes; zero: it does not
	cancelSeen bool        // a cancelled error came and no message since: the real system sends it twice
	ended      []endedTurn // newest last, at most maxEnded
	agent      string      // current speaker

	resolutions resolutions
}

// id returns the id of the current turn; empty: none.
func (t *turns) id() string {
	if t.current == nil {
		return ""
	}
	return t.current.id
}

// event returns an event of the current turn.
func (t *turns) event(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Turn: t.current.id, Data: data}
}

// start begins the turn of a user message. No turn is current.
func (t *turns) start(now time.Time, m protocol.Message) []codec.Entry {
	t.current = &turn{
		id: t.newID("t"), started: now, tools: map[string]string{},
		isToolRequest: !t.peerIsAgentctl && wire.IsToolRequest(m.Text),
	}
	return t.begin(m)
}

// ensure begins a turn of another client, unless a turn is current.
func (t *turns) ensure(now time.Time) []codec.Entry {
	if t.current != nil {
		return nil
	}
	t.current = &turn{id: t.newID("t"), byOther: true, started: now, tools: map[string]string{}}
	return t.begin(protocol.Message{MessageID: t.newID("m")})
}

func (t *turns) begin(m protocol.Message) []codec.Entry {
	asked := t.event(protocol.MessageUser, protocol.MessageUserData{Message: m})
	asked.By = m.By
	return []codec.Entry{
		asked, t.event(protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID, Agent: t.agent}),
	}
}

// appendText appends text to a message of the server.
func (t *turns) appendText(message, agent, text string) (events []codec.Entry) {
	c := t.current
	if c.part == "" || c.message != message || agent != "" && agent != c.agent {
		events = t.endPart()
		if c.message != message {
			c.text = nil
		}
		c.parts++
		c.part, c.message, c.agent = fmt.Sprintf("p%d", c.parts), message, agent
		events = append(events, t.event(protocol.TextStart, protocol.PartStartData{Part: c.part, Agent: agent}))
	}
	if text == "" {
		return events
	}
	c.hasText = true
	c.text = append(c.text, text[:min(len(text), wire.MaxContent-len(c.text))]...)
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		events = append(events, t.event(protocol.TextDelta, protocol.PartDeltaData{Part: c.part, Text: piece}))
	}
	return events
}

// complete handles a complete message, which ends the turn. It appends what the chunks omitted.
func (t *turns) complete(now time.Time, st *protocol.State, m wire.Message) (events []codec.Entry) {
	message, agent, whole := m.Name("messageId"), m.Name("agentName"), m.Text("content")
	received := ""
	if t.current.message == message {
		received = string(t.current.text)
	}
	switch {
	case whole == "" || strings.HasPrefix(received, whole):
	case received == "":
		events = t.appendText(message, agent, whole)
	case strings.HasPrefix(whole, received):
		events = t.appendText(message, t.current.agent, whole[len(received):])
	default: // the chunks were of its end
		events = append(t.endPart(), t.appendText(message, agent, whole)...)
	}
	meta := wire.DecodeMessage(m["metadata"])
	ended := protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: meta.Int("durationMs")}
	if n := meta.Int("tokenCount"); n > 0 {
		ended.Usage = &protocol.Usage{Output: n}
	}
	return append(events, t.end(now, st, ended)...)
}

// think records a thought as reasoning.
func (t *turns) think(m wire.Message) []codec.Entry {
	t.current.parts++
	part := fmt.Sprintf("p%d", t.current.parts)
	start := protocol.PartStartData{Part: part, Agent: m.Name("agentName")}
	events := []codec.Entry{t.event(protocol.ReasoningStart, start)}
	for _, piece := range protocol.SplitText(m.Text("reason"), protocol.MaxText) {
		events = append(events, t.event(protocol.ReasoningDelta, protocol.PartDeltaData{Part: part, Text: piece}))
	}
	return append(events, t.event(protocol.ReasoningEnd, protocol.PartEndData{Part: part}))
}

// acceptsApproval reports whether an approval request can be recorded.
func (t *turns) acceptsApproval(st *protocol.State, request string) bool {
	return request != "" && st.PendingApproval(request) == nil && len(st.Approvals) < wire.MaxOpenItems &&
		(t.current == nil || len(t.current.tools) < wire.MaxOpenItems)
}

// ask records an approval request and its tool.
func (t *turns) ask(now time.Time, m wire.Message) []codec.Entry {
	a, title := decodeApproval(m, t.peerIsAgentctl)
	a.Asked = now.UTC()
	t.current.tools[a.Request] = a.Name
	t.resolutions.winners.Delete(a.Request) // requested again
	tool := protocol.ToolStartedData{Tool: a.Request, Name: a.Name, Title: title, Input: a.Input}
	return append(t.endPart(), t.event(protocol.ToolStarted, tool), t.event(protocol.ApprovalRequested, a))
}

// resolve records the end of an approval request. by is nil if it is not known.
func (t *turns) resolve(st *protocol.State, by *protocol.Actor, d protocol.ApprovalResolvedData) []codec.Entry {
	t.resolutions.put(by, d)
	if st.PendingApproval(d.Request) == nil {
		return nil
	}
	return []codec.Entry{{Type: protocol.ApprovalResolved, Turn: t.id(), By: by, Data: d}}
}

// isLateDenial reports whether the failure of a tool belongs to a tool request that has ended.
func (t *turns) isLateDenial(tool string, success bool) bool {
	return t.current == nil && !success && t.resolutions.refused(tool)
}

// endTool records the end of a tool, whose approval request is resolved. The denial of a tool
// request ends the turn.
func (t *turns) endTool(now time.Time, st *protocol.State, id string, m wire.Message) (events []codec.Entry) {
	success, _ := m.Flag("success")
	status, why := protocol.ToolCompleted, clipText(m.Text("errorMessage"))
	if !success {
		status, why = failedStatus(why)
	}
	if !success && t.resolutions.refused(id) {
		status = protocol.ToolDenied
	}
	if _, known := t.current.tools[id]; !known {
		started := protocol.ToolStartedData{Tool: id, Name: m.Name("toolName")}
		events = append(t.endPart(), t.event(protocol.ToolStarted, started))
	}
	delete(t.current.tools, id)
	end := protocol.ToolEndedData{Tool: id, Status: status, Error: why}
	if plain, ok := decodePlainResult(m["result"]); ok {
		for _, piece := range protocol.SplitText(plain.Output, protocol.MaxText) {
			if piece != "" {
				output := protocol.ToolOutputData{Tool: id, Text: piece}
				events = append(events, t.event(protocol.ToolOutput, output))
			}
		}
		end.ExitCode = plain.ExitCode
	} else if result := fitJSON(m["result"]); !codec.IsNull(result) {
		end.Output = result
	}
	events = append(events, t.event(protocol.ToolEnded, end))
	switch {
	case len(t.current.tools) > 0:
	case status == protocol.ToolDenied && t.toolRequestDenied(st):
		events = append(events, t.end(now, st, protocol.TurnEndedData{Reason: protocol.ReasonDenied, Message: why})...)
	case t.current.byOther && !t.current.hasText && len(st.Approvals) == 0:
		t.quietAt = now.Add(quietTimeout)
	}
	return events
}

func (t *turns) endPart() []codec.Entry {
	part := t.current.part
	if part == "" {
		return nil
	}
	t.current.part = ""
	return []codec.Entry{t.event(protocol.TextEnd, protocol.PartEndData{Part: part})}
}

// end ends the current turn and everything open in it.
func (t *turns) end(now time.Time, st *protocol.State, d protocol.TurnEndedData) []codec.Entry {
	events := t.endPart()
	for i := range st.Approvals {
		cancelled := protocol.ApprovalResolvedData{Request: st.Approvals[i].Request, Outcome: protocol.Cancelled}
		events = append(events, t.resolve(st, nil, cancelled)...)
	}
	for _, tool := range slices.Sorted(maps.Keys(t.current.tools)) {
		unknown := protocol.ToolEndedData{Tool: tool, Status: protocol.ToolUnknown}
		events = append(events, t.event(protocol.ToolEnded, unknown))
	}
	if d.DurationMS == 0 {
		d.DurationMS = now.Sub(t.current.started).Milliseconds()
	}
	events = append(events, t.event(protocol.TurnEnded, d))
	t.keepEnded(st)
	t.current, t.quietAt = nil, time.Time{}
	return events
}

// lose ends the turn whose rest the last connection lost.
func (t *turns) lose(now time.Time, st *protocol.State) []codec.Entry {
	return t.end(now, st, protocol.TurnEndedData{
		Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
		Message: "connection lost: the rest of the turn is unknown",
	})
}

// endQuiet ends a turn after a tool that no message followed.
func (t *turns) endQuiet(now time.Time, st *protocol.State) []codec.Entry {
	reason := protocol.ReasonCompleted
	if t.toolRequestDenied(st) {
		reason = protocol.ReasonDenied
	}
	return t.end(now, st, protocol.TurnEndedData{Reason: reason})
}

// toolRequestDenied reports whether the turn is a tool request of a server other than agentctl's,
// and its tool was denied. Such a turn has no further messages.
func (t *turns) toolRequestDenied(st *protocol.State) bool {
	c := t.current
	return !t.peerIsAgentctl && (c.isToolRequest || c.byOther) && !c.hasText && t.resolutions.lastDenied() &&
		len(st.Approvals) == 0
}

// keepEnded keeps the turn, which ends, if its output is known.
func (t *turns) keepEnded(st *protocol.State) {
	if st.Turn == nil || t.current.message == "" {
		return
	}
	if len(t.ended) == maxEnded {
		t.ended = slices.Delete(t.ended, 0, 1)
	}
	t.ended = append(t.ended, endedTurn{t.current.message, turnStart{t.current.id, st.Turn.First}})
}

// findEnded returns the start of the finished turn with an output, or nil.
func (t *turns) findEnded(output string) *turnStart {
	for _, e := range slices.Backward(t.ended) {
		if output != "" && e.output == output {
			return &e.start
		}
	}
	return nil
}

// decodePlainResult decodes a result that agentctl's server made from unstructured output.
func decodePlainResult(raw json.RawMessage) (r wire.PlainResult, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return r, false
	}
	ok = protocol.DecodeStrict(raw, &r) == nil
	r.Output = protocol.ValidText(r.Output)
	return r, ok
}

// failedStatus returns the status of a failed tool. agentctl's server sends the status itself if it
// has no error text.
func failedStatus(why string) (status protocol.ToolStatus, left string) {
	switch status = protocol.ToolStatus(why); status {
	case protocol.ToolFailed, protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		return status, ""
	}
	return protocol.ToolFailed, why
}
