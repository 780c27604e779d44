package acp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// turn maps the updates of one turn to events.
type turn struct {
	// Static after newTurn.
	id        string
	out       agent.Output
	cwd       string
	agent     catalog.Agent
	ctx       context.Context // for permission requests
	stop      context.CancelFunc
	approvals sync.WaitGroup
	over      chan agent.End // capacity 1: how the agent's own work ended
	activity  activity

	mu      sync.Mutex // held while an update is applied
	ended   bool
	denied  bool // a request was denied or expired
	failure failure
	limit   turnLimit
	part    part
	parts   int
	tools   map[string]*tool // by ACP tool call id
	usage   *protocol.Usage  // of chunks
	plan    string           // id of the plan shown; "": it has none

	steering *steering // answers requests for messages; nil: none are handed out

	lines []*subAgentLine // of its sub-agents
	said  *textEnd        // the last text; nil: it is not kept
}

// failure is what an agent reports about a failure of its model.
type failure struct {
	reported bool   // by a status; otherwise only in the text
	text     []byte // messages since
}

// maxFailure bounds the text about a failure that is kept, in bytes.
const maxFailure = 4 << 10

// part is the open text or reasoning part. The zero value means no open part.
type part struct {
	id, message string
	kind        protocol.Kind
	parent      string // tool id of the call that it belongs to
}

func newTurn(ctx context.Context, id string, out agent.Output, cwd string, known catalog.Agent) *turn {
	t := &turn{
		id: id, out: out, cwd: cwd, agent: known, over: make(chan agent.End, 1), tools: map[string]*tool{},
	}
	t.activity.hear()
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

// finish cancels open requests and ends denied tools. The session ends everything else.
func (t *turn) finish() {
	t.stop()
	t.mu.Lock()
	for _, line := range t.lines {
		line.emitEnd(protocol.ToolEndedData{Status: protocol.ToolCompleted}, "it continues after this turn")
	}
	t.ended = true
	t.mu.Unlock()
	t.approvals.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		if tool := t.tools[id]; tool.refused == protocol.ToolDenied && !tool.ended {
			_ = t.endTool(tool, protocol.ToolDenied) // on an error the session ends the tool
		}
	}
}

// apply maps an update to events. It returns false for an update that maps to none or arrives after
// the turn.
func (t *turn) apply(u *update) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.activity.hear()
	switch u.Kind {
	case messageChunk:
		return t.addChunk(u, protocol.KindText)
	case thoughtChunk:
		return t.addChunk(u, protocol.KindReasoning)
	case "tool_call", "tool_call_update":
		return u.ID != "" && t.upsertTool(&u.toolCall, true) == nil
	case "plan":
		return t.updatePlan(u.Entries) == nil
	case "plan_update":
		return t.updateNamedPlan(&u.Plan)
	case "plan_removed":
		return t.removePlan(u.PlanID)
	}
	return false
}

// markFailed notes that the agent reported a failure of its model.
func (t *turn) markFailed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure.reported = true
}

// settle corrects the end that the agent gave to the turn, with the usage of the turn. Some agents
// end a turn as cancelled when a request is denied, and as completed when the model fails. Text
// counts as a failure only in a turn without usage: otherwise it may be an answer.
func (t *turn) settle(end agent.End) agent.End {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case end.Reason == protocol.ReasonInterrupted && t.denied:
		end.Reason = protocol.ReasonDenied
	case end.Reason == protocol.ReasonCompleted &&
		(t.failure.reported || len(t.failure.text) > 0 && end.Usage == nil):
		e := &rpc.Error{Message: strings.TrimSpace(string(t.failure.text))}
		if limited, ok := t.limited("", e); ok {
			limited.Usage = end.Usage
			return limited
		}
		end.Reason, end.Code = protocol.ReasonError, protocol.CodeAgentFailed
		if isMaxTokens(e) {
			end.Reason, end.Code = protocol.ReasonMaxTokens, ""
		}
		end.Message = cmp.Or(errorText(e), "the model failed")
	}
	return end
}

