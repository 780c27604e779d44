package tui

import (
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// reattached says for people how a session that was followed before goes on.
func reattached(a *protocol.SubscribeResult) string {
	switch {
	case a.Mode == protocol.ModeResume && a.Reason == protocol.ResumeRestored:
		return "restored from its saved state, and caught up"
	case a.Mode == protocol.ModeResume:
		return "caught up: what was missed was sent again"
	case a.Mode != protocol.ModeReset:
		return ""
	case a.Reason == protocol.ResetFresh:
		return "a fresh snapshot: this is how it is now"
	case a.Reason == protocol.ResetResubscribed:
		return "followed again: the turn under way and what comes; what ended meanwhile is not told"
	}
	return "the session's log was replaced (" + oneLine(transcript.Clean(a.Reason)) + "): this is how it is now"
}
