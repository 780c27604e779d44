package acp

import (
	"encoding/json"
	"maps"

	"agentctl/protocol"
)

// state is what an agent needs to go on after a restart.
type state struct {
	Session  string            `json:"session"`            // the conversation, as the agent calls it
	Owner    string            `json:"owner,omitempty"`    // the session whose conversation it is
	Prompted bool              `json:"said,omitempty"`     // something was said in it
	Settings map[string]string `json:"settings,omitempty"` // that were set by people
	Usage    *protocol.Usage   `json:"usage,omitempty"`    // of all turns
}

// decodeState reads what was saved. What cannot be read was not saved by this package: the conversation starts anew.
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

// addUsage adds what a turn has used and returns the sum.
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
