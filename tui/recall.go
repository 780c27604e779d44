package tui

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// recallMax is the most messages of each source that can be walked back to.
const recallMax = 200

// recall is what a person wrote before, to be walked through as in a shell: what
// was sent from this screen first, then their messages of the session's past.
type recall struct {
	sent []sentence   // oldest first
	past []remembered // of everybody, oldest first

	walk []string       // while it is walked: newest first
	at   int            // steps back; 0 is the draft
	made map[int]string // what was written over them; of 0, the draft
}

// sentence is a message that was sent from here.
type sentence struct{ id, text string }

// remembered is a message of the log.
type remembered struct {
	seq uint64
	protocol.Message
}

// add remembers a message that is sent, and ends the walk.
func (r *recall) add(id, text string) {
	r.sent = keep(append(r.sent, sentence{id, text}))
	r.end()
}

// heard remembers a message that the log goes on with.
func (r *recall) heard(e *protocol.Event) { r.past = keep(append(r.past, rememberedOf(e))) }

// older remembers what a page of history has, before all that is known. A walk
// under way can go on into it.
func (r *recall) older(page *protocol.HistoryResult, me protocol.Actor) {
	var found []remembered
	for _, raw := range page.Events {
		var e protocol.Event
		if !bytes.Contains(raw, []byte(protocol.MessageUser)) || json.Unmarshal(raw, &e) != nil || e.Type != protocol.MessageUser {
			continue
		}
		if len(r.past) == 0 || e.Seq < r.past[0].seq { // what the screen forgot comes a second time
			found = append(found, rememberedOf(&e))
		}
	}
	if room := recallMax - len(r.past); len(found) > room {
		found = found[len(found)-room:]
	}
	r.past = append(found, r.past...)
	if r.walking() {
		at, made := r.at, r.made
		r.begin(me)
		r.at, r.made = min(at, len(r.walk)), made
	}
}

// rememberedOf is the message that an event tells of, with who sent it.
func rememberedOf(e *protocol.Event) remembered {
	m := decode[protocol.MessageUserData](e.Data).Message
	if m.By == nil {
		m.By = e.By
	}
	return remembered{e.Seq, m}
}

// keep is the newest of a list.
func keep[T any](all []T) []T {
	if n := len(all) - recallMax; n > 0 {
		return slices.Clone(all[n:])
	}
	return all
}

func (r *recall) walking() bool { return r.walk != nil }

// begin lists what can be walked to, newest first and nothing twice in a row.
func (r *recall) begin(me protocol.Actor) {
	r.walk, r.at, r.made = []string{}, 0, map[int]string{}
	add := func(text string) {
		if text != "" && (len(r.walk) == 0 || r.walk[len(r.walk)-1] != text) {
			r.walk = append(r.walk, text)
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

func (r *recall) isSent(id string) bool {
	return id != "" && slices.ContainsFunc(r.sent, func(m sentence) bool { return m.id == id })
}

// step goes further back (1) or forth again (-1) from what is written now, and
// returns what is to be written instead; ok is false at an end.
func (r *recall) step(by int, written string, me protocol.Actor) (text string, ok bool) {
	if !r.walking() {
		if by < 0 {
			return "", false
		}
		r.begin(me)
	}
	to := r.at + by
	if to < 0 || to > len(r.walk) {
		if r.at == 0 {
			r.end()
		}
		return "", false
	}
	r.made[r.at] = written
	r.at = to
	if text, ok = r.made[to]; !ok {
		text = r.walk[to-1]
	}
	if to == 0 {
		r.end()
	}
	return text, true
}

// draft is what was written before the walk began, or what is written now.
func (r *recall) draft(written string) string {
	if r.at == 0 {
		return written
	}
	return r.made[0]
}

func (r *recall) end() { r.walk, r.at, r.made = nil, 0, nil }
