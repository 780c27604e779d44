package acp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"agentctl/protocol"
	"agentctl/server/session"
)

// turn maps the updates of one turn to events.
type turn struct {
	// Static after newTurn.
	id        string
	out       session.Output
	cwd       string
	ctx       context.Context // for permission requests
	stop      context.CancelFunc
	approvals sync.WaitGroup

	mu    sync.Mutex // held while an update is applied
	ended bool
	part  part
	parts int
	tools map[string]*tool // by ACP tool call id
}

// part is the open text or reasoning part. The zero part is none.
type part struct {
	id, message string
	kind        protocol.Kind
}

func newTurn(ctx context.Context, id string, out session.Output, cwd string) *turn {
	t := &turn{id: id, out: out, cwd: cwd, tools: map[string]*tool{}}
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

// finish cancels open requests and ends denied tools. The session ends everything else.
func (t *turn) finish() {
	t.stop()
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.approvals.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		if tool := t.tools[id]; tool.denied && !tool.ended {
			_ = t.endTool(tool, protocol.ToolDenied, &toolCall{}) // on an error the session ends the tool
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
	switch u.Kind {
	case "agent_message_chunk":
		return t.addChunk(u, protocol.KindText)
	case "agent_thought_chunk":
		return t.addChunk(u, protocol.KindReasoning)
	case "tool_call", "tool_call_update":
		return u.ID != "" && t.upsertTool(&u.toolCall, true) == nil
	case "plan":
		return t.updatePlan(u) == nil
	}
	return false
}

func (t *turn) emit(kind protocol.Type, data any) error {
	return t.out.Emit(session.Event{Type: kind, Data: data})
}

// warn emits a warning for users. An error means that the turn is over, so it is ignored.
func (t *turn) warn(message string) {
	_ = t.emit(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: message})
}

// addChunk adds text to the open part. It starts a new part when the kind or message changes or
// another event came between.
func (t *turn) addChunk(u *update, kind protocol.Kind) bool {
	var b block
	if decode(u.Content, &b) != nil || b.Type != "text" {
		return false
	}
	if b.Text == "" {
		return true
	}
	start, delta := protocol.TextStart, protocol.TextDelta
	if kind == protocol.KindReasoning {
		start, delta = protocol.ReasoningStart, protocol.ReasoningDelta
	}
	if t.part.id == "" || t.part.kind != kind || t.part.message != u.MessageID {
		if t.endPart() != nil {
			return false
		}
		t.parts++
		t.part = part{id: "p" + strconv.Itoa(t.parts), message: u.MessageID, kind: kind}
		if t.emit(start, protocol.PartStartData{Part: t.part.id}) != nil {
			return false
		}
	}
	return t.emit(delta, protocol.PartDeltaData{Part: t.part.id, Text: b.Text}) == nil
}

func (t *turn) endPart() error {
	if t.part.id == "" {
		return nil
	}
	end := protocol.TextEnd
	if t.part.kind == protocol.KindReasoning {
		end = protocol.ReasoningEnd
	}
	id := t.part.id
	t.part = part{}
	return t.emit(end, protocol.PartEndData{Part: id})
}

// updatePlan replaces the plan. The agent always sends all of it.
func (t *turn) updatePlan(u *update) error {
	tasks := make([]protocol.Task, 0, len(u.Entries))
	done := len(u.Entries) > 0
	for i, e := range u.Entries {
		status := protocol.StatusPending
		switch e.Status {
		case "in_progress":
			status = protocol.StatusRunning
		case "completed":
			status = protocol.StatusCompleted
		}
		done = done && status == protocol.StatusCompleted
		tasks = append(tasks, protocol.Task{ID: fmt.Sprint(i + 1), Title: e.Content, Status: status})
	}
	kind := protocol.PlanUpdated
	if done {
		kind = protocol.PlanCompleted
	}
	return t.emit(kind, protocol.PlanTasksData{Tasks: tasks})
}
