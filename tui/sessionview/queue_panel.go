package sessionview

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// queueRows is the maximum number of queued messages shown at once.
const queueRows = 6

// queuePanel shows the queued messages.
type queuePanel struct {
	styles   *ui.Styles
	replica  *replica
	commands *commander
	holds    *editHolds

	selected string            // ID of the selected message
	index    int               // its last index, used once it is gone
	pending  map[string]string // message ID → action without an answer yet
}

// queueResult is the effect of a key press on the view.
type queueResult struct {
	cmd    tea.Cmd
	leave  bool               // give up the focus
	edit   *protocol.Message  // message to edit, or nil
	remove []protocol.Message // messages to remove
}

// visible reports whether the panel shows anything.
func (q *queuePanel) visible() bool {
	s := q.replica.state
	return len(s.Queue) > 0 || len(s.Scheduled) > 0 || s.BlockingHold() != nil
}

// selectedIndex returns the index of the selected message, or of the one that took its place. It
// returns -1 if the queue is empty.
func (q *queuePanel) selectedIndex() int {
	s := q.replica.state
	if i := s.QueueIndex(q.selected); i >= 0 {
		q.index = i
	}
	return min(q.index, len(s.Queue)-1)
}

// selectAt selects the message at index i, clamped to the queue.
func (q *queuePanel) selectAt(i int) {
	if queue := q.replica.state.Queue; len(queue) > 0 {
		q.index = min(max(i, 0), len(queue)-1)
		q.selected = queue[q.index].MessageID
	}
}

// press handles a key while the panel has the focus.
func (q *queuePanel) press(key string) queueResult {
	action := q.styles.Keys.InList(keymap.Queue, key)
	switch action {
	case keymap.Back:
		return queueResult{leave: true}
	case keymap.QueueHold:
		return queueResult{cmd: q.send(protocol.DoQueueHold, protocol.QueueHoldData{})}
	case keymap.QueueRelease:
		return queueResult{cmd: q.send(protocol.DoQueueRelease, protocol.QueueReleaseData{})}
	}
	at := q.selectedIndex()
	if at < 0 {
		return queueResult{}
	}
	message := q.replica.state.Queue[at]
	switch action {
	case keymap.Up:
		q.selectAt(at - 1)
	case keymap.Down:
		q.selectAt(at + 1)
	case keymap.First:
		q.selectAt(0)
	case keymap.Last:
		q.selectAt(len(q.replica.state.Queue) - 1)
	case keymap.QueuePageUp:
		q.selectAt(at - queueRows)
	case keymap.QueuePageDown:
		q.selectAt(at + queueRows)
	case keymap.QueueSendNow:
		return queueResult{cmd: q.sendNow(message)}
	case keymap.QueueEdit, keymap.Choose:
		return queueResult{edit: &message}
	case keymap.QueueRemove:
		q.selectAt(at) // then the next message takes its place
		return queueResult{remove: []protocol.Message{message}}
	case keymap.QueueClear:
		return queueResult{remove: slices.Clone(q.replica.state.Queue)}
	case keymap.QueueMoveUp:
		return queueResult{cmd: q.move(message, at-1)}
	case keymap.QueueMoveDown:
		return queueResult{cmd: q.move(message, at+1)}
	}
	return queueResult{}
}

// send sends a command that needs no callback.
func (q *queuePanel) send(verb protocol.Verb, data any) tea.Cmd {
	return q.commands.send(verb, data, nil, q.commands.report)
}

// move moves a message to an index of the queue. It does nothing if the index is out of range.
func (q *queuePanel) move(message protocol.Message, to int) tea.Cmd {
	if to < 0 || to >= len(q.replica.state.Queue) {
		return nil
	}
	q.selected = message.MessageID
	return q.send(protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message.MessageID, Index: to})
}

// sendNow starts a queued message at once.
func (q *queuePanel) sendNow(message protocol.Message) tea.Cmd {
	id := message.MessageID
	if q.pending[id] != "" {
		return nil
	}
	q.pending[id] = "sending now"
	commands := remote.StartNow(q.replica.state, id)
	return q.commands.run(func(ctx context.Context) error {
		return remote.RunAll(ctx, q.commands.session, commands)
	}, func(err error) tea.Cmd {
		delete(q.pending, id)
		return q.commands.report(err)
	})
}

