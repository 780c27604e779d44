package server

import (
	"errors"
	"fmt"
	"net/http"

	"agentctl/protocol"
	"agentctl/server/hook"
	"agentctl/server/web"
)

// startHooks starts the hooks of the configuration.
func (s *Server) startHooks(cfg *Config) error {
	if cfg.HooksDir == "" {
		return s.SetHooks(cfg.Hooks)
	}
	var err error
	s.api.hooks, err = hook.Start(hook.Config{
		Dir: cfg.HooksDir, Hooks: cfg.Hooks, Sessions: s.hub.Sessions(), Requests: s.hub, Store: cfg.Session.Store, Log: s.log,
	})
	if err != nil {
		return fmt.Errorf("start hooks: %w", err)
	}
	return nil
}

// SetHooks replaces the hooks; see hook.Hooks.Replace.
func (s *Server) SetHooks(hooks []hook.Hook) error {
	if s.api.hooks == nil && len(hooks) > 0 {
		return errors.New("hooks need a directory")
	}
	if s.api.hooks == nil {
		return nil
	}
	return s.api.hooks.Replace(hooks)
}

// serveLink serves a link of a hook. Its token is the credential; package hook checks the origin.
// An agent that has found a link may not decide with it.
func (s *Server) serveLink(w http.ResponseWriter, r *http.Request, agent bool) {
	if agent {
		web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, "an agent may not decide")
		return
	}
	logged := r.Clone(r.Context()) // a failure logs the path without the token
	logged.URL.Path = hook.Path
	s.counted(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.api.hooks.ServeHTTP(w, r)
	})).ServeHTTP(w, logged)
}
