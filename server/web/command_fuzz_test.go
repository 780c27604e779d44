package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentctl/protocol"
)

// A request becomes a command that a connection would accept too, or is refused with a code of the
// client's error.
func FuzzDecode(f *testing.F) {
	for _, seed := range [][3]string{
		{"/api/sessions", "", `{"name":"x"}`},
		{"/api/sessions/s/messages", "wait=turn", `{"text":"x"}`},
		{"/api/sessions/s/queue/m", "", `{"text":"x","message_id":"y"}`},
		{"/api/sessions/s/approvals/r/decision", "", ` { "decision" : "deny" } `},
		{"/api/sessions/s/history", "limit=3&before=7", ""},
		{"/api/sessions/s\xff/history", "limit=3", ""},
		{"/api/sessions", "", "0"},
		{"/api/sessions/s%2Ft/close", "", "{}"},
		{"/api/sessions/s/options/m%22%7D", "a=%zz", `{"value":"\ud800"}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, path, query, body string) {
		for i := range Routes() {
			route := &Routes()[i]
			if route.Verb == "" {
				continue
			}
			a := &api{Config: Config{MaxBody: func() int64 { return 4096 }}}
			mux := http.NewServeMux()
			mux.HandleFunc(route.Pattern(), func(w http.ResponseWriter, r *http.Request) {
				cmd, err := a.decode(w, r, route)
				if err != nil {
					if status := StatusOf(protocol.CodeOf(err)); status < 400 || status >= 500 {
						t.Errorf("%s: %v", route.Pattern(), err)
					}
					return
				}
				again, err := protocol.DecodeCommand(protocol.MustEncode(cmd))
				if err != nil || again.Command != route.Verb || again.Session != r.PathValue("id") {
					t.Errorf("%s: %+v, %v", route.Pattern(), again, err)
				}
				var fields map[string]json.RawMessage
				if cmd.Data != nil && json.Unmarshal(cmd.Data, &fields) != nil {
					t.Errorf("%s: data %s", route.Pattern(), cmd.Data)
				}
			})
			r := httptest.NewRequest(route.Method, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.URL.Path, r.URL.RawQuery = path, query
			mux.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
}
