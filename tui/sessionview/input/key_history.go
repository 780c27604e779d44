package input

import (
	"slices"
	"time"

	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// escapeInterval is the longest time between two esc that edit the last message.
const escapeInterval = 500 * time.Millisecond

// keyHistory records earlier keys that change the meaning of the next one.
type keyHistory struct {
	now     func() time.Time
	cleared *drafts.Draft // the last key was ctrl+c and cleared this
	deleted bool          // the last key was ctrl+d and deleted a character
	moved   bool          // the text was written about a request: the next enter does not send it
	leaving string        // the last message of leaveWords, which was explained
	escape  time.Time     // when the last key was an esc that did nothing; zero: it was not
}

// begin ends what lasts until the next key. It returns the draft that the last key cleared, or nil.
func (h *keyHistory) begin(key string) (cleared *drafts.Draft) {
	cleared, h.cleared = h.cleared, nil
	if key != "ctrl+d" {
		h.deleted = false
	}
	if key != "esc" {
		h.escape = time.Time{}
	}
	return cleared
}

// escaped records an esc that does nothing. It reports whether it is the second one in an empty
// input.
func (h *keyHistory) escaped(empty bool) (twice bool) {
	last, now := h.escape, h.now()
	h.escape = time.Time{}
	twice = empty && !last.IsZero() && now.Sub(last) <= escapeInterval
	if empty && !twice {
		h.escape = now
	}
	return twice
}

// takeMoved reports whether the text, if there is one, was written about a request. The next key acts.
func (h *keyHistory) takeMoved(empty bool) bool {
	moved := h.moved && !empty
	h.moved = false
	return moved
}

// leaveWords are what users type to leave other programs.
var leaveWords = []string{":q", ":q!", ":qa", ":x", ":wq", ":quit", "exit", "quit"}

// explainLeaving returns how to leave for a message that leaves other programs, or "" if it is sent: the
// same message again is.
func (h *keyHistory) explainLeaving(keys *keymap.Map, text string) string {
	if !slices.Contains(leaveWords, text) || h.leaving == text {
		h.leaving = ""
		return ""
	}
	h.leaving = text
	return "ctrl+c twice leaves" + ui.Prefixed(keymap.Separator, keys.Hint(keymap.Send, "again sends "+text))
}
