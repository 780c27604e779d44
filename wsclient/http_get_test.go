package wsclient

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAPathIsReadFromTheServerOfTheSocketWithItsCredential(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/api/sessions/a/b/messages" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("here"))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, scheme := range []string{"ws", "http"} {
		d := newDialer(scheme+"://"+host+"/ws?x=1", Options{Dialect: "sandcastle", Token: "secret"})
		if body, err := d.get(t.Context(), "/api/sessions/a%2Fb/messages"); err != nil || string(body) != "here" {
			t.Errorf("%s: %q, %v", scheme, body, err)
		}
		if body, err := d.get(t.Context(), "/other"); err == nil {
			t.Errorf("%s: what is not there holds %q", scheme, body)
		}
	}
}
