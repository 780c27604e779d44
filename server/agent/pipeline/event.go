package pipeline

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// Emit implements agent.Output and agent.Host. It passes on the events of the agent's work, under
// ids that no other agent has. Usage is added to the session's. A plan of the agent becomes
// progress of its task. Its settings, context and title are dropped.
func (in *inner) Emit(e agent.Event) error {
	if v := reflect.ValueOf(e.Data); v.Kind() == reflect.Pointer && !v.IsNil() {
		e.Data = v.Elem().Interface()
	}
	in.mu.Lock()
	over, quiet := !in.running, in.quiet
	in.collect(e)
	changed := in.collectFiles(e)
	in.mu.Unlock()
	if e.Type == protocol.UsageUpdated {
		in.run.checkLimits(in)
		return in.run.emitUsage()
	}
	state := e.Save
	e, shown := in.translate(e)
	switch {
	case (quiet || !shown) && state != nil:
		return in.Save(state)
	case quiet, !shown:
		return nil
	case over && e.Type != protocol.Notice && e.Type != protocol.Raw:
		return errInnerOver
	}
	in.mu.Lock()
	in.track(e)
	in.mu.Unlock()
	warnings := in.addChanges(changed) // stored with the event
	emit := func(b []byte) error {
		e.Save = b
		return in.run.out.Emit(e)
	}
	var err error
	if state != nil && in.stores() {
		err = in.save(state, emit)
	} else {
		err = emit(nil)
	}
	for _, w := range warnings {
		in.warn(w)
	}
	return err
}

// collect notes the text and the usage of an event. The lock is held.
func (in *inner) collect(e agent.Event) {
	switch d := e.Data.(type) {
	case protocol.PartDeltaData:
		if e.Type == protocol.TextDelta && e.Parent == "" {
			in.answer.add(d.Part, d.Text)
		}
	case protocol.ToolStartedData:
		in.answer.cut()
	case protocol.Usage:
		in.reported = true
		if in.spent.usage != d {
			in.spent.usage = d // all of the agent, since its conversation is new
			in.spent.calls++
		}
	}
}

// An openItem is a part or a tool of a turn that has not ended.
type openItem struct {
	id     string
	end    protocol.Type
	parent string
}

// track notes the parts and tools that are open. The lock is held.
func (in *inner) track(e agent.Event) {
	item := openItem{parent: e.Parent}
	switch e.Type {
	case protocol.TextStart, protocol.TextDelta, protocol.TextEnd:
		item.end = protocol.TextEnd
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		item.end = protocol.ReasoningEnd
	case protocol.ToolStarted, protocol.ToolEnded:
		item.end = protocol.ToolEnded
	default:
		return
	}
	mapItem(e.Data, func(id string) string { item.id = id; return id })
	in.open = slices.DeleteFunc(in.open, func(o openItem) bool { return o.id == item.id && o.end == item.end })
	if e.Type != item.end {
		in.open = append(in.open, item)
	}
}

// mapItem returns the data of a part's or a tool's event with another id; false for other data.
func mapItem(data any, id func(string) string) (any, bool) {
	switch d := data.(type) {
	case protocol.PartStartData:
		d.Part = id(d.Part)
		return d, true
	case protocol.PartDeltaData:
		d.Part = id(d.Part)
		return d, true
	case protocol.PartEndData:
		d.Part = id(d.Part)
		return d, true
	case protocol.ToolStartedData:
		d.Tool = id(d.Tool)
		return d, true
	case protocol.ToolInputData:
		d.Tool = id(d.Tool)
		return d, true
	case protocol.ToolOutputData:
		d.Tool = id(d.Tool)
		return d, true
	case protocol.ToolEndedData:
		d.Tool = id(d.Tool)
		return d, true
	}
	return data, false
}

// closeItems ends the parts and tools that a turn left open. Errors are ignored: the session closes
// the items of a turn that has ended.
func (in *inner) closeItems(ctx context.Context, open []openItem) {
	status := protocol.ToolUnknown
	if ctx.Err() != nil {
		status = protocol.ToolCancelled
	}
	for _, o := range open {
		e := agent.Event{Type: o.end, Task: in.task.ID, Parent: o.parent, Data: protocol.PartEndData{Part: o.id}}
		if o.end == protocol.ToolEnded {
			e.Data = protocol.ToolEndedData{Tool: o.id, Status: status}
		}
		_ = in.run.out.Emit(e)
	}
}

// translate returns the event for the session of the pipeline, or false if it is not shown there.
func (in *inner) translate(e agent.Event) (agent.Event, bool) {
	data, isItem := mapItem(e.Data, in.id)
	out := agent.Event{Type: e.Type, Task: in.task.ID, Parent: in.id(e.Parent), Data: data}
	switch d := e.Data.(type) {
	case protocol.PlanTasksData:
		return in.progress(d.Tasks)
	case protocol.TextContentData, protocol.NoticeData, protocol.RawData, protocol.RetryData, protocol.RecoveryData,
		protocol.ErrorData:
	default:
		if !isItem {
			return out, false
		}
	}
	if in.role == plannerRole {
		out.Type = reasoningOf(out.Type)
	}
	return out, true
}

// reasoningOf returns the type of reasoning for one of text. A planner's text is not for the user.
func reasoningOf(t protocol.Type) protocol.Type {
	switch t {
	case protocol.TextStart:
		return protocol.ReasoningStart
	case protocol.TextDelta:
		return protocol.ReasoningDelta
	case protocol.TextEnd:
		return protocol.ReasoningEnd
	}
	return t
}

// progress returns the present step of an agent's own plan as progress of its task.
func (in *inner) progress(steps []protocol.Task) (agent.Event, bool) {
	if in.task.ID == "" || len(steps) == 0 {
		return agent.Event{}, false
	}
	done, now := 0, ""
	for _, s := range steps {
		switch {
		case s.Status == protocol.StatusCompleted:
			done++
		case s.Status == protocol.StatusRunning && now == "":
			now = s.Title
		}
	}
	message := strings.TrimSpace(fmt.Sprintf("%d of %d steps done. %s", done, len(steps), now))
	return taskEvent(protocol.TaskProgress, protocol.TaskData{
		Task: in.task.ID, Title: in.task.Title, Message: message,
	}), true
}

func taskEvent(typ protocol.Type, d protocol.TaskData) agent.Event {
	return agent.Event{Type: typ, Task: d.Task, Data: d}
}
