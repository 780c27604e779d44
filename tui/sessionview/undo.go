package sessionview

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// undo holds the messages removed last, in the order of their indexes.
type undo struct {
	removed []removedMessage
	until   time.Time
}

// removedMessage is a message with its index in the queue, or its time, before the removal.
type removedMessage struct {
	message protocol.Message
	index   int

	scheduled *time.Time // when it was to enter the queue; nil: it was there
}

// clearQueue removes all queued messages.
func (v *View) clearQueue() tea.Cmd {
	if len(v.replica.State.Queue) == 0 {
		v.status.Text = "the queue is empty"
		return nil
	}
	return v.removeQueued(v.replica.State.Queue)
}

// removeQueued removes messages from the queue. Those of this user can be restored for a while.
// Messages of others could return only under another name, so it asks before.
func (v *View) removeQueued(messages []protocol.Message) tea.Cmd {
	var removed []removedMessage
	others := 0
	for _, m := range messages {
		r := removedMessage{message: m, index: v.replica.State.QueueIndex(m.MessageID)}
		if r.index < 0 {
			r.scheduled = m.NotBefore
		}
		removed = append(removed, r)
		if m.By == nil || *m.By != v.replica.Conn.By {
			others++
		}
	}
	if others == 0 {
		return v.sendRemovals(removed, true)
	}
	title := "remove " + format.Count(len(removed), "message") + ", " + format.Count(others, "message") +
		" of others? This cannot be undone"
	v.overlays.Push(ui.NewQuestion(v.Styles, title, ui.Choice{Label: "Remove", Run: func() tea.Cmd {
		return v.sendRemovals(removed, false)
	}}))
	return nil
}

// sendRemovals removes messages in order and offers to undo what succeeded.
func (v *View) sendRemovals(removed []removedMessage, undoable bool) tea.Cmd {
	var gone []removedMessage
	return v.commands.Run(func(ctx context.Context) error {
		for _, r := range removed {
			result := new(protocol.QueueRemoveResult)
			data := protocol.QueueRemoveData{MessageID: r.message.MessageID}
			if err := v.Session.Do(ctx, protocol.DoQueueRemove, data, result); err != nil {
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
				v.panels.undo = undo{gone, v.Now().Add(ui.UndoTimeout)}
				text += ui.Prefixed(keymap.Separator, v.Styles.Keys.Hint(keymap.Suspend, "undo"))
			}
			v.status.ShowUndo(text)
		}
		return v.commands.Report(err)
	})
}

// undoRemoval queues the messages removed last again, at their former places. ok is false if there
// are none or the time is over.
func (v *View) undoRemoval() (cmd tea.Cmd, ok bool) {
	removed := v.panels.undo.removed
	ok = len(removed) > 0 && v.Now().Before(v.panels.undo.until)
	v.panels.undo = undo{}
	if !ok {
		return nil, false
	}
	ids := make([]string, len(removed))
	for i := range ids {
		ids[i] = v.NewID()
	}
	restored := 0
	return v.commands.Run(func(ctx context.Context) error {
		for i, r := range removed {
			result := new(protocol.SendResult)
			data := protocol.SendData{
				Text: r.message.Text, Parts: r.message.Parts, ClientMessageID: ids[i], NotBefore: r.scheduled,
			}
			if err := v.Session.Do(ctx, protocol.DoSend, data, result); err != nil {
				return err
			}
			restored++
			if result.Status != protocol.SendQueued || result.Index == nil || *result.Index <= r.index {
				continue
			}
			move := protocol.QueueMoveData{MessageID: result.MessageID, Index: r.index}
			if err := v.Session.Do(ctx, protocol.DoQueueMove, move, nil); err != nil && !isGone(err) {
				return err
			}
		}
		return nil
	}, func(err error) tea.Cmd {
		for _, r := range removed[restored:] { // these did not return: their texts must not be lost
			v.restore(r.message.Text, nil)
		}
		if err == nil {
			v.status.Text = "restored " + format.Count(restored, "message")
		}
		return v.commands.Report(err)
	}), true
}

// isGone reports whether a queued message has left the queue: its turn started.
func isGone(err error) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Code == protocol.CodeNotFound
}
