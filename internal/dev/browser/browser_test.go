//go:build browser

package browser

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// statuses returns the statuses of the answers so far, by attempt, and forgets them.
func (s *testServer) statuses() map[string][]int {
	all := map[string][]int{}
	for _, r := range s.recorders() {
		for name, statuses := range r.take() {
			all[name] = append(all[name], statuses...)
		}
	}
	return all
}

// No page of another origin connects to the server or reads from it: of another port, of another
// name of this machine, in a frame without an origin, in a file, and of a foreign name that
// resolves to this machine. Every attempt reaches the server, with and without the token, and is
// answered 403.
func TestForeignPagesNeitherConnectNorRead(t *testing.T) {
	server := newTestServer(t, "http://allowed.example")
	foreign := newSite(t)
	file, err := filepath.Abs("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]struct{ host, url string }{
		"another port":            {"127.0.0.1", foreign.url("127.0.0.1", "/page")},
		"another port, localhost": {"localhost", foreign.url("localhost", "/page")},
		"localhost to 127.0.0.1":  {"127.0.0.1", foreign.url("localhost", "/page")},
		"127.0.0.1 to localhost":  {"localhost", foreign.url("127.0.0.1", "/page")},
		"a frame without origin":  {"127.0.0.1", foreign.url("127.0.0.1", "/sandbox")},
		"a file":                  {"127.0.0.1", (&url.URL{Scheme: "file", Path: file}).String()},
		"a foreign name":          {"127.0.0.1", foreign.url(foreignHost, "/page")},
		"a foreign name, rebound": {foreignHost, "http://" + withHost(server.native.addr, foreignHost) + "/page"},
		"a foreign name, both":    {foreignHost, foreign.url(foreignHost, "/page")},
	} {
		t.Run(name, func(t *testing.T) {
			attempts := server.attempts(page.host)
			outcomes := foreign.show(t, page.url, attempts)
			statuses := server.statuses()
			for i, a := range attempts {
				if o := outcomes[i]; o.got() {
					t.Errorf("%s: %+v", a.name, o)
				}
				if s := statuses[a.name]; len(s) == 0 || slices.ContainsFunc(s, func(s int) bool { return s != 403 }) {
					t.Errorf("%s: answered %v, want 403", a.name, s)
				}
			}
		})
	}
	if sessions := server.sessions(); len(sessions) != 1 {
		t.Errorf("there are %d sessions", len(sessions))
	}
}

// A page of an origin that the configuration allows connects and reads with the token, over the
// native protocol, HTTP and every dialect, and not without it. What it embeds is refused: images,
// scripts and frames.
func TestAPageOfAnAllowedOriginConnectsAndReads(t *testing.T) {
	allowed := newSite(t)
	page := allowed.url("127.0.0.1", "")
	server := newTestServer(t, page)
	attempts := server.attempts("127.0.0.1")
	outcomes := allowed.show(t, page+"/page", attempts)
	statuses := server.statuses()
	for i, a := range attempts {
		if s := statuses[a.name]; len(s) == 0 || s[len(s)-1] != a.status {
			t.Errorf("%s: answered %v, want %d", a.name, s, a.status)
		}
		if o := outcomes[i]; o.got() != a.connects {
			t.Errorf("%s: %+v, want connected: %v", a.name, o, a.connects)
		}
		reads := strings.Contains(a.name, "/api/sessions with the token") && a.Kind == "fetch" || a.Kind == "bearer" ||
			len(a.Protocols) > 0 && a.connects
		if reads && !strings.Contains(outcomes[i].Text, sessionName) {
			t.Errorf("%s: read %q", a.name, outcomes[i].Text)
		}
	}
}
