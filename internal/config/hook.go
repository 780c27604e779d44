package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/server/hook"
)

// A Hook is a receiver of notifications: a URL or a command. Zero values of its limits are the
// defaults of package hook.
type Hook struct {
	URL        string   `json:"url"`         // that gets a POST for each notification
	SecretFile string   `json:"secret_file"` // file of the secret that signs
	SecretEnv  string   `json:"secret_env"`  // variable of the server with the secret, instead of a file
	Command    []string `json:"command"`     // the program and its arguments, instead of a URL

	Events []string          `json:"events"` // types of notifications; default all
	Agent  string            `json:"agent"`  // of the session; default every agent
	Labels map[string]string `json:"labels"` // that the session has
	Name   string            `json:"name"`   // pattern of the session's name, with * and ?; default every session

	Timeout  Duration `json:"timeout"`  // of one attempt; default 10s
	Attempts int      `json:"attempts"` // that the receiver refuses; default 10
	MaxAge   Duration `json:"max_age"`  // of a notification; default 24h
	Backlog  int      `json:"backlog"`  // notifications not sent yet; default 1000

	DecideURLs *DecideURLs `json:"decide_urls"` // links that decide a request; default none
	DenyAfter  Duration    `json:"deny_after"`  // until a pending request is denied; default never
}

// DecideURLs are URLs in notifications that decide a request.
type DecideURLs struct {
	Base    string   `json:"base"`    // URL of this server for the receiver
	Expires Duration `json:"expires"` // after the notification was sent; default 1h
}

// Hook converts the configuration to a hook of the server, without its secret.
func (h *Hook) Hook(name string) hook.Hook {
	made := hook.Hook{
		Name: name, URL: h.URL, Command: h.Command, DenyAfter: time.Duration(h.DenyAfter),
		Filter: hook.Filter{Types: h.Events, Agent: h.Agent, Labels: h.Labels, Name: h.Name},
		Limits: hook.Limits{
			Timeout: time.Duration(h.Timeout), Attempts: h.Attempts, Age: time.Duration(h.MaxAge), Backlog: h.Backlog,
		},
	}
	if h.DecideURLs != nil {
		made.Links = hook.Links{Base: h.DecideURLs.Base, Expires: time.Duration(h.DecideURLs.Expires)}
	}
	return made
}

// checkHooks returns the first invalid hook, with its key.
func (c *Server) checkHooks() error {
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		h := c.Hooks[name]
		made := h.Hook(name)
		err := made.Check()
		switch secrets := h.SecretFile != "" || h.SecretEnv != ""; {
		case err != nil:
		case h.SecretFile != "" && h.SecretEnv != "":
			err = errors.New("want either secret_file or secret_env")
		case h.URL != "" && !secrets:
			err = errors.New("a url needs secret_file or secret_env: make one with openssl rand -hex 32")
		case h.URL == "" && secrets:
			err = errors.New("a command has no secret: nothing is signed")
		case h.DecideURLs != nil && h.DecideURLs.Base == "":
			err = errors.New("decide_urls: base is missing")
		case h.Agent != "":
			err = c.Registry().Check(h.Agent)
		}
		if err != nil {
			return fmt.Errorf("hooks.%s: %w", name, err)
		}
	}
	return nil
}

// resolveHookPaths makes relative paths of programs and secrets absolute.
func (c *Server) resolveHookPaths(dir string) {
	for name, h := range c.Hooks {
		h.SecretFile = absolute(dir, h.SecretFile)
		if len(h.Command) > 0 {
			h.Command = append([]string{absoluteProgram(dir, h.Command[0])}, h.Command[1:]...)
		}
		c.Hooks[name] = h
	}
}
