package describe

import "agentctl/protocol"

// FailureHelp returns what a user can do after a failed turn, or "". open is the key that opens the
// session.
func FailureHelp(last *protocol.LastTurn, open string) string {
	switch last.Code {
	case protocol.CodeAgentAuth:
		return "log in: agentctl agents login"
	case protocol.CodeNoAgent:
		return "see which agents are ready: agentctl agents"
	case protocol.CodeLimited:
		return ""
	}
	if open == "" {
		return "/repeat gives the agent its message again"
	}
	return open + " opens it, /repeat gives the agent its message again"
}
