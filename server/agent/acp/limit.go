package acp

import (
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// turnLimit is what a turn knows in case that a usage limit ends it.
type turnLimit struct {
	resets   time.Time // of a limit that was reported as reached in the turn; zero: none, or not known
	said     []byte    // text of the agent, up to maxFailure bytes
	reasoned bool
}

// add notes text of the agent.
func (l *turnLimit) add(kind protocol.Kind, text string) {
	if kind == protocol.KindReasoning {
		l.reasoned = true
	} else if len(l.said) < maxFailure {
		l.said = append(l.said, text...)
	}
}

// limited returns the end of the turn for a failure that is a usage limit. The agent took in the
// message if it called a tool, reasoned, or said anything but the message about the limit. The caller
// holds t.mu.
func (t *turn) limited(name string, e *rpc.Error) (end agent.End, ok bool) {
	text := strings.TrimPrefix(errorText(e), "Internal error: ")
	f := catalog.Failure{Code: e.Code, Data: e.Data, Text: text}
	if !f.IsLimit() {
		return end, false
	}
	said := strings.TrimSpace(string(t.limit.said))
	l := agent.LimitError{Message: text, Limit: agent.Limit{
		ResetsAt: t.limit.resets,
		TookIn:   len(t.tools) > 0 || t.limit.reasoned || said != "" && !strings.Contains(text, said),
	}}
	if l.ResetsAt.IsZero() {
		l.ResetsAt = f.ResetsAt(time.Now())
	}
	if name != "" {
		l.Message = name + ": " + text
	}
	return l.End(), true
}

// noteLimit notes a limit of the account that is reached.
func (t *turn) noteLimit(r *catalog.LimitReport) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Reached {
		t.limit.resets = r.Resets
	}
}
