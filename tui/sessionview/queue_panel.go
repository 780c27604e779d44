package sessionview

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// queueRows is the maximum number of queued and scheduled messages shown at once.
const queueRows = 6

// queuePanel shows the queued messages, and after them the scheduled ones.
type queuePanel struct {
	styles   *ui.Styles
	replica  *replica.Session
	commands *request.Sender
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
	send   *protocol.Message  // scheduled message to send now, or nil
}

// visible reports whether the panel shows anything.
func (q *queuePanel) visible() bool {
	s := q.replica.State
	return len(s.Queue) > 0 || len(s.Scheduled) > 0 || s.BlockingHold() != nil
}

// selectedIndex returns the index of the selected message, or of the one that took its place. It
// returns -1 if there is no message.
func (q *queuePanel) selectedIndex() int {
	if i := waitingIndex(q.replica.State, q.selected); i >= 0 {
		q.index = i
	}
	return min(q.index, len(queuedAndScheduled(q.replica.State))-1)
}

// selectAt selects the message at index i, clamped to the messages.
func (q *queuePanel) selectAt(i int) {
	if all := queuedAndScheduled(q.replica.State); len(all) > 0 {
		q.index = min(max(i, 0), len(all)-1)
		q.selected = all[q.index].MessageID
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
	all := queuedAndScheduled(q.replica.State)
	message := all[at]
	switch action {
	case keymap.Up:
		q.selectAt(at - 1)
	case keymap.Down:
		q.selectAt(at + 1)
	case keymap.First:
		q.selectAt(0)
	case keymap.Last:
		q.selectAt(len(all) - 1)
	case keymap.QueuePageUp:
		q.selectAt(at - queueRows)
	case keymap.QueuePageDown:
		q.selectAt(at + queueRows)
	case keymap.QueueSendNow:
		if isScheduled(q.replica.State, message.MessageID) {
			return queueResult{send: &message}
		}
		return queueResult{cmd: q.sendNow(message)}
	case keymap.QueueEdit, keymap.Choose:
		return queueResult{edit: &message}
	case keymap.QueueRemove:
		q.selectAt(at) // then the next message takes its place
		return queueResult{remove: []protocol.Message{message}}
	case keymap.QueueClear:
		return queueResult{remove: slices.Clone(q.replica.State.Queue)}
	}
	return queueResult{cmd: q.pressMove(action, message, at)}
}

// pressMove moves the message at an index of the queue. A scheduled message is in none.
func (q *queuePanel) pressMove(action keymap.Action, message protocol.Message, at int) tea.Cmd {
	switch {
	case isScheduled(q.replica.State, message.MessageID):
		return nil
	case action == keymap.QueueMoveUp:
		return q.move(message, at-1)
	case action == keymap.QueueMoveDown:
		return q.move(message, at+1)
	}
	return nil
}

// send sends a command that needs no callback.
func (q *queuePanel) send(verb protocol.Verb, data any) tea.Cmd {
	return q.commands.Do(verb, data)
}

// move moves a message to an index of the queue. It does nothing if the index is out of range.
func (q *queuePanel) move(message protocol.Message, to int) tea.Cmd {
	if to < 0 || to >= len(q.replica.State.Queue) {
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
	commands := remote.StartNow(q.replica.State, id)
	return q.commands.Run(func(ctx context.Context) error {
		return remote.RunAll(ctx, q.commands.Session, commands)
	}, q.commands.Await(func(err error) tea.Cmd {
		delete(q.pending, id)
		return q.commands.Report(err)
	}))
}

// view returns the panel, or nil if nothing is queued or held. editing is the ID of the message
// edited here, or "".
func (q *queuePanel) view(width int, focused bool, editing string) []string {
	if !q.visible() {
		return nil
	}
	s := q.replica.State
	title := "queue"
	if len(s.Queue) > 0 {
		title += " · " + format.Count(len(s.Queue), "message")
	}
	if len(s.Scheduled) > 0 {
		title += fmt.Sprintf(" · %d scheduled", len(s.Scheduled))
	}
	if h := s.BlockingHold(); h != nil {
		shown := *h
		if h.By != nil && *h.By == q.replica.Conn.By { // own holds leave room for the keys
			shown.By = nil
		}
		title += " · " + q.styles.Warning.Render(describe.Hold(&shown))
	}
	hint := ""
	if !q.replica.Recorded {
		hint = q.unfocusedHint()
	}
	if focused {
		hint = q.hint()
	}
	hint = ui.FitHints(hint, width-ansi.StringWidth(title)-4-len(keymap.Separator))
	title += q.styles.Dim.Render(ui.Prefixed(keymap.Separator, hint))
	out := []string{q.styles.Rule(title, width)}
	at, all := q.selectedIndex(), queuedAndScheduled(s)
	first := q.firstRow()
	end := min(len(all), first+queueRows)
	for i := first; i < end; i++ {
		left, right := q.row(&all[i], i, editing)
		if focused && i == at {
			out = append(out, q.styles.Selected.Render(ui.Spread("▸"+left[1:], right, width)))
			continue
		}
		out = append(out, ui.Spread(left, q.styles.Dim.Render(right), width))
	}
	if hidden := ui.MoreRows(first, len(all)-end); hidden != "" {
		out = append(out, q.styles.Dim.Render(ui.Fit("  "+hidden, width)))
	}
	return out
}

// row returns the texts of a message at an index. A queued message has its number, a scheduled one
// its time.
func (q *queuePanel) row(m *protocol.Message, index int, editing string) (left, right string) {
	scheduled := index >= len(q.replica.State.Queue)
	mark := strconv.Itoa(index + 1)
	if scheduled {
		mark = "◷"
	}
	left, right = "  "+mark+" "+ui.Excerpt(m.Text), q.details(m, editing)
	if len(m.Parts) > 0 {
		left += " +" + format.Count(len(m.Parts), "part")
	}
	if scheduled && m.NotBefore != nil {
		right += " · " + q.styles.Date(*m.NotBefore)
	}
	return left, right
}

// unfocusedHint returns the keys that work without the focus: after an interrupt those of the held
// queue come first.
func (q *queuePanel) unfocusedHint() string {
	s, keys := q.replica.State, q.styles.Keys
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
	return min(max(0, q.selectedIndex()-queueRows/2), max(0, len(queuedAndScheduled(q.replica.State))-queueRows))
}

// click selects the message on a row of the panel. The title is row 0.
func (q *queuePanel) click(row int) {
	if at := q.firstRow() + row - 1; row > 0 && row <= queueRows && at < len(queuedAndScheduled(q.replica.State)) {
		q.selectAt(at)
	}
}

// hint returns the keys for the selected message and for the queue.
func (q *queuePanel) hint() string {
	s, keys := q.replica.State, q.styles.Keys
	queueHint := keys.Hint(keymap.QueueHold, "hold")
	if s.BlockingHold() != nil {
		queueHint = keys.Hint(keymap.QueueRelease, "release")
	}
	at := q.selectedIndex()
	switch {
	case at < 0:
		return queueHint
	case at >= len(s.Queue):
		return keys.Hint(keymap.QueueEdit, "edit", keymap.QueueRemove, "cancel", keymap.QueueSendNow, "send now")
	}
	messageHint := keys.Hint(keymap.QueueEdit, "edit", keymap.QueueRemove, "remove", keymap.QueueSendNow, "send now",
		keymap.QueueMoveUp, "up", keymap.QueueMoveDown, "down", keymap.QueueClear, "clear")
	return messageHint + ui.Prefixed(keymap.Separator, queueHint)
}

// details returns who queued a message and when, or what is being done with it.
func (q *queuePanel) details(m *protocol.Message, editing string) string {
	hold := describe.EditHold(q.replica.State, m.MessageID)
	switch {
	case q.pending[m.MessageID] != "":
		return q.pending[m.MessageID] + " …"
	case m.MessageID == editing:
		return "editing"
	case hold != nil:
		right := "edited by " + format.JoinLines(transcript.Clean(remote.ActorName(hold.By)))
		if left := q.holds.remaining(hold); left > 0 {
			right += fmt.Sprintf(", who left: %ds", format.SecondsLeft(left))
		}
		return right
	}
	right := format.JoinLines(transcript.Clean(remote.ActorName(m.By)))
	if m.QueuedAt != nil {
		right += " " + q.styles.Clock(*m.QueuedAt)
	}
	return right
}
