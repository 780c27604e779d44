package login

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"agentctl/protocol"
)

// quick is a hash that costs nothing.
func quick(password string) string {
	h := hash{rounds: 1, salt: []byte("saltsalt")}
	h.key, _ = h.of(password)
	return h.String()
}

func newGate(t testing.TB) *Gate {
	t.Helper()
	users, err := ReadUsers(fmt.Appendf(nil, `{"ada":{"password":%q,"role":"admin"},"bob":{"password":%q,"role":"operator"}}`, quick("a"), quick("b")))
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(users, []byte("secret"))
	g.now = func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }
	return g
}

func login(g *Gate, method, body string) (int, map[string]string) {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(method, Path, strings.NewReader(body)))
	var said map[string]string
	_ = json.Unmarshal(w.Body.Bytes(), &said)
	return w.Code, said
}

// MA-2: name and password give a token and tell the role.
func TestLogin(t *testing.T) {
	g := newGate(t)
	for _, c := range []struct {
		method, body string
		status       int
		role         string
	}{
		{"POST", `{"username":"ada","password":"a"}`, 200, "admin"},
		{"POST", `{"username":"bob","password":"b"}`, 200, "user"},
		{"POST", `{"username":"ada","password":"b"}`, 401, ""},
		{"POST", `{"username":"eve","password":"a"}`, 401, ""},
		{"POST", `{"username":"ada"}`, 422, ""},
		{"POST", `{"username":5,"password":"a"}`, 422, ""},
		{"POST", `nonsense`, 422, ""},
		{"POST", `{"username":"ada","password":"` + strings.Repeat("a", maxBody) + `"}`, 422, ""},
		{"GET", ``, 405, ""},
	} {
		status, said := login(g, c.method, c.body)
		if status != c.status || said["role"] != c.role || (status == 200) != (said["access_token"] != "" && said["token_type"] == "bearer") {
			t.Errorf("%s %s: %d %v", c.method, c.body, status, said)
		}
		if status == http.StatusUnauthorized && said["detail"] != "Invalid credentials" {
			t.Errorf("%v", said)
		}
	}
}

// MA-4: only a token that we signed, of a user that there is, in its time, lets in.
func TestCheck(t *testing.T) {
	g := newGate(t)
	good, _ := g.issue("bob", protocol.RoleAdmin)
	if who, ok := g.Check(good); !ok || who.By != (protocol.Actor{Name: "bob", Subject: "bob"}) || who.Role != protocol.RoleOperator {
		t.Errorf("%+v %v", who, ok)
	}
	gone, _ := g.issue("eve", protocol.RoleAdmin)
	other := NewGate(g.users, []byte("other"))
	other.now = g.now
	forged, _ := other.issue("ada", protocol.RoleAdmin)
	sign := func(m jwt.SigningMethod, c jwt.MapClaims, key any) string {
		s, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	exp := g.now().Add(time.Hour).Unix()
	for name, token := range map[string]string{
		"empty": "", "nonsense": "a.b.c", "a user who is gone": gone, "another secret": forged, "cut": good[:len(good)-2],
		"unsigned":       sign(jwt.SigningMethodNone, jwt.MapClaims{"sub": "ada", "iss": issuer, "exp": exp}, jwt.UnsafeAllowNoneSignatureType),
		"another method": sign(jwt.SigningMethodHS512, jwt.MapClaims{"sub": "ada", "iss": issuer, "exp": exp}, g.key),
		"without an end": sign(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "iss": issuer}, g.key),
		"another issuer": sign(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "iss": "x", "exp": exp}, g.key),
		"the raw secret": sign(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "iss": issuer, "exp": exp}, []byte("secret")),
	} {
		if who, ok := g.Check(token); ok {
			t.Errorf("%s: lets in %+v", name, who)
		}
	}
	late := g.now().Add(life + time.Second)
	g.now = func() time.Time { return late }
	if _, ok := g.Check(good); ok {
		t.Error("an expired token lets in")
	}
}

func TestReadUsersSaysWhatIsWrong(t *testing.T) {
	for file, want := range map[string]string{
		`[]`: "read users", `{} {}`: "more than one", `{"a":{"pass":"x"}}`: "unknown field",
		`{"":{"password":"` + quick("x") + `","role":"admin"}}`:     "a name has",
		`{"a":{"password":"plain","role":"admin"}}`:                 "not a password hash",
		`{"a":{"password":"` + quick("x") + `","role":"king"}}`:     `role "king" is none of`,
		`{"a":{"password":"pbkdf2-sha256$9999999999$$","role":""}}`: "not a password hash",
	} {
		if _, err := ReadUsers([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestHashFitsItsPasswordAlone(t *testing.T) {
	s, err := Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHash(s)
	if err != nil || h.rounds != rounds || !h.fits("correct horse") || h.fits("correct horsf") {
		t.Errorf("%s: %v", s, err)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(quick("x"))
	f.Add("pbkdf2-sha256$1$$")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := parseHash(s); err == nil && (h.rounds < 1 || h.rounds > maxRounds || len(h.key) != keyBytes) {
			t.Errorf("%+v", h)
		}
	})
}

func FuzzCheck(f *testing.F) {
	g := newGate(f)
	good, _ := g.issue("ada", protocol.RoleAdmin)
	f.Add(good)
	f.Add(good + ".")
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok := g.Check(token); ok && strings.TrimRight(token, "=") != good {
			t.Errorf("%q lets in", token)
		}
	})
}
