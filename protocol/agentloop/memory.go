package agentloop

import (
	"slices"

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
	decided []winner // the newest last
	turn    *turn    // under way; nil: none
	held    []item   // shell calls that come while a request is pending

	keys  map[string]*keyed
	order []string
}

// A keyed command was sent; result is nil as long as nothing showed that the server has it.
type keyed struct {
	body   string
	result *protocol.SendResult
}

func memoryOf(m *codec.ClientState) *memory {
	if m == nil {
		m = new(codec.ClientState)
	}
	if known, ok := m.Value.(*memory); ok {
		return known
	}
	fresh := &memory{counts: map[string]int{}, keys: map[string]*keyed{}}
	m.Value = fresh
	return fresh
}

// keep remembers a command that is being sent.
func (m *memory) keep(key, body string) *keyed {
	k := &keyed{body: body}
	if key == "" {
		return k
	}
	m.keys[key] = k
	if m.order = append(m.order, key); len(m.order) > maxKeys {
		delete(m.keys, m.order[0])
		m.order = m.order[1:]
	}
	return k
}

// forget lets a key be used again: the server refused.
func (m *memory) forget(k *keyed) {
	for key, known := range m.keys {
		if known == k {
			delete(m.keys, key)
			m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
		}
	}
}
