package protocol

import "time"

// Types of the events of usage limits.
const (
	LimitsUpdated Type = "limits.updated"
)

var limitEvents = []EventType{
	{
		Type: LimitsUpdated, New: of[LimitsData], AgentMay: true,
		Sample: `{"windows":[{"name":"five_hour","percent":90,"resets_at":"2026-03-01T12:00:00Z"}]}`,
		reduce: decoded(func(s *State, _ *Event, d *LimitsData) { s.Limits = d.Windows }),
	},
}

// ContinueSetting is the id of the setting for how often a session continues after a usage limit
// without a user; 0: never.
const ContinueSetting = "continue-after-limit"

// MaxContinuations bounds the value of ContinueSetting.
const MaxContinuations = 1000

// LimitsData is the data of limits.updated. It has all windows of the agent's account that the agent
// reports.
type LimitsData struct {
	Windows []UsageWindow `json:"windows"`
}

// A UsageWindow is a time in which an account has a limited usage.
type UsageWindow struct {
	Name     string     `json:"name"`    // of the agent, such as five_hour or seven_day
	Percent  float64    `json:"percent"` // used
	ResetsAt *time.Time `json:"resets_at,omitempty"`
}

// LimitHold returns the hold after a usage limit, or nil.
func (s *State) LimitHold() *Hold {
	for i := range s.Holds {
		if s.Holds[i].Reason == HoldLimit {
			return &s.Holds[i]
		}
	}
	return nil
}

// cancelUntil keeps the queue held after the removal of the message with which the session would
// have continued.
func (s *State) cancelUntil(message string) {
	if h := s.LimitHold(); h != nil && h.MessageID == message {
		h.Until = nil
	}
}
