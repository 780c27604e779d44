package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/server/agent/acp/rpc"
)

// converse takes up the kept conversation where the agent can, else begins a new one, and says so if something is lost by it.
func (a *Agent) converse(ctx context.Context, l *link, kept state) error {
	params := sessionParams{Session: kept.Session, CWD: a.spec.CWD, Servers: []struct{}{}}
	if kept.Said {
		result, err := l.takeUp(ctx, params, kept.Owner != a.spec.Session)
		if err == nil {
			return a.agreed(ctx, l, result, kept, true)
		}
		if !refused(err) {
			return err
		}
		a.host.Logf("%s cannot take up conversation %s: %v", a.config.Name, kept.Session, err)
		a.notice("%s was started anew and does not remember what was said before", a.config.Name)
	}
	params.Session = ""
	raw, err := l.conn.Call(ctx, "session/new", params)
	if err != nil {
		return err
	}
	var result sessionResult
	if err := read(raw, &result); err != nil || result.Session == "" {
		return errors.New("session/new: the agent named no session")
	}
	return a.agreed(ctx, l, result, kept, false)
}

// agreed notes which conversation the link has, and sets it up as people want it.
func (a *Agent) agreed(ctx context.Context, l *link, r sessionResult, kept state, said bool) error {
	l.talks(r.Session, said)
	if kept.Session != r.Session || kept.Owner != a.spec.Session || kept.Said != said {
		if err := a.keep(func(s *state) { s.Session, s.Owner, s.Said = r.Session, a.spec.Session, said }); err != nil {
			return fmt.Errorf("save the conversation's name: %w", err)
		}
	}
	return l.settle(ctx, r, kept)
}

var errNotOffered = errors.New("it offers neither session/resume nor session/load")

// refused reports whether the agent itself said no, a login being wanted apart: that would be wanted for a new one too.
func refused(err error) bool {
	var e *rpc.Error
	return errors.Is(err, errNotOffered) || errors.As(err, &e) && !wantsLogin(err)
}

// takeUp brings a conversation back by session/resume or session/load. One that another session began, and may go on with,
// is forked where the agent can.
func (l *link) takeUp(ctx context.Context, params sessionParams, foreign bool) (sessionResult, error) {
	result := sessionResult{Session: params.Session}
	method := "session/load"
	switch {
	case foreign && l.offers.Capabilities.Session.Fork != nil:
		method = "session/fork"
	case l.offers.Capabilities.Session.Resume != nil:
		method = "session/resume"
	case !l.offers.Capabilities.LoadSession:
		return result, errNotOffered
	}
	l.replay(true)
	defer l.replay(false)
	raw, err := l.conn.Call(ctx, method, params)
	if err == nil {
		err = read(raw, &result)
	}
	if err == nil && method != "session/resume" {
		err = l.untilReplayed(ctx)
	}
	return result, err
}

// untilReplayed waits until nothing more of the replay comes. Some agents answer a load first and replay then, and nothing
// tells the end, so it is over when the agent has been quiet for a while.
func (l *link) untilReplayed(ctx context.Context) error {
	quiet := time.NewTimer(replayQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-l.replayed:
			quiet.Reset(replayQuiet)
		case <-quiet.C:
			return nil
		case <-l.conn.Done():
			return nil // the next call will say why
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// talks names the conversation.
func (l *link) talks(name string, resumed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.resumed = name, resumed
}

func (l *link) replay(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaying = on
}
