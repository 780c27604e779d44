package acp

import (
	"encoding/json"
	"maps"

	"agentctl/protocol"
)

// state is the saved state of an agent, restored after a restart of the server.
type state struct {
	Session  string            `json:"session"`            // ACP session id
	Owner    string            `json:"owner,omitempty"`    // the session that created the ACP session
	Prompted bool              `json:"said,omitempty"`     // the ACP session has content
	Settings map[string]string `json:"settings,omitempty"` // values set by users
	Usage    *protocol.Usage   `json:"usage,omitempty"`    // total of all turns
}

// decodeState decodes saved state. Invalid state was not saved by this package; it is ignored and a
// new ACP session starts.
func decodeState(b []byte) state {
	var s state
	if len(b) == 0 || json.Unmarshal(b, &s) != nil {
		return state{}
	}
	return s
}

func (s *state) set(setting, value string) {
	settings := maps.Clone(s.Settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings[setting] = value
	s.Settings = settings
}

func (s *state) encode() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("acp: encode state: " + err.Error()) // strings always encode
	}
	return b
}

// addUsage adds the usage of a turn and returns the total.
func (s *state) addUsage(u *protocol.Usage) protocol.Usage {
	sum := *u
	if s.Usage != nil {
		sum = *s.Usage
		sum.Input += u.Input
		sum.Output += u.Output
		sum.Cached += u.Cached
		sum.Reasoning += u.Reasoning
		sum.Cost += u.Cost
		if u.Currency != "" {
			sum.Currency = u.Currency
		}
	}
	s.Usage = &sum
	return sum
}
