package tui

import (
	"fmt"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// queueRows is the most messages of the queue that show at once.
const queueRows = 6

// queue is the panel of messages that wait.
type queue struct {
	look   *look
	chosen string // message_id
}

// at is the index of the chosen message, or of the first; -1 when none waits.
func (q *queue) at(s *protocol.State) int {
	if len(s.Queue) == 0 {
		return -1
	}
	return max(0, s.Queued(q.chosen))
}

func (q *queue) choose(s *protocol.State, i int) {
	if len(s.Queue) > 0 {
		q.chosen = s.Queue[min(max(i, 0), len(s.Queue)-1)].MessageID
	}
}

// Render is empty when nothing waits and nothing is held.
func (q *queue) Render(s *protocol.State, width int, focused bool, editing string) []string {
	if len(s.Queue) == 0 && s.Blocked() == nil {
		return nil
	}
	title := "queue · " + count(len(s.Queue), "message")
	if len(s.Queue) == 0 {
		title = "queue"
	}
	if h := s.Blocked(); h != nil {
		title += " · " + q.look.warn.Render(holdText(h))
	}
	if focused {
		title += q.look.dim.Render(" · " + q.look.keys.hint(doEdit, "edit", doRemove, "remove", doMoveUp, "up", doMoveDown, "down", doHold, "hold", doRelease, "release"))
	} else {
		title += q.look.dim.Render(" · tab")
	}
	out := []string{q.look.rule(title, width)}
	at := q.at(s)
	first := min(max(0, at-queueRows/2), max(0, len(s.Queue)-queueRows))
	end := min(len(s.Queue), first+queueRows)
	for i := first; i < end; i++ {
		m := &s.Queue[i]
		left := fmt.Sprintf("  %d %s", i+1, oneLine(transcript.Clean(m.Text)))
		if len(m.Parts) > 0 {
			left += " +" + count(len(m.Parts), "part")
		}
		right := oneLine(transcript.Clean(nameOf(m.By)))
		switch {
		case m.MessageID == editing:
			right = "editing"
		case editedBy(s, m.MessageID) != "":
			right = "edited by " + oneLine(transcript.Clean(editedBy(s, m.MessageID)))
		case m.QueuedAt != nil:
			right += " " + q.look.clock(*m.QueuedAt)
		}
		if focused && i == at {
			out = append(out, q.look.chosen.Render(spread("▸"+left[1:], right, width)))
			continue
		}
		out = append(out, spread(left, q.look.dim.Render(right), width))
	}
	if hidden := len(s.Queue) - (end - first); hidden > 0 {
		out = append(out, q.look.dim.Render(fmt.Sprintf("  … %d more", hidden)))
	}
	return out
}

func editedBy(s *protocol.State, message string) string {
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return nameOf(h.By)
		}
	}
	return ""
}

func holdText(h *protocol.Hold) string {
	s := "held"
	switch h.Reason {
	case protocol.HoldEdit:
		s = "waits for an edit"
	case protocol.HoldInterrupt:
		s = "held after an interrupt"
	case protocol.HoldRestart:
		s = "held after a restart"
	case protocol.HoldDenyStop:
		s = "held after a denial"
	}
	if h.By != nil {
		s += " by " + oneLine(transcript.Clean(h.By.Name))
	}
	return s
}
