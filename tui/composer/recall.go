package composer

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// maxEntries is the most messages of each source that can be walked back to.
const maxEntries = 200

// inputHistory is what a person wrote before, to be walked through as in a shell: what
// was sent from this screen first, then their messages of the session's past.
type inputHistory struct {
	sent []sentMessage // oldest first
	past []pastMessage // of everybody, oldest first

	entries []string       // while it is walked: newest first
	index   int            // steps back; 0 is the draft
	edits   map[int]string // what was written over them; of 0, the draft
}

// sentMessage is a message that was sent from here.
type sentMessage struct{ id, text string }

// pastMessage is a message of the log.
type pastMessage struct {
	seq uint64
	protocol.Message
}

// add remembers a message that is sent, and ends the walk.
func (r *inputHistory) add(id, text string) {
	r.sent = keepNewest(append(r.sent, sentMessage{id, text}))
	r.end()
}

// addPast remembers a message that the log goes on with.
func (r *inputHistory) addPast(e *protocol.Event) {
	r.past = keepNewest(append(r.past, newPastMessage(e)))
}

// addOlder remembers what a page of history has, before all that is known. A walk
// under way can go on into it.
func (r *inputHistory) addOlder(page *protocol.HistoryResult, me protocol.Actor) {
	var found []pastMessage
	for _, raw := range page.Events {
		var e protocol.Event
		if !bytes.Contains(raw, []byte(protocol.MessageUser)) || json.Unmarshal(raw, &e) != nil ||
			e.Type != protocol.MessageUser {
			continue
		}
		if len(r.past) == 0 || e.Seq < r.past[0].seq { // what the screen forgot comes a second time
			found = append(found, newPastMessage(&e))
		}
	}
	if room := maxEntries - len(r.past); len(found) > room {
		found = found[len(found)-room:]
	}
	r.past = append(found, r.past...)
	if r.active() {
		at, made := r.index, r.edits
		r.begin(me)
		r.index, r.edits = min(at, len(r.entries)), made
	}
}

// newPastMessage is the message that an event tells of, with who sent it.
func newPastMessage(e *protocol.Event) pastMessage {
	m := remote.DecodeData[protocol.MessageUserData](e.Data).Message
	if m.By == nil {
		m.By = e.By
	}
	return pastMessage{e.Seq, m}
}

// keepNewest is the newest of a list.
func keepNewest[T any](all []T) []T {
	if n := len(all) - maxEntries; n > 0 {
		return slices.Clone(all[n:])
	}
	return all
}

func (r *inputHistory) active() bool { return r.entries != nil }

// begin lists what can be walked to, newest first and nothing twice in a row.
func (r *inputHistory) begin(me protocol.Actor) {
	r.entries, r.index, r.edits = []string{}, 0, map[int]string{}
	add := func(text string) {
		if text != "" && (len(r.entries) == 0 || r.entries[len(r.entries)-1] != text) {
			r.entries = append(r.entries, text)
		}
	}
	for _, m := range slices.Backward(r.sent) {
		add(m.text)
	}
	for _, m := range slices.Backward(r.past) {
		if m.By != nil && *m.By == me && !r.isSent(m.ClientMessageID) {
			add(m.Text)
		}
	}
}

func (r *inputHistory) isSent(id string) bool {
	return id != "" && slices.ContainsFunc(r.sent, func(m sentMessage) bool { return m.id == id })
}

// step goes further back (1) or forth again (-1) from what is written now, and
// returns what is to be written instead; ok is false at an end.
func (r *inputHistory) step(by int, written string, me protocol.Actor) (text string, ok bool) {
	if !r.active() {
		if by < 0 {
			return "", false
		}
		r.begin(me)
	}
	to := r.index + by
	if to < 0 || to > len(r.entries) {
		if r.index == 0 {
			r.end()
		}
		return "", false
	}
	r.edits[r.index] = written
	r.index = to
	if text, ok = r.edits[to]; !ok {
		text = r.entries[to-1]
	}
	if to == 0 {
		r.end()
	}
	return text, true
}

// draft is what was written before the walk began, or what is written now.
func (r *inputHistory) draft(written string) string {
	if r.index == 0 {
		return written
	}
	return r.edits[0]
}

func (r *inputHistory) end() { r.entries, r.index, r.edits = nil, 0, nil }
