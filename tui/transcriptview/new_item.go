package transcriptview

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
)

// newItem returns the list item for a protocol item and whether it starts collapsed. It returns nil
// for an item that is not shown.
func (v *View) newItem(it *protocol.Item, e *protocol.Event) (item transcript.Item, collapsed bool) {
	switch it.Kind {
	case protocol.ItemText:
		head := v.speakerHeading(it, e)
		return &agentMessage{itemAnchor: itemAnchor{0, it.Seq, it}, styles: v.styles, heading: head}, it.Task != ""
	case protocol.ItemReasoning:
		return &reasoning{
			itemAnchor: itemAnchor{0, it.Seq, it},
			styles:     v.styles,
			task:       v.taskTitle(it.Task),
			joined:     afterActivity(v.List),
		}, true
	case protocol.ItemTool:
		return &toolCall{
			itemAnchor: itemAnchor{StepAnchor, it.Seq, it},
			styles:     v.styles,
			task:       v.taskTitle(it.Task),
			joined:     afterActivity(v.List),
			waits:      v.Turns.Waits(),
		}, true
	case protocol.ItemSteered:
		return v.newSteered(it, e), false
	case protocol.ItemApproval:
		return &approvalItem{itemAnchor: itemAnchor{StepAnchor, it.Seq, it}, styles: v.styles}, false
	}
	if it.Type == protocol.TextContent {
		c := remote.DecodeData[protocol.TextContentData](it.Data).Content
		file := newMessageFile(v.styles, c, v.speakerHeading(it, e))
		file.seq = it.Seq
		return file, false
	}
	if n := v.eventNote(e); n != nil {
		return n, false
	}
	return nil, false
}

// speakerHeading returns the heading of a message of the agent. It is empty if the message
// continues the one before.
func (v *View) speakerHeading(it *protocol.Item, e *protocol.Event) heading {
	author := cmp.Or(it.Agent, v.taskTitle(it.Task), "agent")
	if author == v.speaker && it.Task == "" {
		return heading{}
	}
	v.speaker = author
	return heading{author, v.styles.Clock(e.Time)}
}

// afterActivity reports whether the last item is a tool call or reasoning. No blank line separates
// the next one from it.
func afterActivity(list *transcript.List) bool {
	if list.Len() == 0 {
		return false
	}
	switch list.Item(list.Last()).(type) {
	case *toolCall, *reasoning:
		return true
	}
	return false
}

// markWaiting marks the tool call of an approval as waiting until the approval is resolved.
func (v *View) markWaiting(it *protocol.Item) {
	if it.Approval == nil || it.Approval.Tool == "" {
		return
	}
	if place, ok := v.calls[it.Approval.Tool]; ok && place.call.item.Open {
		place.call.waiting = it.Resolved == nil
		v.List.Invalidate(place.id)
	}
}

// eventNote returns the note for an event, or nil if a note does not show the event. No blank line
// separates it from another one.
func (v *View) eventNote(e *protocol.Event) *note {
	line, ok := describe.Event(e.Type, e.Data)
	if !ok {
		return nil
	}
	n := &note{
		itemAnchor: itemAnchor{seq: e.Seq}, styles: v.styles,
		level: line.Level, text: line.String(), fromEvent: true, blankBefore: true,
	}
	if e.Type == protocol.ErrorRaised {
		n.kind = StepAnchor
	}
	if v.List.Len() > 0 {
		last, ok := v.List.Item(v.List.Last()).(*note)
		n.blankBefore = !ok || !last.fromEvent
	}
	return n
}

// taskTitle returns the title of a task, or its id if the title is not known.
func (v *View) taskTitle(id string) string {
	if title := v.taskTitles[id]; title != "" || id == "" {
		return title
	}
	if v.plan != nil {
		if t := v.plan.plan.Task(id); t != nil {
			return t.Title
		}
	}
	return id
}
