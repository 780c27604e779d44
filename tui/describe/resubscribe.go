package describe

import "agentctl/protocol"

// Resubscribed describes how a session continues after a new subscription. It returns "" if the
// session continues where it was.
func Resubscribed(mode, reason string) string {
	switch {
	case reason == "":
		return ""
	case reason == protocol.ResumeReplayed:
		return "what was missed was replayed"
	case reason == protocol.ResumeRestored:
		return "restored from its saved state"
	case mode != protocol.ModeReset:
		return ""
	case reason == protocol.ResetFresh:
		return "a fresh snapshot: the current state"
	case reason == protocol.ResetResubscribed:
		return "resubscribed: turns that ended meanwhile are not shown"
	}
	return "the session's log was replaced: its current state"
}
