package login

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
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

func newGate(t testing.TB) *Authenticator {
	t.Helper()
	users, err := ReadUsers(fmt.Appendf(nil, `{"ada":{"password":%q,"role":"admin"},"bob":{"password":%q,"role":"operator"}}`, quick("a"), quick("b")))
	if err != nil {
		t.Fatal(err)
	}
	g := NewAuthenticator(users, []byte("secret"))
	g.now = func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }
	return g
}

func login(g *Authenticator, method, body string) (int, map[string]string) {
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
	other := NewAuthenticator(g.users, []byte("other"))
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
		`[]`: "read users", `{} {}`: "more than one", ``: "not a JSON object", `{"a":{}`: "not a password hash", `{`: "read users",
		`{"a":{"password":"` + quick("x") + `","role":"admin"},"a":{"password":"` + quick("y") + `","role":"admin"}}`: "twice",
		`{"a":{"pass":"x"}}`: "unknown field",
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

// A made token needs no user, and says its role itself.
func TestMake(t *testing.T) {
	g := newGate(t)
	for _, c := range []struct {
		subject string
		role    protocol.Role
		life    time.Duration
		ok      bool
	}{
		{"ci", protocol.RoleObserver, time.Hour, true},
		{"bob", protocol.RoleAdmin, MaxLife, true},
		{"", protocol.RoleAdmin, time.Hour, false},
		{strings.Repeat("x", maxName+1), protocol.RoleAdmin, time.Hour, false},
		{"\xff", protocol.RoleAdmin, time.Hour, false},
		{"ci", "king", time.Hour, false},
		{"ci", "", time.Hour, false},
		{"ci", protocol.RoleAdmin, 0, false},
		{"ci", protocol.RoleAdmin, MaxLife + time.Second, false},
	} {
		token, err := g.Make(c.subject, c.role, c.life)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		who, ok := g.Check(token)
		if want := (Caller{protocol.Actor{Name: c.subject, Subject: c.subject}, c.role, g.now().Add(c.life)}); ok != c.ok || ok && !same(who, want) {
			t.Errorf("%+v: %+v %v", c, who, ok)
		}
	}
	if _, ok := NewAuthenticator(nil, []byte("another")).Check(first(g.Make("ci", protocol.RoleAdmin, time.Hour))); ok {
		t.Error("another server's token lets in")
	}
}

func first(token string, _ error) string { return token }

func same(a, b Caller) bool { return a.By == b.By && a.Role == b.Role && a.Until.Equal(b.Until) }

func TestWithoutUsersNobodyLogsIn(t *testing.T) {
	if status, said := login(NewAuthenticator(nil, []byte("secret")), "POST", `{"username":"ada","password":"a"}`); status != http.StatusNotFound || said["detail"] == "" {
		t.Errorf("%d %v", status, said)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(quick("x"))
	f.Add("pbkdf2-sha256$1$$")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHash(s)
		if err != nil {
			return
		}
		if h.rounds < 1 || h.rounds > maxRounds || len(h.key) != keyBytes {
			t.Errorf("%+v", h)
		}
		if again, err := parseHash(h.String()); err != nil || again.String() != h.String() {
			t.Errorf("%q is read back as %v, %v", h, again, err)
		}
	})
}

// Whatever a users file holds, who is let in by it has a name, a role and a real hash, and what is wrong is said without a password.
func FuzzReadUsers(f *testing.F) {
	f.Add([]byte(`{"ada":{"password":"` + quick("a") + `","role":"admin"}}`))
	f.Add([]byte(`{"ada":{"password":"hunter2","role":"admin"}}`))
	f.Add([]byte(`{"a":{},"a":{}} {`))
	f.Fuzz(func(t *testing.T, file []byte) {
		users, err := ReadUsers(file)
		if err != nil {
			// An error may repeat a name, a role or a field.
			rest := bytes.ReplaceAll(file, []byte(`"password":"hunter2"`), nil)
			elsewhere := bytes.Contains(rest, []byte("hunter2"))
			if users != nil || !elsewhere && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, %v", users, err)
			}
			return
		}
		for name, who := range users {
			if name == "" || len(name) > maxName || len(who.password.key) != keyBytes || !slices.Contains(protocol.Roles, who.role) {
				t.Errorf("%q: %+v", name, who)
			}
		}
		lines, err := ReadLines(file)
		if again, err2 := ReadUsers(protocol.MustEncode(lines)); err != nil || err2 != nil || len(again) != len(users) {
			t.Errorf("written again: %v, %v", err, err2)
		}
	})
}

// Whatever is said at the gate, only the right pair gets a token, and every answer is JSON.
func FuzzLogin(f *testing.F) {
	g := newGate(f)
	real := nobody
	nobody.password.rounds = 1
	f.Cleanup(func() { nobody = real })
	for _, seed := range []string{`{"username":"ada","password":"a"}`, `{"USERNAME":"ada","password":"a"}`, `{"username":"ada","password":"a","password":"b"}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body)))
		var said struct {
			Token  string `json:"access_token"`
			Detail string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var pair struct{ Username, Password string }
		right := json.Unmarshal(body, &pair) == nil && (pair.Username == "ada" && pair.Password == "a" || pair.Username == "bob" && pair.Password == "b")
		switch who, ok := g.Check(said.Token); {
		case right != (w.Code == http.StatusOK), ok != right, ok && who.By.Name != pair.Username:
			t.Errorf("%q: %d %+v", body, w.Code, who)
		case !right && (w.Code != http.StatusUnauthorized && w.Code != http.StatusUnprocessableEntity || said.Detail == ""):
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

func FuzzCheck(f *testing.F) {
	g := newGate(f)
	good, _ := g.issue("ada", protocol.RoleAdmin)
	made, _ := g.Make("ci", protocol.RoleObserver, time.Hour)
	f.Add(good)
	f.Add(made)
	f.Add(good + ".")
	f.Add(strings.Join(strings.Split(good, ".")[:2], ".") + "." + strings.Split(made, ".")[2])
	f.Fuzz(func(t *testing.T, token string) {
		if who, ok := g.Check(token); ok && token != good && token != made {
			t.Errorf("%q lets in %+v", token, who)
		}
	})
}
