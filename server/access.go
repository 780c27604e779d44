package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/login"
	"agentctl/server/web"
)

// checkAccess passes on the requests that may access the server. It refuses foreign Hosts (DNS
// rebinding), foreign origins (cross-site WebSocket hijacking), and requests without the listener's
// token or a user's. Health probes and logging in need no token.
func (s *Server) checkAccess(l *Listener, next http.Handler) http.Handler {
	auth, logins := s.auth, s.counted(s.auth)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		boundBody(w, r)
		from, ok := l.authenticate(auth, r)
		agent, err := s.agentOf(l, r)
		if agent != "" {
			sum, _ := s.hub.Sessions().Summary(agent)
			from = caller{by: protocol.AgentActor(agent, sum.Name), role: protocol.RoleAgent, agent: agent}
		}
		from.origins, from.allowed = r.Header.Values("Origin"), l.Origins
		switch {
		case err != nil:
			web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, err.Error())
		case !l.hosts.allow(r.Host):
			web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, errHost)
		case l.Dialect == "" && s.api.hooks.Serves(r.URL.Path):
			s.serveLink(w, r, agent != "")
		case !l.Origins.allow(r.Header.Values("Origin")) || crossSite(r):
			web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, errOrigin.Error())
		case handleCORS(w, r):
		case agent != "" && r.URL.Path == login.Path:
			web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, "an agent may not log in")
		case auth != nil && r.URL.Path == login.Path:
			logins.ServeHTTP(w, r)
		case !ok && !open(r.URL.Path):
			s.refuseUnauthorized(w, r, l.dialectAt(r.URL.Path))
		case from.refusal(l.Dialect, r.URL.Path) != "":
			web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, from.refusal(l.Dialect, r.URL.Path))
		default:
			if ok {
				if err := s.admission.admit(socketOf(r), l.sender(from), l.privileged(from)); err != nil {
					refuseConnection(w, err)
					return
				}
			}
			ctx := context.WithValue(r.Context(), callerKey{}, from)
			ctx, cancel := context.WithCancelCause(ctx) // ends event streams; Server.serve ends WebSockets
			defer cancel(nil)
			defer s.whileValid(from, func(reason error) { cancel(credentialError(reason)) })()
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// open reports whether a path needs no credential.
func open(path string) bool { return path == "/healthz" || path == "/readyz" || path == openAPIPath }

// refuseUnauthorized refuses a request without a valid credential, in the form of the dialect at
// its path, if any.
func (s *Server) refuseUnauthorized(w http.ResponseWriter, r *http.Request, d codec.Dialect) {
	s.traffic.failed(protocol.CodeUnauthorized)
	if s.dialects.Options[d.Name][codec.UnauthorizedOption] == codec.AcceptAndClose {
		closeUnauthorized(w, r)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	status := cmp.Or(d.UnauthorizedStatus, http.StatusUnauthorized)
	web.WriteError(w, status, protocol.CodeUnauthorized, "a valid token is required")
}

// dialectAt returns the dialect served at a path, or the zero Dialect.
func (l *Listener) dialectAt(path string) codec.Dialect {
	name := l.Dialect
	if below, ok := strings.CutPrefix(path, dialectPath); ok && name == "" {
		name, _, _ = strings.Cut(below, "/")
	}
	d, _ := dialect.Find(name)
	return d
}

// handleCORS allows a page of an allowed origin to read the response. It reports whether the
// request was a preflight, which it has answered.
func handleCORS(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, "+protocol.ProtocolHeader)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, "+web.KeyHeader+", "+nameHeader)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// sender identifies the sender of a request among the senders of all listeners.
func (l *Listener) sender(from caller) string {
	switch {
	case from.agent != "":
		return "agent " + from.agent
	case from.by.Subject != "":
		return "user " + from.by.Subject
	case l.owner:
		return "owner"
	}
	return "listener " + l.Addr().String()
}

// privileged reports whether a sender may use the reserve of connections.
func (l *Listener) privileged(from caller) bool {
	if from.agent == "" && from.by.Subject == "" && l.Token == "" {
		return l.owner
	}
	return from.role == "" || from.role == protocol.RoleAdmin
}

// authenticate returns the sender of a request; ok is false without a required credential. A
// listener without a token ignores credentials.
func (l *Listener) authenticate(auth *login.Authenticator, r *http.Request) (from caller, ok bool) {
	from.role = l.Role
	if l.Token == "" {
		return from, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		if token = r.URL.Query().Get("token"); isPage(r) {
			token = ""
		}
	}
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(l.Token))
	if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return from, true
	}
	if auth == nil {
		return from, false
	}
	id, ok := auth.Verify(token)
	if id.By.AgentSession() != "" { // credentials are for users only
		return from, false
	}
	return caller{by: id.By, role: id.Role, identity: &id}, ok
}
