package server

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// control is what a connection writes before anything else: answers, each of which holds a slot, and what ephemeral events
// tell, the newest of each key.
type control struct {
	answers [][]byte
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

// take appends what waits to buf, a line each, and returns how many answers that are. It ends where maxWrite is reached: many
// large answers are many messages, each of which has its time.
func (k *control) take(buf []byte) ([]byte, int) {
	answers, keys := 0, 0
	for ; answers < len(k.answers) && len(buf) < maxWrite; answers++ {
		buf = append(append(buf, k.answers[answers]...), '\n')
	}
	for ; keys < len(k.keys) && len(buf) < maxWrite; keys++ {
		buf = append(append(buf, k.told[k.keys[keys]]...), '\n')
		delete(k.told, k.keys[keys])
	}
	k.answers, k.keys = slices.Delete(k.answers, 0, answers), slices.Delete(k.keys, 0, keys)
	return buf, answers
}

// settle queues the answer to a command, which keeps its slot until it is written. A command without an id is answered only
// when it fails.
func (c *conn) settle(id string, result json.RawMessage, err error) {
	if id == "" && err == nil {
		<-c.slots
		return
	}
	a := protocol.Answer{ID: id, Result: result}
	if err != nil {
		a.Result, a.Error = nil, protocol.AsError(err)
		if a.Error.Code == protocol.CodeInternal {
			c.server.log.Error("command failed", "conn", c.id, "err", err)
		}
	}
	line := protocol.MustEncode(a)
	c.mu.Lock()
	c.control.answers = append(c.control.answers, line)
	c.mu.Unlock()
	c.Wake()
}
