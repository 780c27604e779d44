package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// queueRows is the most messages of the queue that show at once.
const queueRows = 6

// queue is the panel of messages that wait.
type queue struct {
	look   *look
	chosen string            // message_id
	place  int               // where that was, for when it is gone
	asking map[string]string // message → what was asked for and not answered
}

// at is the index of the chosen message, or of the one that took its place; -1
// when none waits.
func (q *queue) at(s *protocol.State) int {
	if i := s.QueueIndex(q.chosen); i >= 0 {
		q.place = i
	}
	return min(q.place, len(s.Queue)-1)
}

func (q *queue) choose(s *protocol.State, i int) {
	if len(s.Queue) > 0 {
		q.place = min(max(i, 0), len(s.Queue)-1)
		q.chosen = s.Queue[q.place].MessageID
	}
}

// Render is empty when nothing waits and nothing is held. away tells how long an
// editor is gone whose hold runs out, or 0.
func (q *queue) Render(s *protocol.State, width int, focused bool, editing string, away func(*protocol.Hold) time.Duration) []string {
	if len(s.Queue) == 0 && s.BlockingHold() == nil {
		return nil
	}
	title := "queue · " + count(len(s.Queue), "message")
	if len(s.Queue) == 0 {
		title = "queue"
	}
	if h := s.BlockingHold(); h != nil {
		title += " · " + q.look.warn.Render(holdText(h))
	}
	hint := q.look.keys.key(doNextPart)
	if focused {
		hint = q.hint(s)
	}
	title += q.look.dim.Render(prefixed(between, hints(hint, width-ansi.StringWidth(title)-4-len(between))))
	out := []string{q.look.rule(title, width)}
	at := q.at(s)
	first := min(max(0, at-queueRows/2), max(0, len(s.Queue)-queueRows))
	end := min(len(s.Queue), first+queueRows)
	for i := first; i < end; i++ {
		m := &s.Queue[i]
		left := fmt.Sprintf("  %d %s", i+1, glimpse(m.Text))
		if len(m.Parts) > 0 {
			left += " +" + count(len(m.Parts), "part")
		}
		right := q.about(s, m, editing, away)
		if focused && i == at {
			out = append(out, q.look.chosen.Render(spread("▸"+left[1:], right, width)))
			continue
		}
		out = append(out, spread(left, q.look.dim.Render(right), width))
	}
	if hidden := more(first, len(s.Queue)-end); hidden != "" {
		out = append(out, q.look.dim.Render(fit("  "+hidden, width)))
	}
	return out
}

// hint is what can be done with the chosen message, and with all of them.
func (q *queue) hint(s *protocol.State) string {
	keys, all := q.look.keys, q.look.keys.hint(doHold, "hold")
	if s.BlockingHold() != nil {
		all = keys.hint(doRelease, "release")
	}
	if len(s.Queue) == 0 {
		return all
	}
	one := keys.hint(doEdit, "edit", doRemove, "remove", doSendNow, "send now", doMoveUp, "up", doMoveDown, "down")
	return one + prefixed(between, all)
}

// more says how many rows there are on both sides of those shown.
func more(above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, fmt.Sprintf("↑ %d more", above))
	}
	if below > 0 {
		parts = append(parts, fmt.Sprintf("↓ %d more", below))
	}
	return strings.Join(parts, " · ")
}

// about is who queued a message and when, or what is done to it now.
func (q *queue) about(s *protocol.State, m *protocol.Message, editing string, away func(*protocol.Hold) time.Duration) string {
	hold := editHold(s, m.MessageID)
	switch {
	case q.asking[m.MessageID] != "":
		return q.asking[m.MessageID] + " …"
	case m.MessageID == editing:
		return "editing"
	case hold != nil:
		right := "edited by " + oneLine(transcript.Clean(nameOf(hold.By)))
		if left := away(hold); left > 0 {
			right += fmt.Sprintf(", who left: %ds", seconds(left))
		}
		return right
	}
	right := oneLine(transcript.Clean(nameOf(m.By)))
	if m.QueuedAt != nil {
		right += " " + q.look.clock(*m.QueuedAt)
	}
	return right
}

// seconds is what a countdown shows of a time that is left.
func seconds(left time.Duration) int { return int((left + time.Second - 1) / time.Second) }

// editHold is the hold of whoever edits the message, or nil.
func editHold(s *protocol.State, message string) *protocol.Hold {
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return h
		}
	}
	return nil
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
