package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"

	"agentctl/dialect"
	"agentctl/server/web"
)

// guard lets in who may come in: no page of a foreign origin (cross-site WebSocket hijacking), no Host that this listener
// does not have (DNS rebinding), nobody without the token. Probes of health need no token.
func (l *Listener) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !l.hostAllowed(r.Host):
			web.Refuse(w, http.StatusForbidden, "forbidden", "this server does not answer for that host")
		case !l.originAllowed(r.Header.Values("Origin")):
			web.Refuse(w, http.StatusForbidden, "forbidden", "this web origin is not allowed")
		case !l.tokenValid(r) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz":
			if d, _ := dialect.Named(l.Dialect); d.Accepts {
				tooLate(w, r)
				return
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			web.Refuse(w, http.StatusUnauthorized, "unauthorized", "a valid token is needed")
		default:
			next.ServeHTTP(w, r)
		}
	})
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

func (l *Listener) tokenValid(r *http.Request) bool {
	if l.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		given = r.URL.Query().Get("token")
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(l.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
