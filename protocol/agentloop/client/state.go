package client

import (
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// maxKeys bounds the remembered keys of commands.
const maxKeys = 1024

// A state outlives a connection: the log, its ids and decisions, and the keys of commands,
// which servers of this protocol do not know.
type state struct {
	log       *codec.Log // nil: no previous connection
	counts    map[string]int
	decided   codec.Decisions
	turn      *turn       // under way; nil: none
	heldItems []wire.Item // shell calls received while a request is pending

	keys codec.Recent[*keyedSend]
}

// A keyedSend is a message that was sent. result is nil until the server showed that it has it.
type keyedSend struct {
	key    string
	body   string
	result *protocol.SendResult
}

func newClientState() *state {
	return &state{counts: map[string]int{}, keys: codec.Recent[*keyedSend]{Limit: maxKeys}}
}

// addKey records a message that is being sent.
func (m *state) addKey(key, body string) *keyedSend {
	k := &keyedSend{key: key, body: body}
	if key != "" {
		m.keys.Put(key, k)
	}
	return k
}

// removeKey makes a key available again: the server refused its message.
func (m *state) removeKey(k *keyedSend) { m.keys.Delete(k.key) }
