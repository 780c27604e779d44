package acp

import (
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// subAgentLines are the calls in a turn that stand for turns of sub-agents. Its methods may be called
// from any goroutine. The zero value has none and starts none.
type subAgentLines struct {
	out agent.Output // static

	mu   sync.Mutex
	open map[string]bool // tools; nil: none starts any more
}

// newSubAgentLines returns the calls of a turn, which emits them to out.
func newSubAgentLines(out agent.Output) subAgentLines {
	return subAgentLines{out: out, open: map[string]bool{}}
}

// A subAgentLine is the call that stands for a turn of a sub-agent. A nil line is of a parent without a
// turn.
type subAgentLine struct {
	lines *subAgentLines
	tool  string
}

// start starts a call.
func (l *subAgentLines) start(d protocol.ToolStartedData) *subAgentLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil || l.out.Emit(agent.Event{Type: protocol.ToolStarted, Data: d}) != nil {
		return nil
	}
	l.open[d.Tool] = true
	return &subAgentLine{l, d.Tool}
}

// end ends the call as the turn of the sub-agent ended, with its last text as the output.
func (l *subAgentLine) end(end agent.End, err error, said string) {
	if l == nil {
		return
	}
	d := protocol.ToolEndedData{Tool: l.tool, Status: protocol.ToolCompleted, Error: end.Message}
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
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	l.lines.end(d, said)
}

// end ends a call, unless it has ended. It requires mu.
func (l *subAgentLines) end(d protocol.ToolEndedData, said string) {
	if !l.open[d.Tool] {
		return
	}
	delete(l.open, d.Tool)
	if said != "" {
		output := protocol.ToolOutputData{Tool: d.Tool, Text: said}
		if l.out.Emit(agent.Event{Type: protocol.ToolOutput, Data: output}) != nil {
			return
		}
	}
	_ = l.out.Emit(agent.Event{Type: protocol.ToolEnded, Data: d}) // on an error the session ends the call
}

// leave ends the calls of sub-agents that continue after the turn. None starts afterwards.
func (l *subAgentLines) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tool := range l.open {
		l.end(protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted}, "it continues after this turn")
	}
	l.open = nil
}
