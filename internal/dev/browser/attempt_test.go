//go:build browser

package browser

import (
	"fmt"
	"net/url"
	"strings"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/login"
)

const (
	sessionName = "the plans" // in what a page reads of the session

	// passwordHash is the hash of "open sesame", with one round.
	passwordHash = "pbkdf2-sha256$1$c2FsdHNhbHQ$N01MpLgNxh0tY+nm/hV9VIzp9rxoW2pwRzGCtGoCHMg"
	credentials  = `{"username":"ada","password":"open sesame"}`
	formBody     = `{"username":"ada","password":"open sesame","x":"="}` // NAME=VALUE
)

// An attempt is a way in which a page tries to reach the server; page.html has the kinds.
type attempt struct {
	Kind      string   `json:"kind"`
	URL       string   `json:"url"`
	Token     string   `json:"token,omitempty"`
	Body      string   `json:"body,omitempty"`
	Protocols []string `json:"protocols,omitempty"`

	name string
	// What a page of an allowed origin gets: the status of the answer, and whether it connects.
	status   int
	connects bool
}

// An attemptList makes the attempts of a page that reaches the server by the name host.
type attemptList struct {
	server *testServer
	host   string
	list   []attempt
}

// attempts returns all attempts.
func (s *testServer) attempts(host string) []attempt {
	l := attemptList{server: s, host: host}
	l.addNative("")
	l.addNative(s.token)
	l.addLogin()
	l.addOpen()
	return l.list
}

// add adds an attempt on a listener. Its name is in the URL.
func (l *attemptList) add(r *recorder, path, token string, a attempt) {
	a.name = fmt.Sprint(len(l.list), " ", a.Kind, " ", path)
	query := url.Values{attemptParameter: {a.name}}
	if token != "" {
		a.name += " with the token"
		query.Set(attemptParameter, a.name)
		query.Set("token", token)
	}
	a.URL = "http://" + withHost(r.addr, l.host) + path + "?" + query.Encode()
	l.list = append(l.list, a)
}

// addNative adds attempts on the native listener, which requires the token.
func (l *attemptList) addNative(token string) {
	native, ok := l.server.native, token != ""
	status := func(allowed int) int {
		if ok {
			return allowed
		}
		return 401
	}
	add := func(kind, path string, status int, connects bool) {
		l.add(native, path, token, attempt{Kind: kind, status: status, connects: connects})
	}
	l.add(native, protocol.Path, token, attempt{
		Kind: "websocket", Protocols: []string{protocol.Subprotocol}, Body: `{"id":"1","command":"list"}`,
		status: status(101), connects: ok,
	})
	for _, name := range dialect.Names() {
		d, _ := dialect.Find(name)
		refused := max(d.UnauthorizedStatus, 401)
		if ok {
			refused = 101
		}
		add("websocket", "/dialect/"+name, refused, ok)
		add("websocket", "/dialect/"+name+"/below", refused, ok)
	}
	for _, path := range []string{"/api/sessions", "/api/sessions/" + l.server.session + "/messages"} {
		add("fetch", path, status(200), ok)
		add("cookies", path, status(200), false) // credentials of a browser are never allowed
		add("opaque", path, 403, false)
		add("image", path, 403, false)
		add("script", path, 403, false)
		add("frame", path, 403, false)
	}
	add("events", "/api/sessions/"+l.server.session+"/events", status(200), ok)
	add("events", "/api/sessions/events", status(200), ok)
	// The command of an allowed page is answered 400: the name of the attempt is no parameter.
	for kind, allowed := range map[string]int{"json": 400, "post": 415, "blind": 415} {
		l.add(native, "/api/sessions/"+l.server.session+"/messages", token, attempt{
			Kind: kind, Body: `{"text":"delete everything"}`, status: status(allowed),
		})
	}
	add("fetch", "/healthz", 200, true)
	add("image", "/healthz", 403, false)
	if ok {
		l.add(native, "/api/sessions", "", attempt{Kind: "bearer", Token: token, status: 200, connects: true})
		l.add(native, "/api/sessions", token, attempt{Kind: "form", Body: formBody, status: 401})
	}
}

// addLogin adds attempts to log in with the right password.
func (l *attemptList) addLogin() {
	for _, a := range []attempt{
		{Kind: "post", Body: credentials, status: 200, connects: true},
		{Kind: "json", Body: credentials, status: 200, connects: true},
		{Kind: "blind", Body: credentials, status: 200},
		{Kind: "form", Body: formBody, status: 200},
		{Kind: "frame", status: 403},
	} {
		l.add(l.server.native, login.Path, "", a)
	}
}

// addOpen adds attempts on the open listeners, which require no token.
func (l *attemptList) addOpen() {
	for _, name := range dialect.Names() {
		open := l.server.open[name]
		l.add(open, "/", "", attempt{Kind: "websocket", status: 101, connects: true})
		l.add(open, "/any/path", "", attempt{Kind: "websocket", status: 101, connects: true})
		l.add(open, login.Path, "", attempt{Kind: "post", Body: credentials, status: 200, connects: true})
		path := "/api/sessions/" + l.server.session + "/messages"
		for _, kind := range []string{"opaque", "image", "script", "frame"} {
			l.add(open, path, "", attempt{Kind: kind, status: 403})
		}
		if d, _ := dialect.Find(name); d.Messages != nil {
			l.add(open, path, "", attempt{Kind: "fetch", status: 200, connects: true})
		}
	}
}

// got reports whether a page got through, or read what the server keeps.
func (o *outcome) got() bool {
	return o.Connected || strings.Contains(o.Text, sessionName) || strings.Contains(o.Text, "access_token")
}