// view returns the panel, or nil if nothing is queued or held. editing is the ID of the message
// edited here, or "".
func (q *queuePanel) view(width int, focused bool, editing string) []string {
	if !q.visible() {
		return nil
	}
	s := q.replica.state
	title := "queue · " + ui.Count(len(s.Queue), "message")
	if len(s.Queue) == 0 {
		title = "queue"
	}
	if h := s.BlockingHold(); h != nil {
		shown := *h
		if h.By != nil && *h.By == q.replica.conn.By { // own holds leave room for the keys
			shown.By = nil
		}
		title += " · " + q.styles.Warning.Render(describe.Hold(&shown))
	}
	hint := ""
	if !q.replica.recorded {
		hint = q.unfocusedHint()
	}
	if focused {
		hint = q.hint()
	}
	hint = ui.FitHints(hint, width-ansi.StringWidth(title)-4-len(keymap.Separator))
	title += q.styles.Dim.Render(ui.Prefixed(keymap.Separator, hint))
	out := []string{q.styles.Rule(title, width)}
	at := q.selectedIndex()
	first := q.firstRow()
	end := min(len(s.Queue), first+queueRows)
	for i := first; i < end; i++ {
		m := &s.Queue[i]
		left := fmt.Sprintf("  %d %s", i+1, ui.Excerpt(m.Text))
		if len(m.Parts) > 0 {
			left += " +" + ui.Count(len(m.Parts), "part")
		}
		right := q.details(m, editing)
		if focused && i == at {
			out = append(out, q.styles.Selected.Render(ui.Spread("▸"+left[1:], right, width)))
			continue
		}
		out = append(out, ui.Spread(left, q.styles.Dim.Render(right), width))
	}
	out = append(out, q.scheduledRows(width)...)
	if hidden := ui.MoreRows(first, len(s.Queue)-end); hidden != "" {
		out = append(out, q.styles.Dim.Render(ui.Fit("  "+hidden, width)))
	}
	return out
}

// scheduledRows returns the rows of the messages that enter the queue later. They have no keys.
func (q *queuePanel) scheduledRows(width int) (rows []string) {
	list := q.replica.state.Scheduled
	for i := range min(len(list), queueRows) {
		right := ui.OneLine(transcript.Clean(remote.ActorName(list[i].By)))
		if list[i].NotBefore != nil {
			right += " at " + q.styles.Date(*list[i].NotBefore)
		}
		rows = append(rows, q.styles.Dim.Render(ui.Spread("  ◷ "+ui.Excerpt(list[i].Text), right, width)))
	}
	if hidden := ui.MoreRows(0, len(list)-len(rows)); hidden != "" {
		rows = append(rows, q.styles.Dim.Render(ui.Fit("  "+hidden, width)))
	}
	return rows
}

// unfocusedHint returns the keys that work without the focus: after an interrupt those of the held
// queue come first.
func (q *queuePanel) unfocusedHint() string {
	s, keys := q.replica.state, q.styles.Keys
	focus := keys.Key(keymap.FocusNext)
	if s.BlockingHold() == nil {
		return focus
	}
	hint := keys.Hint(keymap.ReleaseQueue, "release")
	if len(s.Queue) > 0 {
		hint = keys.Hint(keymap.ReleaseQueue, "release", keymap.ClearQueue, "clear")
	}
	return hint + ui.Prefixed(keymap.Separator, focus)
}

// firstRow returns the index of the first message on the screen.
func (q *queuePanel) firstRow() int {
	return min(max(0, q.selectedIndex()-queueRows/2), max(0, len(q.replica.state.Queue)-queueRows))
}

// click selects the message on a row of the panel. The title is row 0.
func (q *queuePanel) click(row int) {
	if at := q.firstRow() + row - 1; row > 0 && row <= queueRows && at < len(q.replica.state.Queue) {
		q.selectAt(at)
	}
}

// hint returns the keys for the selected message and for the queue.
func (q *queuePanel) hint() string {
	s, keys := q.replica.state, q.styles.Keys
	queueHint := keys.Hint(keymap.QueueHold, "hold")
	if s.BlockingHold() != nil {
		queueHint = keys.Hint(keymap.QueueRelease, "release")
	}
	if len(s.Queue) == 0 {
		return queueHint
	}
	messageHint := keys.Hint(keymap.QueueEdit, "edit", keymap.QueueRemove, "remove", keymap.QueueSendNow, "send now",
		keymap.QueueMoveUp, "up", keymap.QueueMoveDown, "down", keymap.QueueClear, "clear")
	return messageHint + ui.Prefixed(keymap.Separator, queueHint)
}

// details returns who queued a message and when, or what is being done with it.
func (q *queuePanel) details(m *protocol.Message, editing string) string {
	hold := describe.EditHold(q.replica.state, m.MessageID)
	switch {
	case q.pending[m.MessageID] != "":
		return q.pending[m.MessageID] + " …"
	case m.MessageID == editing:
		return "editing"
	case hold != nil:
		right := "edited by " + ui.OneLine(transcript.Clean(remote.ActorName(hold.By)))
		if left := q.holds.remaining(hold); left > 0 {
			right += fmt.Sprintf(", who left: %ds", ui.Seconds(left))
		}
		return right
	}
	right := ui.OneLine(transcript.Clean(remote.ActorName(m.By)))
	if m.QueuedAt != nil {
		right += " " + q.styles.Clock(*m.QueuedAt)
	}
	return right
}
