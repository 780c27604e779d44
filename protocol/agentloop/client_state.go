package agentloop

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxKeys bounds how many keys of commands are remembered.
const maxKeys = 1024

// A memory is what outlives a connection: the log, ids minted in it and how its requests ended, and the keys of commands, of which a
// server of this protocol knows nothing.
type clientState struct {
	log       *codec.Log // nil: there was no connection
	counts    map[string]int
	decided   codec.Decisions
	turn      *turn  // under way; nil: none
	heldItems []item // shell calls that come while a request is pending

	keys codec.Recent[*keyedSend]
}

// A keyed command was sent; result is nil as long as nothing showed that the server has it.
type keyedSend struct {
	key    string
	body   string
	result *protocol.SendResult
}

func newClientState() *clientState {
	return &clientState{counts: map[string]int{}, keys: codec.Recent[*keyedSend]{Limit: maxKeys}}
}

// addKey remembers a command that is being sent.
func (m *clientState) addKey(key, body string) *keyedSend {
	k := &keyedSend{key: key, body: body}
	if key != "" {
		m.keys.Put(key, k)
	}
	return k
}

// removeKey lets a key be used again: the server refused.
func (m *clientState) removeKey(k *keyedSend) { m.keys.Delete(k.key) }
