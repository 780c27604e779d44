package server

import (
	"errors"
	"time"

	"agentctl/protocol"
	"agentctl/server/login"
)

// errExpired is the reason for the end of a token at its time.
var errExpired = errors.New("the token has expired")

// whileValid calls end when the credential of a caller ends: it expires or is revoked, or its user
// changes. end must not block. The caller must call stop; a call of end under way may still come.
func (s *Server) whileValid(from caller, end func(reason error)) (stop func()) {
	if from.identity == nil {
		return func() {}
	}
	expiry := time.AfterFunc(time.Until(from.identity.Expires), func() { end(errExpired) })
	unwatch := s.auth.Watch(*from.identity, end)
	return func() {
		expiry.Stop()
		unwatch()
	}
}

// endCredential closes the connection because its credential has ended. A client whose role has
// changed reconnects.
func (c *conn) endCredential(reason error) {
	switch {
	case errors.Is(reason, login.ErrRoleChanged):
		c.close(protocol.CloseGoingAway, reason.Error())
	case errors.Is(reason, errExpired):
		c.close(protocol.ClosePolicy, reasonTokenExpired)
	default:
		c.close(protocol.ClosePolicy, reasonTokenRevoked)
	}
}
