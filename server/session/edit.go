package session

import "agentctl/protocol"

// checkEdit refuses an edited patch or command that the agent would not take: it would apply its
// own, which no user approved.
func (s *Session) checkEdit(pending *protocol.Approval, d protocol.Decision, in *protocol.ApprovalInput) error {
	switch {
	case in == nil:
		return nil
	case in.Patch != "" && !s.capabilities.TakesPatch:
		return protocol.Errorf(protocol.CodeUnsupported,
			"the agent %s does not take edited patches: deny with the changes as reason", s.state.Agent)
	case in.Command == "" || pending.Command == in.Command:
		return nil
	case pending.Kind != protocol.ApproveCommand || !s.capabilities.TakesCommand:
		return protocol.Errorf(protocol.CodeUnsupported,
			"the agent %s takes no edited command for this request: deny with the command as reason", s.state.Agent)
	case d == protocol.AllowAlways:
		return protocol.Errorf(protocol.CodeUnsupported, "an edited command cannot be allowed always: allow it once")
	}
	return nil
}
