package agentloop

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxKeys bounds how many keys of commands are remembered.
const maxKeys = 1024

// A memory is what outlives a connection: the log, ids minted in it and how its requests ended, and the keys of commands, of which a
// server of this protocol knows nothing.
type memory struct {
	log     *codec.Log // nil: there was no connection
	counts  map[string]int
	decided codec.Decisions
	turn    *turn  // under way; nil: none
	held    []item // shell calls that come while a request is pending

	keys codec.Recent[*keyed]
}

// A keyed command was sent; result is nil as long as nothing showed that the server has it.
type keyed struct {
	key    string
	body   string
	result *protocol.SendResult
}

func newMemory() *memory {
	return &memory{counts: map[string]int{}, keys: codec.Recent[*keyed]{Limit: maxKeys}}
}

// keep remembers a command that is being sent.
func (m *memory) keep(key, body string) *keyed {
	k := &keyed{key: key, body: body}
	if key != "" {
		m.keys.Put(key, k)
	}
	return k
}

// forget lets a key be used again: the server refused.
func (m *memory) forget(k *keyed) { m.keys.Delete(k.key) }
