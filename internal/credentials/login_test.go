package credentials

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/server/login"
)

// MA-2, MA-3: a login at a server of that system, for each answer.
func TestLoggingInAtAForeignServer(t *testing.T) {
	for _, c := range []struct {
		status int
		answer string
		code   int
		text   string
	}{
		{200, `{"access_token":"a.b.c","token_type":"bearer","role":"user"}`, exit.OK, ""},
		{200, `{"access_token":"opaque"}`, exit.OK, ""},
		{200, `{"role":"user"}`, exit.Failure, "HTTP 200"},
		{401, `{"detail":"Invalid credentials"}`, exit.Forbidden, "wrong user name"},
		{403, ``, exit.Forbidden, "wrong user name"},
		{404, `{"detail":"Not Found"}`, exit.Failure, "no users"},
		{429, `{"detail":"busy"}`, exit.Failure, "too many wrong passwords"},
		{422, `{"detail":[{"loc":["body","username"],"msg":"field required"}]}`, exit.Failure, "HTTP 422"},
		{307, ``, exit.Failure, "HTTP 307"},
		{500, `<html>`, exit.Failure, "HTTP 500"},
	} {
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			b, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.Path != login.Path ||
				string(b) != `{"password":"p","username":"ada"}` || r.URL.RawQuery != "" {
				t.Errorf("%s %s: %s", r.Method, r.URL, b)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.answer)
		}))
		endpoint, err := NewEndpoint(strings.Replace(s.URL, "http", "ws", 1)+"/ws?token=old", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := endpoint.Login(t.Context(), "ada", "p")
		s.Close()
		if err == nil {
			if c.code != exit.OK || got.Token == "" {
				t.Errorf("%d %s: %+v", c.status, c.answer, got)
			}
			continue
		}
		if e := exit.From(err); e.Status != c.code || !strings.Contains(e.Error(), c.text) || requests != 1 {
			t.Errorf("%d %s: exit %d, %v, %d requests", c.status, c.answer, e.Status, err, requests)
		}
	}
}

// tokenUntil returns a token with an expiry.
func tokenUntil(at time.Time) string {
	body := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, at.Unix()))
	return "h." + body + ".s"
}

// A stored login goes to its server only, until it expires, and its file is private.
func TestAStoredLoginGoesToItsServerAlone(t *testing.T) {
	dir := localserver.Dir(t.TempDir())
	store := NewStore(dir)
	save := func(server, token string) {
		t.Helper()
		if err := store.Save(Login{Server: server, User: "ada", Token: token, Expires: Expiry(token)}); err != nil {
			t.Fatal(err)
		}
	}
	later := tokenUntil(time.Now().Add(time.Hour))
	save("wss://a.example", "old")
	save("wss://a.example", later)
	save("ws://127.0.0.1:1", "opaque")
	save("wss://late.example", tokenUntil(time.Now().Add(-time.Minute)))
	for url, want := range map[string]string{
		"wss://a.example": later, "https://A.example/ws?x=1": later, "ws://a.example": "", "wss://a.example:444": "",
		"wss://b.a.example": "", "ws://127.0.0.1:1/v1/ws": "opaque", "ws://127.0.0.1:2": "", "wss://late.example": "",
		"nonsense": "",
	} {
		if got := store.TokenFor(url); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
	info, err := os.Stat(dir.Path("logins"))
	if err != nil || localserver.Supported && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if found, err := store.Delete("https://a.example"); !found || err != nil ||
		store.TokenFor("wss://a.example") != "" {
		t.Errorf("%v %v", found, err)
	}
	if err := os.WriteFile(dir.Path("logins"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Save(Login{Server: "wss://a.example"}); err == nil {
		t.Error("a corrupt file is replaced")
	}
}

// FuzzExpiry reads tokens of any server.
func FuzzExpiry(f *testing.F) {
	f.Add(tokenUntil(time.Unix(1, 0)))
	f.Add("..")
	f.Add("a.eyJleHAiOjFlMzAwfQ.b")
	f.Fuzz(func(t *testing.T, token string) {
		at := Expiry(token)
		if at == nil {
			return
		}
		if _, err := json.Marshal(at); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	})
}

func TestAPasswordIsExposedOnlyOutsideThisMachineWithoutTLS(t *testing.T) {
	for url, want := range map[string]bool{
		"ws://192.0.2.1:7777": true, "http://box": true, "ws://127.0.0.1:7777": false, "ws://localhost": false,
		"ws://[::1]:1": false,
		"wss://box":    false, "https://192.0.2.1": false,
	} {
		e, err := NewEndpoint(url, nil)
		if err != nil || e.Exposed() != want {
			t.Errorf("%s: %v, %v; want %v", url, e.Exposed(), err, want)
		}
	}
	if _, err := NewEndpoint("nonsense", nil); err == nil {
		t.Error("no host, yet an endpoint")
	}
}

func TestTheUsersFileMustNotBeWritableByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUsers(path); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUsers(path); localserver.Supported && (err == nil || exit.From(err).Status != exit.Usage) {
		t.Errorf("%v", err)
	}
}

func TestAPasswordFromStdin(t *testing.T) {
	for in, want := range map[string]string{
		"open sesame\n": "open sesame", "open sesame\r\n": "open sesame", " kept ": " kept ", "": "",
		strings.Repeat("x", maxPassword+1): "",
	} {
		got, err := Prompt{Stdin: strings.NewReader(in)}.PasswordFromStdin()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
