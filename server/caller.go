package server

import (
	"context"
	"net/http"
	"time"

	"agentctl/protocol"
)

// A caller is the sender of a request, authenticated by the listener. Without a credential of its
// own it has no name yet.
type caller struct {
	by      protocol.Actor
	role    protocol.Role
	expires time.Time // zero: never
}

// Reasons for closing a connection with protocol.ClosePolicy.
const (
	reasonNoToken      = "auth failed: a valid token is required"
	reasonTokenExpired = "auth failed: the token has expired"
)

type callerKey struct{}

// withCaller returns r with the caller that callerOf returns.
func withCaller(r *http.Request, c caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// callerOf returns the caller of a request that the listener accepted. A caller without a
// credential gets the name given.
func callerOf(r *http.Request, name string) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	if c.by.Name == "" {
		c.by.Name = name
	}
	return c
}
