package acp

import (
	"agentctl/protocol"
	"agentctl/server/agent"
)

// A subAgentLine is the call in a turn that stands for a turn of a sub-agent. A nil line is of a parent
// without a turn.
type subAgentLine struct {
	turn *turn // the parent's
	tool string
	open bool // guarded by turn.mu
}

// startSubAgentLine starts the call in a turn, which may be nil, for a sub-agent with a session.
func startSubAgentLine(t *turn, id, title, task, session string) *subAgentLine {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	line := &subAgentLine{t, t.toolID(id), true}
	if t.ended || t.endPart() != nil || t.emit(protocol.ToolStarted, protocol.ToolStartedData{
		Tool: line.tool, Name: "sub-agent", Kind: protocol.ToolOther, Title: title, Session: session,
		Input: protocol.MustEncode(map[string]string{"task": task}),
	}) != nil {
		return nil
	}
	t.lines = append(t.lines, line)
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
	l.emitEnd(d, said)
}

// emitEnd ends the call, unless it has ended. It requires turn.mu.
func (l *subAgentLine) emitEnd(d protocol.ToolEndedData, said string) {
	if !l.open {
		return
	}
	l.open = false
	if said != "" && l.turn.emit(protocol.ToolOutput, protocol.ToolOutputData{Tool: l.tool, Text: said}) != nil {
		return
	}
	d.Tool = l.tool
	_ = l.turn.emit(protocol.ToolEnded, d) // on an error the session ends the call
}
