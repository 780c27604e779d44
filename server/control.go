package server

import (
	"encoding/json"

	"agentctl/protocol"
)

// control is what a connection writes before anything else: answers, of which there are at most as many as slots, and what
// ephemeral events tell, the newest of each key.
type control struct {
	answers [][]byte
	slots   int // of the answers that hold one
	keys    []string
	told    map[string][]byte
}

func (k *control) tell(key string, line []byte) {
	if k.told == nil {
		k.told = map[string][]byte{}
	}
	if _, waiting := k.told[key]; !waiting {
		k.keys = append(k.keys, key)
	}
	k.told[key] = line
}

// take appends everything that waits to buf, a line each, and returns how many slots its answers held.
func (k *control) take(buf []byte) ([]byte, int) {
	for _, a := range k.answers {
		buf = append(append(buf, a...), '\n')
	}
	for _, key := range k.keys {
		buf = append(append(buf, k.told[key]...), '\n')
		delete(k.told, key)
	}
	slots := k.slots
	clear(k.answers)
	k.answers, k.keys, k.slots = k.answers[:0], k.keys[:0], 0
	return buf, slots
}

// answer queues an answer that holds no slot.
func (c *conn) answer(id string, result json.RawMessage, err error) { c.queue(id, result, err, 0) }

// settle queues the answer of a command that took a slot. A command without an id is answered only when it fails.
func (c *conn) settle(id string, result json.RawMessage, err error) { c.queue(id, result, err, 1) }

func (c *conn) queue(id string, result json.RawMessage, err error, slots int) {
	a := protocol.Answer{ID: id, Result: result}
	if err != nil {
		a.Result, a.Error = nil, protocol.AsError(err)
		if a.Error.Code == protocol.CodeInternal {
			c.server.log.Error("command failed", "conn", c.id, "err", err)
		}
	}
	if id == "" && err == nil {
		for range slots {
			<-c.slots
		}
		return
	}
	line := protocol.MustEncode(a)
	c.mu.Lock()
	c.control.answers = append(c.control.answers, line)
	c.control.slots += slots
	c.mu.Unlock()
	c.Wake()
}
