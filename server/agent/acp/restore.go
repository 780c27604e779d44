package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
)

const (
	restorePause  = time.Second // before the second attempt; doubled before each further one
	maxPause      = 16 * time.Second
	maxTranscript = 64 << 10 // bytes for an agent that lost its conversation
)

// The marks around the transcript in a message.
const (
	transcriptHead = "[The agent was restarted and its conversation could not be restored. The transcript so " +
		"far follows, as context only.]"
	transcriptTail = "[End of the transcript. The new message of the user:]"
)

// Error codes of agents that refuse a session for good.
const (
	codeNotFound      = -32002
	codeInvalidParams = -32602
)

var errNoRestore = errors.New("agent supports neither session/resume nor session/load")

// isRejection reports whether the agent refused to restore the session. A required login does not
// count: a new session would require it too.
func isRejection(err error) bool {
	_, refused := errors.AsType[*rpc.Error](err)
	return errors.Is(err, errNoRestore) || refused && !wantsLogin(err)
}

// isFinal reports whether a rejection is for good. Some agents refuse a session for a while after
// the process that had it was killed, with an internal error.
func isFinal(err error) bool {
	e, ok := errors.AsType[*rpc.Error](err)
	return !ok || e.Code == codeNotFound || e.Code == codeInvalidParams || e.Code == rpc.CodeMethodNotFound
}

// rejectionText returns the reason of a rejection in the words of the agent.
func rejectionText(err error) string {
	if e, ok := errors.AsType[*rpc.Error](err); ok {
		return errorText(e)
	}
	return err.Error()
}

// retryRestore restores the ACP session. While the agent refuses, it tries again until
// Config.RestoreTimeout is over.
func (a *Agent) retryRestore(
	ctx context.Context, c *client, params sessionParams, shared bool,
) (result sessionResult, err error) {
	deadline := time.Now().Add(a.config.RestoreTimeout)
	for attempt, pause := 1, restorePause; ; attempt, pause = attempt+1, min(2*pause, maxPause) {
		result, err = c.restoreSession(ctx, params, shared)
		if err == nil || !isRejection(err) || isFinal(err) || time.Now().Add(pause).After(deadline) {
			return result, err
		}
		a.host.Logf("%s does not restore ACP session %s yet: %v", a.config.Name, params.Session, err)
		if attempt == 1 {
			c.notice(protocol.LevelWarning,
				fmt.Sprintf("%s does not restore the conversation yet (%s)", a.config.Name, rejectionText(err)),
				fmt.Sprintf("trying again for up to %v", a.config.RestoreTimeout))
		}
		select {
		case <-time.After(pause):
		case <-c.conn.Done():
			return result, err
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

// addTranscript puts the transcript of the session before the first message to an agent that lost
// its conversation. A command of the agent is sent without it: the transcript waits for the next
// message.
func (a *Agent) addTranscript(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	if !a.savedState().Lost || strings.HasPrefix(m.Text, "/") {
		return m, nil
	}
	text, err := a.host.Transcript(ctx, maxTranscript)
	if err != nil {
		return m, err
	}
	if text != "" {
		m.Text = strings.Join([]string{transcriptHead, text, transcriptTail, m.Text}, "\n\n")
	}
	return m, a.updateState(func(s *state) { s.Lost = false })
}
