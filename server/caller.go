package server

import (
	"context"
	"net/http"

	"agentctl/protocol"
)

// A caller is who came in through a listener and what they may do. Without a credential of their own they have no name yet.
type caller struct {
	by   protocol.Actor
	role protocol.Role
}

type callerKey struct{}

func (c caller) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// callerOf returns who a request that the guard let in is from, called name unless a credential says otherwise.
func callerOf(r *http.Request, name string) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	if c.by.Name == "" {
		c.by.Name = name
	}
	return c
}
