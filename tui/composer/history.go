package composer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// maxEntries is the maximum number of messages kept of each source.
const maxEntries = 200

// History is the user's earlier messages, recalled one by one as in a shell: first those sent
// by this client, then the user's messages in the log. It is active while the user steps through it.
type History struct {
	sent []sentMessage // oldest first
	past []pastMessage // of all users, oldest first

	entries []string       // newest first; nil if not active
	index   int            // steps back; 0: the draft
	edits   map[int]string // edited texts by index; 0: the draft
}

// sentMessage is a message sent by this client.
type sentMessage struct{ id, text string }

// pastMessage is a message of the log.
type pastMessage struct {
	seq  uint64
	turn string
	protocol.Message
}

// Add adds a sent message and deactivates the history.
func (h *History) Add(id, text string) {
	h.end()
	h.sent = keepNewest(append(h.sent, sentMessage{id, text}))
}

// AddPast adds the newest message of the log.
func (h *History) AddPast(e *protocol.Event) {
	h.past = keepNewest(append(h.past, newPastMessage(e)))
}

// AddOlder adds the messages of a page of the log before the known ones. An active history is
// extended.
func (h *History) AddOlder(page *protocol.HistoryResult, me protocol.Actor) {
	var found []pastMessage
	for _, raw := range page.Events {
		var e protocol.Event
		if !bytes.Contains(raw, []byte(`"message.`)) {
			continue // avoids decoding most events
		}
		if json.Unmarshal(raw, &e) != nil || e.Type != protocol.MessageUser && e.Type != protocol.MessageSteered {
			continue
		}
		if len(h.past) == 0 || e.Seq < h.past[0].seq { // dropped turns are paged in again
			found = append(found, newPastMessage(&e))
		}
	}
	if room := maxEntries - len(h.past); len(found) > room {
		found = found[len(found)-room:]
	}
	h.past = append(found, h.past...)
	if h.active() {
		index, edits := h.index, h.edits
		h.begin(me)
		h.index, h.edits = min(index, len(h.entries)), edits
	}
}

// ForgetPast removes the messages of the log.
func (h *History) ForgetPast() { h.past = nil }

// newPastMessage returns the message of an event, with its sender.
func newPastMessage(e *protocol.Event) pastMessage {
	m := remote.DecodeData[protocol.MessageUserData](e.Data).Message
	if m.By == nil {
		m.By = e.By
	}
	return pastMessage{e.Seq, e.Turn, m}
}

// keepNewest returns the last maxEntries elements of all.
func keepNewest[T any](all []T) []T { return slices.Delete(all, 0, max(0, len(all)-maxEntries)) }

// active reports whether the user steps through the history.
func (h *History) active() bool { return h.entries != nil }

// begin activates the history.
func (h *History) begin(me protocol.Actor) {
	h.entries, h.index, h.edits = h.list(me), 0, map[int]string{}
}

// list returns the messages newest first, without consecutive duplicates. It is not nil.
func (h *History) list(me protocol.Actor) []string {
	list := []string{}
	add := func(text string) {
		if text != "" && (len(list) == 0 || list[len(list)-1] != text) {
			list = append(list, text)
		}
	}
	for _, m := range slices.Backward(h.sent) {
		add(m.text)
	}
	for _, m := range slices.Backward(h.past) {
		if m.By != nil && *m.By == me && !h.isSent(m.ClientMessageID) {
			add(m.Text)
		}
	}
	return list
}

// lastSent returns the last message that was sent, if one is known, and its turn, or "" if that is
// not known.
func (h *History) lastSent(me protocol.Actor) (text, turn string, ok bool) {
	for _, m := range slices.Backward(h.sent) {
		if m.id == "" {
			continue
		}
		i := slices.IndexFunc(h.past, func(p pastMessage) bool { return p.ClientMessageID == m.id })
		if i >= 0 {
			turn = h.past[i].turn
		}
		return m.text, turn, true
	}
	for _, m := range slices.Backward(h.past) {
		if m.By != nil && *m.By == me && m.Text != "" {
			return m.Text, m.turn, true
		}
	}
	return "", "", false
}

// isSent reports whether this client sent the message with a client message id.
func (h *History) isSent(id string) bool {
	return id != "" && slices.ContainsFunc(h.sent, func(m sentMessage) bool { return m.id == id })
}

// step moves back (1) or forward (-1) in the history and returns the text to edit there. current is
// the text to keep as the edit of the entry that is left. ok is false at either end.
func (h *History) step(by int, current string, me protocol.Actor) (text string, ok bool) {
	if !h.active() {
		if by < 0 {
			return "", false
		}
		h.begin(me)
	}
	to := h.index + by
	if to < 0 || to > len(h.entries) {
		if h.index == 0 {
			h.end()
		}
		return "", false
	}
	h.edits[h.index] = current
	h.index = to
	if text, ok = h.edits[to]; !ok {
		text = h.entries[to-1]
	}
	if to == 0 {
		h.end()
	}
	return text, true
}

// draft returns the text before the recall began, or the current text if the history is not active.
func (h *History) draft(current string) string {
	if h.index == 0 {
		return current
	}
	return h.edits[0]
}

// end deactivates the history. Each edited message becomes a message.
func (h *History) end() {
	for _, text := range slices.Backward(h.edited()) {
		h.sent = keepNewest(append(h.sent, sentMessage{text: text}))
	}
	h.entries, h.index, h.edits = nil, 0, nil
}

// edited returns the messages that were edited, newest first.
func (h *History) edited() (texts []string) {
	for _, i := range slices.Sorted(maps.Keys(h.edits)) {
		if text := strings.TrimSpace(h.edits[i]); i > 0 && text != "" && text != h.entries[i-1] {
			texts = append(texts, text)
		}
	}
	return texts
}

// leave is end for a history whose current text was not sent.
func (h *History) leave(current string) {
	if h.index > 0 {
		h.edits[h.index] = current
	}
	h.end()
}
