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

// turn maps what the agent says during one turn to events.
type turn struct {
	// Static after newTurn.
	id        string
	out       session.Output
	cwd       string
	ctx       context.Context // of the turn's requests for permission
	stop      context.CancelFunc
	approvals sync.WaitGroup

	mu    sync.Mutex // held while one update is taken
	ended bool
	part  part
	parts int
	tools map[string]*tool // by the agent's id
}

// part is the text or reasoning that chunks are added to. The zero part is none.
type part struct {
	id, message string
	kind        protocol.Kind
}

func newTurn(ctx context.Context, id string, out session.Output, cwd string) *turn {
	t := &turn{id: id, out: out, cwd: cwd, tools: map[string]*tool{}}
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

// finish ends requests that are still open and closes what only this package knows to be over.
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
			_ = t.endTool(tool, protocol.ToolDenied, &toolCall{}) // the session closes what this cannot
		}
	}
}

// apply maps an update, in the order of the wire. It returns false when the update belongs to nothing here, or came too late.
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

// warn tells people something that no other event says. When it fails the turn is over, and so is what it is about.
func (t *turn) warn(message string) {
	_ = t.emit(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: message})
}

// addChunk adds to the open part, or begins one when the kind or the message changes or something else came between.
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

// updatePlan replaces the plan whole, as the agent sends it.
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
