package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"

	"agentctl/protocol/codec"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/login"
	"agentctl/server/web"
)

// guard lets in who may come in: no page of a foreign origin (cross-site WebSocket hijacking), no Host that this listener
// does not have (DNS rebinding), nobody without the listener's token or, where there is a gate, a user's. Probes of health and
// logging in need none.
func (l *Listener) guard(gate *login.Authenticator, logins, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := l.admit(gate, r)
		switch {
		case !l.hostAllowed(r.Host):
			web.Refuse(w, http.StatusForbidden, protocol.CodeForbidden, "this server does not answer for that host")
		case !l.originAllowed(r.Header.Values("Origin")):
			web.Refuse(w, http.StatusForbidden, protocol.CodeForbidden, "this web origin is not allowed")
		case asksForPage(w, r):
		case gate != nil && r.URL.Path == login.Path:
			logins.ServeHTTP(w, r)
		case !ok && r.URL.Path != "/healthz" && r.URL.Path != "/readyz":
			if l.speaks(r.URL.Path).AcceptsUnauthorized {
				tooLate(w, r)
				return
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			web.Refuse(w, http.StatusUnauthorized, protocol.CodeUnauthorized, "a valid token is needed")
		default:
			r = who.with(r)
			if !who.until.IsZero() { // a stream ends with its credential; of a WebSocket serve sees to it
				ctx, cancel := context.WithDeadline(r.Context(), who.until)
				defer cancel()
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
		}
	})
}

// speaks returns the dialect that is spoken at a path; the zero one for none.
func (l *Listener) speaks(path string) codec.Dialect {
	name := l.Dialect
	if below, ok := strings.CutPrefix(path, dialectPath); ok && name == "" {
		name, _, _ = strings.Cut(below, "/")
	}
	d, _ := dialect.Find(name)
	return d
}

func (l *Listener) hostAllowed(host string) bool {
	if l.hosts == nil {
		return true
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return l.hosts[strings.ToLower(strings.Trim(host, "[]"))]
}

func (l *Listener) originAllowed(origins []string) bool {
	for _, o := range origins {
		if !slices.Contains(l.Origins, o) {
			return false
		}
	}
	return true
}

// asksForPage lets a page, whose origin is allowed, read what it is answered. It reports whether the page's browser only asked
// beforehand if it may, and has its answer.
func asksForPage(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// admit tells who a request is from; false when it needs a credential that it does not have. Where none is needed, none is
// looked at.
func (l *Listener) admit(gate *login.Authenticator, r *http.Request) (who caller, ok bool) {
	who.role = l.Role
	if l.Token == "" {
		return who, true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		given = r.URL.Query().Get("token")
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(l.Token))
	if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return who, true
	}
	if gate == nil {
		return who, false
	}
	user, ok := gate.Verify(given)
	return caller{user.By, user.Role, user.Expires}, ok
}
