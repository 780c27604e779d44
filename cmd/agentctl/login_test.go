package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"agentctl/server/login"
)

// MA-2, MA-3: logging in at a server of that system, whatever it answers.
func TestLoggingInAtAForeignServer(t *testing.T) {
	for _, c := range []struct {
		status int
		answer string
		exit   int
		words  string
	}{
		{200, `{"access_token":"a.b.c","token_type":"bearer","role":"user"}`, exitDone, ""},
		{200, `{"access_token":"opaque"}`, exitDone, ""},
		{200, `{"role":"user"}`, exitError, "HTTP 200"},
		{401, `{"detail":"Invalid credentials"}`, exitForbidden, "no user has that name"},
		{403, ``, exitForbidden, "no user has that name"},
		{404, `{"detail":"Not Found"}`, exitError, "no users"},
		{422, `{"detail":[{"loc":["body","username"],"msg":"field required"}]}`, exitError, "HTTP 422"},
		{307, ``, exitError, "HTTP 307"},
		{500, `<html>`, exitError, "HTTP 500"},
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			b, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.Path != login.Path || string(b) != `{"password":"p","username":"ada"}` || r.URL.RawQuery != "" {
				t.Errorf("%s %s: %s", r.Method, r.URL, b)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.answer)
		}))
		client, at, err := loginAt(strings.Replace(s.URL, "http", "ws", 1) + "/ws?token=old")
		if err != nil {
			t.Fatal(err)
		}
		got, err := logIn(t.Context(), client, at, "ada", "p")
		s.Close()
		if err == nil {
			if c.exit != exitDone || got.Token == "" {
				t.Errorf("%d %s: %+v", c.status, c.answer, got)
			}
			continue
		}
		if f := faultOf(err); f.exit != c.exit || !strings.Contains(f.Error(), c.words) || asked != 1 {
			t.Errorf("%d %s: exit %d, %v, asked %d times", c.status, c.answer, f.exit, err, asked)
		}
	}
}

// token makes one that says when it expires.
func tokenUntil(at time.Time) string {
	body := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, at.Unix()))
	return "h." + body + ".s"
}

// A stored login is for its server alone, in its time, and private.
func TestAStoredLoginGoesToItsServerAlone(t *testing.T) {
	dir := dataDir(t.TempDir())
	keep := func(server, token string) {
		t.Helper()
		if err := dir.keepLogin(storedLogin{Server: server, User: "ada", Token: token, Expires: expiry(token)}); err != nil {
			t.Fatal(err)
		}
	}
	later := tokenUntil(time.Now().Add(time.Hour))
	keep("wss://a.example", "old")
	keep("wss://a.example", later)
	keep("ws://127.0.0.1:1", "opaque")
	keep("wss://late.example", tokenUntil(time.Now().Add(-time.Minute)))
	for url, want := range map[string]string{
		"wss://a.example": later, "https://A.example/ws?x=1": later, "ws://a.example": "", "wss://a.example:444": "",
		"wss://b.a.example": "", "ws://127.0.0.1:1/v1/ws": "opaque", "ws://127.0.0.1:2": "", "wss://late.example": "", "nonsense": "",
	} {
		if got := dir.loginFor(url); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
	info, err := os.Stat(dir.path("logins"))
	if err != nil || canServe && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if had, err := dir.dropLogin("https://a.example"); !had || err != nil || dir.loginFor("wss://a.example") != "" {
		t.Errorf("%v %v", had, err)
	}
	if err := os.WriteFile(dir.path("logins"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.keepLogin(storedLogin{Server: "wss://a.example"}); err == nil {
		t.Error("a broken file is written over")
	}
}

// FuzzExpiry reads what any server calls a token.
func FuzzExpiry(f *testing.F) {
	f.Add(tokenUntil(time.Unix(1, 0)))
	f.Add("..")
	f.Add("a.eyJleHAiOjFlMzAwfQ.b")
	f.Fuzz(func(t *testing.T, token string) {
		at := expiry(token)
		if at == nil {
			return
		}
		if _, err := json.Marshal(at); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	})
}