func (t *turn) emit(kind protocol.Type, data any) error {
	return t.out.Emit(agent.Event{Type: kind, Data: data})
}

// warn emits a warning for users. An error means that the turn is over, so it is ignored.
func (t *turn) warn(message string) {
	_ = t.emit(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: message})
}

// maxNotice bounds the text of a notice, in bytes.
const maxNotice = 16 << 10

// notify emits a notice for users.
func (t *turn) notify(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text = protocol.SplitText(protocol.ValidText(text), maxNotice)[0]
	_ = t.emit(protocol.Notice, protocol.NoticeData{Level: protocol.LevelInfo, Message: text}) // fails when the turn is over
}

// addChunk adds the content of a chunk.
func (t *turn) addChunk(u *update, kind protocol.Kind) bool {
	var b block
	if decode(u.Content, &b) != nil {
		return false
	}
	t.addChunkUsage(u.Meta.RequestUsage())
	if file, ok := b.file(); ok && kind == protocol.KindText {
		return t.endPart() == nil && t.emit(protocol.TextContent, protocol.TextContentData{Content: file}) == nil
	}
	text, ok := b.text()
	if !ok || text == "" {
		return ok
	}
	return t.addText(part{kind: kind, message: u.MessageID, parent: t.parentCall(&u.Meta)}, text)
}

// parentCall returns the id of the call that an update is nested in, or "". It must be a call of the
// turn: a sub-agent with a session has a separate turn.
func (t *turn) parentCall(m *catalog.Meta) string {
	if parent := t.tools[m.ParentCall()]; parent != nil {
		return parent.id
	}
	return ""
}

// applyText applies a chunk of text. It reports false if the turn has ended.
func (t *turn) applyText(kind protocol.Kind, message, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.activity.hear()
	return !t.ended && (text == "" || t.addText(part{kind: kind, message: message}, text))
}

// addText adds text to the open part. It starts a new part when the kind, the message or the parent
// changes, or another event came between.
func (t *turn) addText(of part, text string) bool {
	if of.parent == "" {
		t.addFailure(text)
		t.limit.add(of.kind, text)
	}
	start, delta := protocol.TextStart, protocol.TextDelta
	if of.kind == protocol.KindReasoning {
		start, delta = protocol.ReasoningStart, protocol.ReasoningDelta
	}
	of.id = t.part.id
	begins := of.id == "" || t.part != of
	if begins {
		if t.endPart() != nil {
			return false
		}
		t.parts++
		of.id = "p" + strconv.Itoa(t.parts)
		t.part = of
		if t.emitPart(start, protocol.PartStartData{Part: of.id}) != nil {
			return false
		}
	}
	if t.said != nil && of.kind == protocol.KindText {
		if begins {
			*t.said = textEnd{}
		}
		t.said.add(text)
	}
	return t.emitPart(delta, protocol.PartDeltaData{Part: of.id, Text: text}) == nil
}

// emitPart emits an event of the open part.
func (t *turn) emitPart(kind protocol.Type, data any) error {
	return t.out.Emit(agent.Event{Type: kind, Parent: t.part.parent, Data: data})
}

// addFailure keeps a text that reports a failure of the model.
func (t *turn) addFailure(text string) {
	f := &t.failure
	tells := t.agent.Failure != "" && strings.HasPrefix(text, t.agent.Failure)
	if (f.reported || tells || len(f.text) > 0) && len(f.text) < maxFailure {
		f.text = append(f.text, text...)
	}
}

func (t *turn) endPart() error {
	if t.part.id == "" {
		return nil
	}
	end := protocol.TextEnd
	if t.part.kind == protocol.KindReasoning {
		end = protocol.ReasoningEnd
	}
	ended := t.part
	t.part = part{}
	return t.out.Emit(agent.Event{Type: end, Parent: ended.parent, Data: protocol.PartEndData{Part: ended.id}})
}
