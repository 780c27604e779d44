package queue

import (
	"fmt"
	"strconv"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// queueRows is the maximum number of queued and scheduled messages on the screen.
const queueRows = 6

// Rows is the list of the rows of the panel; see [ui.RowMsg].
const Rows = "queue"

// View returns the panel, or nil if nothing is queued or held.
func (q *Panel) View(width, _ int) []string {
	if !q.Visible() {
		return nil
	}
	s := q.Replica.State
	title := "queue"
	if len(s.Queue) > 0 {
		title += " · " + format.Count(len(s.Queue), "message")
	}
	if len(s.Scheduled) > 0 {
		title += fmt.Sprintf(" · %d scheduled", len(s.Scheduled))
	}
	if h := s.BlockingHold(); h != nil {
		shown := *h
		if h.By != nil && *h.By == q.Replica.Conn.By { // own holds leave room for the keys
			shown.By = nil
		}
		title += " · " + q.Styles.Warning.Render(describe.Hold(&shown, q.Styles.ShortDate))
	}
	hint := ""
	if !q.Replica.Recorded {
		hint = q.unfocusedHint()
	}
	if q.focused {
		hint = q.hint()
	}
	hint = ui.FitHints(hint, width-transcript.Width(title)-4-len(keymap.Separator))
	title += q.Styles.Dim.Render(ui.Prefixed(keymap.Separator, hint))
	out := []string{q.Styles.Rule(title, width)}
	at, all := q.Selected(), waiting(s)
	first := min(max(0, at-queueRows/2), max(0, len(all)-queueRows))
	end := min(len(all), first+queueRows)
	for i := first; i < end; i++ {
		left, right := q.row(&all[i], i)
		line := ui.Spread(left, q.Styles.Dim.Render(right), width)
		if q.focused && i == at {
			line = q.Styles.Selected.Render(ui.Spread(" ▸"+left[2:], right, width))
		}
		out = append(out, q.Styles.Keys.MarkRow(Rows, i, line))
	}
	if hidden := ui.MoreRows(first, len(all)-end); hidden != "" {
		out = append(out, q.Styles.Dim.Render(ui.Fit("   "+hidden, width)))
	}
	return out
}

// row returns the texts of a message at an index. A scheduled message has its time.
func (q *Panel) row(m *protocol.Message, index int) (left, right string) {
	left, right = "   "+q.mark(m, index)+" "+ui.Excerpt(m.Text), q.details(m)
	if len(m.Parts) > 0 {
		left += " +" + format.Count(len(m.Parts), "part")
	}
	if index >= len(q.Replica.State.Queue) && m.NotBefore != nil {
		right += " · " + q.Styles.Date(*m.NotBefore)
	}
	return left, right
}

// mark returns the number of a message in the queue, or a sign if it joins the turn or is scheduled.
func (q *Panel) mark(m *protocol.Message, index int) string {
	switch {
	case index >= len(q.Replica.State.Queue):
		return "◷"
	case m.Delivery == protocol.DeliverSteer:
		return "⇢"
	}
	return strconv.Itoa(index + 1)
}

// unfocusedHint returns the keys that work without the focus: after an interrupt the keys of the held
// queue come first.
func (q *Panel) unfocusedHint() string {
	s, keys := q.Replica.State, q.Styles.Keys
	focus := keys.Key(keymap.FocusNext)
	if s.BlockingHold() == nil {
		return focus
	}
	return keys.Hint(keymap.ReleaseQueue, "release") + ui.Prefixed(keymap.Separator, focus)
}

// hint returns the keys for the selected message and for the queue.
func (q *Panel) hint() string {
	s, keys := q.Replica.State, q.Styles.Keys
	queueHint := keys.Hint(keymap.HoldQueue, "hold")
	if s.BlockingHold() != nil {
		queueHint = keys.Hint(keymap.HoldQueue, "release")
	}
	at := q.Selected()
	switch {
	case at < 0:
		return queueHint
	case at >= len(s.Queue):
		return keys.Hint(keymap.Edit, "edit", keymap.Remove, "cancel", keymap.QueueSendNow, "send now")
	}
	messageHint := keys.Hint(keymap.Edit, "edit", keymap.Remove, "remove", keymap.QueueSendNow, "send now")
	if s.Turn != nil && s.Options.Has(protocol.FeatureSteer) {
		messageHint += ui.Prefixed(keymap.Separator, keys.Hint(keymap.QueueSteer, "into the turn"))
	}
	messageHint += ui.Prefixed(keymap.Separator,
		keys.Hint(keymap.QueueMoveUp, "up", keymap.QueueMoveDown, "down"))
	return messageHint + ui.Prefixed(keymap.Separator, queueHint)
}

// details returns who queued a message and when, or what is being done with it.
func (q *Panel) details(m *protocol.Message) string {
	hold := describe.EditHold(q.Replica.State, m.MessageID)
	switch {
	case q.pending[m.MessageID] != "":
		return q.pending[m.MessageID] + " …"
	case m.MessageID == q.Editing():
		return "editing"
	case hold != nil:
		right := "edited by " + transcript.CleanLine(remote.ActorName(hold.By))
		if left := q.remaining(hold); left > 0 {
			right += fmt.Sprintf(", who left: %ds", format.SecondsLeft(left))
		}
		return right
	}
	right := transcript.CleanLine(remote.ActorName(m.By))
	if m.Delivery == protocol.DeliverSteer {
		right = "into the turn · " + right
	}
	if m.QueuedAt != nil {
		right += " " + q.Styles.Clock(*m.QueuedAt)
	}
	return right
}

// Section returns the messages for the side column, the scheduled ones with their times, and why the
// queue is held.
func (q *Panel) Section(width int) (title, note string, lines []string) {
	s := q.Replica.State
	for i, m := range waiting(s) {
		line := " " + q.Styles.Dim.Render(q.mark(&m, i)) + " " + ui.Excerpt(m.Text)
		if i >= len(s.Queue) && m.NotBefore != nil {
			line = ui.Spread(line, q.Styles.Dim.Render(q.Styles.ShortDate(*m.NotBefore)), width)
		}
		lines = append(lines, line)
	}
	note = strconv.Itoa(len(s.Queue))
	switch {
	case len(s.Queue) == 0 && len(s.Scheduled) > 0:
		note = fmt.Sprintf("%d scheduled", len(s.Scheduled))
	case len(s.Scheduled) > 0:
		note += fmt.Sprintf(" · %d scheduled", len(s.Scheduled))
	}
	if h := s.BlockingHold(); h != nil {
		lines = append(lines, " "+q.Styles.Warning.Render(describe.Hold(h, q.Styles.ShortDate)))
	}
	return "queue", note, lines
}
