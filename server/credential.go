package server

import (
	"errors"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/login"
)

// errExpired is the reason for the end of an expired token.
var errExpired = errors.New("the token has expired")

// whileValid calls end when a caller may no longer be connected: its credential expires or is
// revoked, its user changes, or its web origin leaves the list. end must not block. The caller must
// call stop; a concurrent call of end may still follow.
func (s *Server) whileValid(from caller, end func(reason error)) (stop func()) {
	leave := from.allowed.watch(from.origins, end)
	if from.identity == nil {
		return leave
	}
	expiry := time.AfterFunc(time.Until(from.identity.Expires), func() { end(errExpired) })
	unwatch := s.auth.Watch(*from.identity, end)
	return func() {
		expiry.Stop()
		unwatch()
		leave()
	}
}

// endCredential closes the connection because its caller may no longer be connected. A client whose
// role has changed reconnects.
func (c *conn) endCredential(reason error) {
	code := websocket.StatusCode(protocol.ClosePolicy)
	if errors.Is(reason, login.ErrRoleChanged) {
		code = protocol.CloseGoingAway
	}
	c.close(code, credentialError(reason).Message)
}

// credentialError returns the error for a client whose caller may no longer be connected.
func credentialError(reason error) *protocol.Error {
	switch {
	case errors.Is(reason, login.ErrRoleChanged):
		return protocol.Errorf(protocol.CodeUnauthorized, "%v", reason)
	case errors.Is(reason, errExpired):
		return protocol.Errorf(protocol.CodeUnauthorized, reasonTokenExpired)
	case errors.Is(reason, errOrigin):
		return protocol.Errorf(protocol.CodeForbidden, reasonOrigin)
	}
	return protocol.Errorf(protocol.CodeUnauthorized, reasonTokenRevoked)
}
