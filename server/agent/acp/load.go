package acp

import (
	"context"
	"fmt"

	"agentctl/protocol"
)

// loadSession continues a stored session of the agent. It prefers session/load, whose replay shows
// users the conversation. Without the session it fails: users want this conversation and no other.
func (a *Agent) loadSession(ctx context.Context, c *client, saved state, params sessionParams) error {
	method := "session/load"
	switch {
	case c.agentInfo.Capabilities.LoadSession && !c.known().Resumes:
	case c.resumes():
		method = "session/resume"
	default:
		return protocol.Errorf(protocol.CodeUnsupported,
			"%s cannot continue its stored sessions: it supports neither session/load nor session/resume",
			a.config.Name)
	}
	said := &replay{}
	result, err := c.reopen(ctx, method, params, said, false)
	if isRejection(err) {
		return protocol.Errorf(protocol.CodeAgentFailed, "%s cannot continue session %s: %s",
			a.config.Name, params.Session, rejectionText(err))
	}
	if err != nil {
		return err
	}
	if err := a.adoptSession(ctx, c, result, saved, true); err != nil {
		return err
	}
	text := said.String()
	if text == "" {
		text = fmt.Sprintf("%s continues, and did not repeat the conversation.", a.config.Name)
	}
	if err := a.host.RecordConversation("Continue session "+params.Session, text); err != nil {
		return fmt.Errorf("record conversation: %w", err)
	}
	return nil
}
