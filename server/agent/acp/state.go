package acp

import (
	"cmp"
	"encoding/json"
	"maps"

	"agentctl/protocol"
)

// state is the saved state of an agent, restored after a restart of the server.
type state struct {
	Session  string            `json:"session"`            // ACP session id
	Owner    string            `json:"owner,omitempty"`    // the session that created the ACP session
	Prompted bool              `json:"said,omitempty"`     // the ACP session has content
	Lost     bool              `json:"lost,omitempty"`     // the agent has yet to get the transcript
	Settings map[string]string `json:"settings,omitempty"` // values set by users
	Usage    *protocol.Usage   `json:"usage,omitempty"`    // total of all turns
	Cost     float64           `json:"cost,omitempty"`     // last reported cost; part of Usage
	Reported *reported         `json:"reported,omitempty"` // last cumulative usage; nil: none
	LeftOut  string            `json:"left_out,omitempty"` // MCP servers, as last reported to users
	PerTurn  bool              `json:"per_turn,omitempty"` // reports of usage were seen to be per turn
}

// reported is the last report of an agent whose reports of usage may be cumulative.
type reported struct {
	Tokens    protocol.Usage `json:"tokens"`
	Sum       protocol.Usage `json:"sum"`                 // of all reports
	Restarted bool           `json:"restarted,omitempty"` // the agent restarted since
}

// SavedSession returns the agent's own id of the session of a saved state, or "".
func SavedSession(state []byte) string { return decodeState(state).Session }

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
	settings := map[string]string{} // earlier copies of s keep theirs
	maps.Copy(settings, s.Settings)
	settings[setting] = value
	s.Settings = settings
}

func (s *state) encode() []byte { return protocol.MustEncode(s) }

// addUsage adds the usage of a turn and returns the total.
func (s *state) addUsage(u protocol.Usage) protocol.Usage {
	sum := u
	if s.Usage != nil {
		sum = addTokens(*s.Usage, u, 1)
		sum.Cost, sum.Currency = roundCost(s.Usage.Cost+u.Cost), cmp.Or(u.Currency, s.Usage.Currency)
	}
	s.Usage = &sum
	return sum
}
