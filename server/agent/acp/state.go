package acp

import (
	"encoding/json"
	"maps"
)

// state is what an agent needs to go on after a restart.
type state struct {
	Session  string            `json:"session"`            // the conversation, as the agent calls it
	Settings map[string]string `json:"settings,omitempty"` // that were set by people
}

// loadState reads what was saved. What cannot be read was not saved by this package: the conversation starts anew.
func loadState(b []byte) state {
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
