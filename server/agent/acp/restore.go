package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/server/agent/acp/rpc"
)

// openSession takes up the kept conversation where the agent can, else begins a new one, and says so if something is lost by it.
func (a *Agent) openSession(ctx context.Context, c *client, kept state) error {
	params := sessionParams{Session: kept.Session, CWD: a.spec.CWD, Servers: []struct{}{}}
	if kept.Prompted {
		result, err := c.restoreSession(ctx, params, kept.Owner != a.spec.Session)
		if err == nil {
			return a.adoptSession(ctx, c, result, kept, true)
		}
		if !isRejection(err) {
			return err
		}
		a.host.Logf("%s cannot take up conversation %s: %v", a.config.Name, kept.Session, err)
		a.notice("%s was started anew and does not remember what was said before", a.config.Name)
	}
	params.Session = ""
	raw, err := c.conn.Call(ctx, "session/new", params)
	if err != nil {
		return err
	}
	var result sessionResult
	if err := decode(raw, &result); err != nil || result.Session == "" {
		return errors.New("session/new: the agent named no session")
	}
	return a.adoptSession(ctx, c, result, kept, false)
}

// adoptSession notes which conversation the link has, and sets it up as people want it.
func (a *Agent) adoptSession(ctx context.Context, c *client, r sessionResult, kept state, said bool) error {
	c.setSession(r.Session, said)
	if kept.Session != r.Session || kept.Owner != a.spec.Session || kept.Prompted != said {
		if err := a.updateState(func(s *state) { s.Session, s.Owner, s.Prompted = r.Session, a.spec.Session, said }); err != nil {
			return fmt.Errorf("save the conversation's name: %w", err)
		}
	}
	return c.restoreSettings(ctx, r, kept)
}

var errNoRestore = errors.New("it offers neither session/resume nor session/load")

// isRejection reports whether the agent itself said no, a login being wanted apart: that would be wanted for a new one too.
func isRejection(err error) bool {
	var e *rpc.Error
	return errors.Is(err, errNoRestore) || errors.As(err, &e) && !wantsLogin(err)
}

// restoreSession brings a conversation back by session/resume or session/load. One that another session began, and may go on with,
// is forked where the agent can.
func (c *client) restoreSession(ctx context.Context, params sessionParams, foreign bool) (sessionResult, error) {
	result := sessionResult{Session: params.Session}
	method := "session/load"
	switch {
	case foreign && c.agentInfo.Capabilities.Session.Fork != nil:
		method = "session/fork"
	case c.agentInfo.Capabilities.Session.Resume != nil:
		method = "session/resume"
	case !c.agentInfo.Capabilities.LoadSession:
		return result, errNoRestore
	}
	c.setReplaying(true)
	defer c.setReplaying(false)
	raw, err := c.conn.Call(ctx, method, params)
	if err == nil {
		err = decode(raw, &result)
	}
	if err == nil && method != "session/resume" {
		err = c.awaitReplay(ctx)
	}
	return result, err
}

// awaitReplay waits until nothing more of the replay comes. Some agents answer a load first and replay then, and nothing
// tells the end, so it is over when the agent has been quiet for a while.
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
			return nil // the next call will say why
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// setSession names the conversation.
func (c *client) setSession(name string, resumed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.resumed = name, resumed
}

func (c *client) setReplaying(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replaying = on
}
