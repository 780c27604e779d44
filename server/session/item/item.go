package item

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// MaxOpen bounds the open parts, and the open tools, of a turn: they are part of the state.
const MaxOpen = 256

// An Output is an event of an agent that belongs to a part or to a tool.
type Output struct {
	Type         protocol.Type
	Task, Parent string
	Part         string // empty: of none
	Kind         protocol.Kind
	Tool         string // empty: of none
}

// Items are the tools that have started in an agent's run of a turn. The zero value has none.
type Items struct {
	started map[string]bool
}

// MissingStart returns the start of the part or tool that an output belongs to. ok is false if it has
// started, in this run or before a restart. The output is recorded next.
func (i *Items) MissingStart(st *protocol.TurnState, o Output) (e record.Event, ok bool) {
	e = record.Event{Task: o.Task, Parent: o.Parent}
	switch {
	case o.Part != "":
		if slices.ContainsFunc(st.Parts, func(p protocol.OpenPart) bool { return p.Part == o.Part && p.Kind == o.Kind }) {
			return e, false
		}
		e.Type, e.Data = protocol.TextStart, protocol.PartStartData{Part: o.Part}
		if o.Kind == protocol.KindReasoning {
			e.Type = protocol.ReasoningStart
		}
		return e, true
	case o.Tool != "":
		started := o.Type == protocol.ToolStarted || i.started[o.Tool] ||
			slices.ContainsFunc(st.Tools, func(t protocol.OpenTool) bool { return t.Tool == o.Tool })
		if i.started == nil {
			i.started = map[string]bool{}
		}
		i.started[o.Tool] = true
		if started {
			return e, false
		}
		e.Type, e.Data = protocol.ToolStarted, protocol.ToolStartedData{Tool: o.Tool}
		return e, true
	}
	return e, false
}

// EndSurplus ends the oldest open part and tool of a turn if there are too many.
func EndSurplus(st *protocol.TurnState) (events []record.Event) {
	if len(st.Parts) > MaxOpen {
		events = append(events, endPart(&st.Parts[0]))
	}
	if len(st.Tools) > MaxOpen {
		events = append(events, endTool(&st.Tools[0], protocol.ToolUnknown))
	}
	return events
}

// EndTools ends the open tools of a turn. They may have had effects: their status is not known.
func EndTools(st *protocol.TurnState) []record.Event { return endTools(st, protocol.ToolUnknown) }

func endTools(st *protocol.TurnState, status protocol.ToolStatus) (events []record.Event) {
	for i := range st.Tools {
		events = append(events, endTool(&st.Tools[i], status))
	}
	return events
}

// EndAll ends the open parts and tools of the state's turn, and the running tasks unless the turn
// completed: then the agent has ended them. end is how the turn ends.
func EndAll(st *protocol.State, end *protocol.TurnEndedData) (events []record.Event) {
	stopped := end.Reason == protocol.ReasonInterrupted || end.Reason == protocol.ReasonDenied
	for i := range st.Turn.Parts {
		events = append(events, endPart(&st.Turn.Parts[i]))
	}
	status := protocol.ToolUnknown
	if stopped {
		status = protocol.ToolCancelled
	}
	events = append(events, endTools(st.Turn, status)...)
	if st.Plan == nil || end.Reason == protocol.ReasonCompleted {
		return events
	}
	typ, d := protocol.TaskFailed, protocol.TaskData{Code: end.Code, Message: end.Message}
	if stopped {
		typ, d = protocol.TaskCancelled, protocol.TaskData{}
	}
	for i := range st.Plan.Tasks {
		if t := &st.Plan.Tasks[i]; t.Status == protocol.StatusRunning {
			d.Task, d.Title = t.ID, t.Title
			events = append(events, record.Event{Type: typ, Task: t.ID, Data: d})
		}
	}
	return events
}

func endPart(p *protocol.OpenPart) record.Event {
	e := record.Event{Type: protocol.TextEnd, Task: p.Task, Data: protocol.PartEndData{Part: p.Part}}
	if p.Kind == protocol.KindReasoning {
		e.Type = protocol.ReasoningEnd
	}
	return e
}

func endTool(t *protocol.OpenTool, status protocol.ToolStatus) record.Event {
	return record.Event{
		Type: protocol.ToolEnded, Task: t.Task, Parent: t.Parent,
		Data: protocol.ToolEndedData{Tool: t.Tool, Status: status},
	}
}
