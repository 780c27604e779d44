package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// openSession restores the saved ACP session if the agent can, or else starts a new one. It warns
// when content is lost. servers are MCP servers.
func (a *Agent) openSession(ctx context.Context, c *client, saved state, servers []any) error {
	params := sessionParams{Session: saved.Session, CWD: a.spec.CWD, Servers: servers}
	if saved.Session == "" && a.spec.Load != "" {
		params.Session = a.spec.Load
		return a.loadSession(ctx, c, saved, params)
	}
	if saved.Prompted {
		result, err := a.retryRestore(ctx, c, params, saved.Owner != a.spec.Session)
		if err == nil {
			return a.adoptSession(ctx, c, result, saved, true)
		}
		if !isRejection(err) {
			return err
		}
		a.host.Logf("%s cannot restore ACP session %s: %v", a.config.Name, saved.Session, err)
		c.notice(protocol.LevelWarning,
			fmt.Sprintf("%s cannot restore the conversation (%s)", a.config.Name, rejectionText(err)),
			"it started a new one and gets the transcript with the next message")
	}
	params.Session = ""
	var result sessionResult
	if err := c.call(ctx, "session/new", params, &result); err != nil {
		return err
	}
	if result.Session == "" {
		return errors.New("session/new: response has no session id")
	}
	return a.adoptSession(ctx, c, result, saved, false)
}

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
	text := cmp.Or(said.String(), a.config.Name+" continues, and did not repeat the conversation.")
	if err := a.host.RecordConversation("Continue session "+params.Session, text); err != nil {
		return fmt.Errorf("record conversation: %w", err)
	}
	return nil
}

// adoptSession records the ACP session and applies the saved settings.
func (a *Agent) adoptSession(ctx context.Context, c *client, r sessionResult, saved state, restored bool) error {
	c.mu.Lock()
	c.session = r.Session
	c.mu.Unlock()
	if host, ok := a.host.(agent.WorkHost); ok {
		w := &work{agent: a, client: c, session: r.Session, cwd: a.spec.CWD, lane: &c.lane}
		c.lane.begin = func(ctx context.Context) error { return host.Begin(ctx, agent.Work{Run: w.run}) }
	}
	a.mu.Lock()
	a.saved.restartUsage(c.known().Usage, restored)
	a.mu.Unlock()
	lost := !restored && (saved.Prompted || saved.Lost)
	if saved.Session != r.Session || saved.Owner != a.spec.Session || saved.Prompted != restored || saved.Lost != lost {
		err := a.updateState(func(s *state) {
			s.Session, s.Owner, s.Prompted, s.Lost = r.Session, a.spec.Session, restored, lost
		})
		if err != nil {
			return fmt.Errorf("save ACP session id: %w", err)
		}
	}
	a.starting(protocol.StepSettings)
	return c.restoreSettings(ctx, r, saved, !restored || saved.Session == "")
}

// restores reports whether a later process can restore the ACP session.
func (c *client) restores() bool {
	return c.agentInfo.Capabilities.LoadSession || c.resumes()
}

func (c *client) resumes() bool {
	return c.agentInfo.Capabilities.Session.Resume != nil || c.known().Resumes
}

// restoreSession restores an ACP session with session/resume or session/load. If the ACP session
// belongs to another session, which may still use it, it is forked where the agent supports that. An
// agent elsewhere may have continued the last turn without this server: that turn is cancelled.
func (c *client) restoreSession(ctx context.Context, params sessionParams, shared bool) (sessionResult, error) {
	method := "session/load"
	switch {
	case shared && c.agentInfo.Capabilities.Session.Fork != nil:
		method = "session/fork"
	case c.resumes():
		method = "session/resume"
	case !c.agentInfo.Capabilities.LoadSession:
		return sessionResult{}, errNoRestore
	}
	return c.reopen(ctx, method, params, &replay{}, c.config.Remote != nil && !shared)
}

// reopen restores an ACP session by a method, and cancels its turn if stop is set. Updates until then
// go to r: they repeat the conversation, or belong to that turn.
func (c *client) reopen(
	ctx context.Context, method string, params sessionParams, r *replay, stop bool,
) (sessionResult, error) {
	result := sessionResult{Session: params.Session}
	c.setReplay(r)
	defer c.setReplay(nil)
	err := c.call(ctx, method, params, &result)
	if err == nil && stop {
		err = c.conn.Notify(ctx, "session/cancel", cancelParams{result.Session})
	}
	if err == nil && (stop || method != "session/resume") {
		err = c.awaitReplay(ctx)
	}
	return result, err
}

// awaitReplay waits for the end of a replay. Some agents respond to session/load first and replay
// afterwards, without a marker at the end. The replay is over when no update has arrived for
// replayQuiet.
func (c *client) awaitReplay(ctx context.Context) error {
	quiet := time.NewTimer(replayQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-c.replayed:
			quiet.Reset(replayQuiet)
		case <-quiet.C:
			return nil
		case <-c.conn.Done():
			return nil // the next call returns the error
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *client) setReplay(r *replay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replay = r
}
