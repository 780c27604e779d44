package acp

import (
	"agentctl/protocol"
	"agentctl/server/agent"
)

// maxSaid bounds the last text of a sub-agent that its parent shows, in bytes.
const maxSaid = 16 << 10

// A subAgentLine is the call in the turn of a parent that stands for a turn of a sub-agent. A nil line
// is of a parent without a turn.
type subAgentLine struct {
	turn *turn
	tool string
}

// startSubAgent starts the call that stands for a turn of a sub-agent, which has a session. A nil turn
// has none.
func (t *turn) startSubAgent(id, title, task, session string) *subAgentLine {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.endPart() != nil {
		return nil
	}
	line := &subAgentLine{t, t.toolID(id)}
	if t.emit(protocol.ToolStarted, protocol.ToolStartedData{
		Tool: line.tool, Name: "sub-agent", Kind: protocol.ToolOther, Title: title, Session: session,
		Input: protocol.MustEncode(map[string]string{"task": task}),
	}) != nil {
		return nil
	}
	if t.lines == nil {
		t.lines = map[*subAgentLine]bool{}
	}
	t.lines[line] = true
	return line
}

// end ends the call as the turn of the sub-agent ended, with its last text as the output.
func (l *subAgentLine) end(end agent.End, err error, said string) {
	if l == nil {
		return
	}
	d := protocol.ToolEndedData{Status: protocol.ToolCompleted, Error: end.Message}
	switch {
	case err != nil:
		d.Status, d.Error = protocol.ToolFailed, err.Error()
	case end.Reason == protocol.ReasonInterrupted:
		d.Status = protocol.ToolCancelled
	case end.Reason == protocol.ReasonCompleted, end.Reason == "":
		d.Error = ""
	default:
		d.Status = protocol.ToolFailed
	}
	l.turn.mu.Lock()
	defer l.turn.mu.Unlock()
	l.turn.endLine(l, said, d)
}

// endLine ends a call that stands for a sub-agent, unless it has ended. It requires mu.
func (t *turn) endLine(l *subAgentLine, said string, d protocol.ToolEndedData) {
	if !t.lines[l] {
		return
	}
	delete(t.lines, l)
	d.Tool = l.tool
	if said != "" && t.emit(protocol.ToolOutput, protocol.ToolOutputData{Tool: l.tool, Text: said}) != nil {
		return
	}
	_ = t.emit(protocol.ToolEnded, d) // on an error the session ends the call
}

// leaveSubAgents ends the calls of sub-agents that continue after the turn. It requires mu.
func (t *turn) leaveSubAgents() {
	for l := range t.lines {
		t.endLine(l, "it continues after this turn", protocol.ToolEndedData{Status: protocol.ToolCompleted})
	}
}

// keepSaid keeps the end of the last text of the turn. It requires mu.
func (t *turn) keepSaid(text string, begins bool) {
	if begins {
		t.said = t.said[:0]
	}
	if t.said = append(t.said, text...); len(t.said) > 2*maxSaid {
		t.said = append(t.said[:0], t.said[len(t.said)-maxSaid:]...)
	}
}

// lastSaid returns the last text of the turn.
func (t *turn) lastSaid() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return protocol.ValidText(string(t.said[max(0, len(t.said)-maxSaid):]))
}

// notify emits a notice for users.
func (t *turn) notify(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text = protocol.SplitText(protocol.ValidText(text), maxSaid)[0]
	_ = t.emit(protocol.Notice, protocol.NoticeData{Level: protocol.LevelInfo, Message: text}) // fails when the turn is over
}
