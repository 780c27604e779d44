package queue

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// removal holds the messages removed last, in the order of their indexes.
type removal struct {
	messages []removedMessage
	until    time.Time
}

// removedMessage is a message with its index in the queue before the removal, or -1 if it was scheduled.
type removedMessage struct {
	message protocol.Message
	index   int
}

// Clear removes all queued messages.
func (q *Panel) Clear() panel.Result {
	if len(q.Replica.State.Queue) == 0 {
		q.Commands.Status.Text = "the queue is empty"
		return panel.Result{}
	}
	return q.remove(q.Replica.State.Queue)
}

// remove removes messages from the queue. The user's own can be restored for a while.
// Messages of others could return only under another name, so it asks before.
func (q *Panel) remove(messages []protocol.Message) panel.Result {
	var removed []removedMessage
	others := 0
	for _, m := range messages {
		removed = append(removed, removedMessage{m, q.Replica.State.QueueIndex(m.MessageID)})
		if m.By == nil || *m.By != q.Replica.Conn.By {
			others++
		}
	}
	if others == 0 {
		return panel.Result{Cmd: q.sendRemovals(removed, true)}
	}
	title := "remove " + format.Count(len(removed), "message") + ", " + format.Count(others, "message") +
		" of others? This cannot be undone"
	return panel.Result{Push: ui.NewQuestion(q.Styles, title, ui.Choice{Label: "Remove", Run: func() tea.Cmd {
		return q.sendRemovals(removed, false)
	}})}
}

// sendRemovals removes messages in order and offers to undo what succeeded.
func (q *Panel) sendRemovals(removed []removedMessage, undoable bool) tea.Cmd {
	var gone []removedMessage
	return q.Commands.Run(func(ctx context.Context) error {
		for _, r := range removed {
			result := new(protocol.QueueRemoveResult)
			data := protocol.QueueRemoveData{MessageID: r.message.MessageID}
			if err := q.Commands.Session.Do(ctx, protocol.DoQueueRemove, data, result); err != nil {
				return err
			}
			if result.Removed {
				gone = append(gone, r)
			}
		}
		return nil
	}, func(err error) tea.Cmd {
		if len(gone) > 0 {
			text := "removed " + format.Count(len(gone), "message")
			if undoable {
				q.removed = removal{gone, q.Now().Add(ui.UndoTimeout)}
				text += ui.Prefixed(keymap.Separator, q.Styles.Keys.Hint(keymap.Suspend, "undo"))
			}
			q.Commands.Status.ShowUndo(text)
		}
		return q.Commands.Report(err)
	})
}

// Undo queues the messages removed last again, at their former places. ok is false if there
// are none or the time is over.
func (q *Panel) Undo() (cmd tea.Cmd, ok bool) {
	removed := q.removed.messages
	ok = len(removed) > 0 && q.Now().Before(q.removed.until)
	q.removed = removal{}
	if !ok {
		return nil, false
	}
	ids := make([]string, len(removed))
	for i := range ids {
		ids[i] = q.NewID()
	}
	restored := 0
	return q.Commands.Run(func(ctx context.Context) error {
		for i, r := range removed {
			result := new(protocol.SendResult)
			data := protocol.SendData{Text: r.message.Text, Parts: r.message.Parts, ClientMessageID: ids[i]}
			if r.index < 0 {
				data.NotBefore = r.message.NotBefore
			}
			if err := q.Commands.Session.Do(ctx, protocol.DoSend, data, result); err != nil {
				return err
			}
			restored++
			if result.Status != protocol.SendQueued || result.Index == nil || *result.Index <= r.index {
				continue
			}
			move := protocol.QueueMoveData{MessageID: result.MessageID, Index: r.index}
			err := q.Commands.Session.Do(ctx, protocol.DoQueueMove, move, nil)
			if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound { // not found: its turn has started
				return err
			}
		}
		return nil
	}, func(err error) tea.Cmd {
		for _, r := range removed[restored:] { // these did not return: their texts must not be lost
			q.Restore(r.message.Text)
		}
		if err == nil {
			q.Commands.Status.Text = "restored " + format.Count(restored, "message")
		}
		return q.Commands.Report(err)
	}), true
}
