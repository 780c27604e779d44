package transcriptview

import (
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Bounds of what a call shows of the calls and texts that are nested in it.
const (
	nestedCollapsed = 3   // newest ones, one line each
	nestedExpanded  = 200 // newest ones
	nestedTextLines = 20  // last lines of a text
)

// A callPlace is where a tool call of the current turn is shown: it is an item of the list, or nested
// in one.
type callPlace struct {
	call *toolCall
	id   transcript.ID
}

// A nestedItem is a call, or a text or reasoning of the agent, that is nested in a call.
type nestedItem struct {
	call *toolCall // nil: a text
	text *protocol.Item
}

// showNested shows an item that belongs to a call of the turn in that call. It reports false for other
// items.
func (v *View) showNested(it *protocol.Item, e *protocol.Event) bool {
	place, ok := v.calls[it.Parent]
	if !ok || it.Parent == "" {
		return false
	}
	switch it.Kind {
	case protocol.ItemTool:
		v.showNestedCall(place, it, e)
	case protocol.ItemText, protocol.ItemReasoning:
		if !v.nested[it] {
			place.call.nested = append(place.call.nested, nestedItem{text: it})
		}
	default:
		return false
	}
	v.nested[it] = true
	v.List.Invalidate(place.id)
	return true
}

// showNestedCall adds a call to the one that it is nested in, or updates it.
func (v *View) showNestedCall(parent callPlace, it *protocol.Item, e *protocol.Event) {
	if !v.nested[it] {
		call := &toolCall{
			itemAnchor: itemAnchor{StepAnchor, it.Seq, it}, styles: v.styles, joined: true, waits: v.Turns.Waits(),
		}
		parent.call.nested = append(parent.call.nested, nestedItem{call: call})
		v.placeCall(call, parent.id)
	} else if place := v.calls[it.ID]; place.call != nil {
		place.call.apply(e)
	}
}

// placeCall notes the item of the list that shows a call.
func (v *View) placeCall(call *toolCall, id transcript.ID) {
	v.calls[call.item.ID] = callPlace{call, id}
	if call.item.Open {
		v.runningTools[call.item] = id
	}
}

// nestedLines returns the lines of what is nested in the call: when it is collapsed, a line for each
// of the newest.
func (t *toolCall) nestedLines(width int, collapsed bool) (lines []string) {
	most := t.revealed.limit(nestedExpanded)
	if collapsed {
		most = nestedCollapsed
	}
	list := t.nested
	room := max(1, width-ui.Indent)
	if hidden := len(list) - most; hidden > 0 {
		list = list[hidden:]
		text := "… " + format.Count(hidden, "more nested item") + " above"
		if collapsed {
			text += ui.Prefixed(keymap.Separator, t.styles.Keys.Hint(keymap.ToggleLast, "shows all"))
		}
		lines = append(lines, "   "+t.dim(text, room))
	}
	for i := range list {
		for _, line := range list[i].lines(t.styles, room, collapsed, &t.revealed) {
			lines = append(lines, "   "+line)
		}
	}
	return lines
}

// lines returns the lines of a nested item: of a collapsed one the first, or the last of a text. r is
// what a search shows of the call that it is nested in.
func (n *nestedItem) lines(styles *ui.Styles, width int, collapsed bool, r *revealed) (lines []string) {
	if n.call == nil {
		text := transcript.NewText()
		text.Append(string(n.text.Text))
		most := r.limit(nestedTextLines)
		if collapsed {
			most = 1
		}
		tail, hidden := text.Tail(max(1, width-2), most)
		if hidden > 0 && !collapsed {
			lines = append(lines, styles.Dim.Render("… "+format.Count(hidden, "more line")+" above"))
		}
		for _, line := range tail {
			lines = append(lines, "  "+styles.Dim.Render(styles.RenderLine(line)))
		}
		return lines
	}
	if collapsed {
		return []string{n.call.titleLine(width)}
	}
	b := n.call.Block(width, !r.active)
	lines = append(lines, b.Header...)
	for _, line := range b.Body {
		lines = append(lines, b.RenderLine(line))
	}
	return append(lines, b.Footer...)
}

// nestedText returns the texts of what is nested in the call, to search and to view.
func (t *toolCall) nestedText() (text string) {
	for _, n := range t.nested {
		if n.call == nil {
			text += "\n" + string(n.text.Text)
		} else {
			text += "\n" + n.call.text()
		}
	}
	return text
}
