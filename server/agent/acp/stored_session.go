package acp

import (
	"context"
	"fmt"
	"path/filepath"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// maxStored bounds the sessions of a list.
const maxStored = 1000

// A StoredSession is a session that an agent has stored itself.
type StoredSession struct {
	ID      string `json:"sessionId"`
	CWD     string `json:"cwd"`
	Title   string `json:"title"`
	Updated string `json:"updatedAt"` // RFC 3339, as the agent gave it
}

type listParams struct {
	CWD    string `json:"cwd,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	Sessions []StoredSession `json:"sessions"`
	Next     string          `json:"nextCursor"`
}

// StoredSessions starts an agent in the directory of spec, lists the sessions that it has stored,
// at most maxStored, and stops it. A dir other than "" selects the sessions of that directory. The
// error is unsupported if the agent has no list, or an error of a session's start.
func StoredSessions(ctx context.Context, config Config, spec agent.Spec, dir string) ([]StoredSession, error) {
	a, err := New(config, spec, probeHost{})
	if err != nil {
		return nil, err
	}
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, fmt.Errorf("directory of sessions: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, a.config.StartTimeout)
	defer cancel()
	env := a.config.Variables(&a.spec)
	c, err := a.launch(ctx, env)
	if err != nil {
		return nil, err
	}
	defer c.close(a.config.EndGrace)
	if c.agentInfo.Capabilities.Session.List == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"%s does not list its sessions: it does not support session/list", config.Name)
	}
	list, err := c.storedSessions(ctx, dir)
	if wantsLogin(err) && c.authenticate(ctx, env) {
		list, err = c.storedSessions(ctx, dir)
	}
	if err != nil {
		return nil, a.translateError(c, err)
	}
	return list, nil
}

// storedSessions reads all pages of the list.
func (c *client) storedSessions(ctx context.Context, dir string) (list []StoredSession, err error) {
	for params := (listParams{CWD: dir}); ; {
		var page listResult
		if err := c.call(ctx, "session/list", params, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Sessions...)
		if len(list) >= maxStored || len(page.Sessions) == 0 || page.Next == "" || page.Next == params.Cursor {
			return list[:min(len(list), maxStored)], nil
		}
		params.Cursor = page.Next
	}
}
