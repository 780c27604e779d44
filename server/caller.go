package server

import (
	"context"
	"net/http"
	"time"

	"agentctl/protocol"
)

// A caller is who came in through a listener, what they may do and until when. Without a credential of their own they have no name
// yet.
type caller struct {
	by    protocol.Actor
	role  protocol.Role
	until time.Time // zero: without end
}

// Why a caller is closed with protocol.ClosePolicy.
const (
	noToken      = "auth failed: a valid token is needed"
	tokenExpired = "auth failed: the token has expired"
)

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
