package login

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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

// cheapHash is a hash with one round.
func cheapHash(password string) string {
	h := hash{rounds: 1, salt: []byte("saltsalt")}
	h.key, _ = h.derive(password)
	return h.String()
}

func newTestAuthenticator(t testing.TB) *Authenticator {
	t.Helper()
	users, err := ReadUsers(
		fmt.Appendf(
			nil,
			`{"ada":{"password":%q,"role":"admin"},"bob":{"password":%q,"role":"operator"}}`,
			cheapHash("a"),
			cheapHash("b"),
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAuthenticator(users, KeysFromSecret([]byte("secret")))
	a.now = func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }
	return a
}

func login(a *Authenticator, method, body string) (int, map[string]string) {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(method, Path, strings.NewReader(body)))
	var reply map[string]string
	_ = json.Unmarshal(w.Body.Bytes(), &reply)
	return w.Code, reply
}

// MA-2: a name and a password are exchanged for a token and the role.
func TestLogin(t *testing.T) {
	a := newTestAuthenticator(t)
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
		status, reply := login(a, c.method, c.body)
		if status != c.status || reply["role"] != c.role ||
			(status == 200) != (reply["access_token"] != "" && reply["token_type"] == "bearer") {
			t.Errorf("%s %s: %d %v", c.method, c.body, status, reply)
		}
		if status == http.StatusUnauthorized && reply["detail"] != "Invalid credentials" {
			t.Errorf("%v", reply)
		}
	}
}

// MA-4: only a token with our signature, for this server, of an existing user, before its expiry,
// is valid.
func TestCheck(t *testing.T) {
	a := newTestAuthenticator(t)
	users := a.policy().users
	good := userToken(t, a, "bob")
	if who, ok := a.Verify(good); !ok || who.By != (protocol.Actor{Name: "bob", Subject: "bob"}) ||
		who.Role != protocol.RoleOperator {
		t.Errorf("%+v %v", who, ok)
	}
	other := NewAuthenticator(users, KeysFromSecret([]byte("other")))
	other.now = a.now
	key := a.policy().keys.Keys[0]
	elsewhere := NewAuthenticator(users, Keys{"elsewhere", key.ID, []Key{key}})
	elsewhere.now = a.now
	sign := func(m jwt.SigningMethod, change jwt.MapClaims, key any, kid string) string {
		c := jwt.MapClaims{
			"sub": "ada", "iss": issuer, "exp": a.now().Add(time.Hour).Unix(), "aud": a.policy().keys.Audience,
			"jti": "t", "made": true, "role": "admin",
		}
		for name, value := range change {
			c[name] = value
		}
		token := jwt.NewWithClaims(m, c)
		token.Header["kid"] = kid
		s, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, ok := a.Verify(sign(jwt.SigningMethodHS256, nil, key.Secret, key.ID)); !ok {
		t.Error("the token that the others differ from is not valid")
	}
	hs256 := func(change jwt.MapClaims) string { return sign(jwt.SigningMethodHS256, change, key.Secret, key.ID) }
	for name, token := range map[string]string{
		"empty": "", "nonsense": "a.b.c", "a removed user": userToken(t, a, "eve"),
		"another secret": userToken(t, other, "ada"), "another audience": userToken(t, elsewhere, "ada"),
		"cut":                           good[:len(good)-2],
		"unsigned":                      sign(jwt.SigningMethodNone, nil, jwt.UnsafeAllowNoneSignatureType, key.ID),
		"another method":                sign(jwt.SigningMethodHS512, nil, key.Secret, key.ID),
		"another key":                   sign(jwt.SigningMethodHS256, nil, key.Secret, "k"),
		"the raw secret":                sign(jwt.SigningMethodHS256, nil, []byte("secret"), key.ID),
		"without an end":                hs256(jwt.MapClaims{"exp": nil}),
		"too long":                      hs256(jwt.MapClaims{"exp": a.now().Add(MaxTokenTTL + time.Hour).Unix()}),
		"another issuer":                hs256(jwt.MapClaims{"iss": "x"}),
		"no audience":                   hs256(jwt.MapClaims{"aud": nil}),
		"no id":                         hs256(jwt.MapClaims{"jti": nil}),
		"no subject":                    hs256(jwt.MapClaims{"sub": nil}),
		"no role":                       hs256(jwt.MapClaims{"role": nil}),
		"another role":                  hs256(jwt.MapClaims{"role": "king"}),
		"a user's without the password": hs256(jwt.MapClaims{"made": false}),
	} {
		if who, ok := a.Verify(token); ok {
			t.Errorf("%s: valid for %+v", name, who)
		}
	}
	late := a.now().Add(tokenTTL + time.Second)
	a.now = func() time.Time { return late }
	if _, ok := a.Verify(good); ok {
		t.Error("an expired token is valid")
	}
}

// userToken returns a token of a user.
func userToken(t testing.TB, a *Authenticator, name string) string {
	t.Helper()
	u := a.policy().users[name]
	token, err := a.sign(claims{Role: u.role, Password: u.password.version()}, name, a.ttl)
	if err != nil {
		t.Fatal(err)
	}
	return token.Signed
}

func TestReadUsersSaysWhatIsWrong(t *testing.T) {
	for file, want := range map[string]string{
		`[]`: "read users", `{} {}`: "more than one", ``: "not a JSON object", `{"a":{}`: "not a password hash",
		`{`: "read users",
		`{"a":{"password":"` + cheapHash("x") + `","role":"admin"},"a":{"password":"` + cheapHash("y") +
			`","role":"admin"}}`: "duplicate user",
		`{"a":{"pass":"x"}}`: "unknown field",
		`{"":{"password":"` + cheapHash("x") + `","role":"admin"}}`: "a name has",
		`{"a":{"password":"plain","role":"admin"}}`:                 "not a password hash",
		`{"a":{"password":"` + cheapHash("x") + `","role":"king"}}`: `invalid role "king": want one of`,
		`{"a":{"password":"pbkdf2-sha256$9999999999$$","role":""}}`: "not a password hash",
	} {
		if _, err := ReadUsers([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestHashFitsItsPasswordAlone(t *testing.T) {
	s, err := HashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHash(s)
	if err != nil || h.rounds != rounds || !h.matches("correct horse") || h.matches("correct horsf") {
		t.Errorf("%s: %v", s, err)
	}
}

// A token from NewToken needs no user and has its own role.
func TestMake(t *testing.T) {
	a := newTestAuthenticator(t)
	for _, c := range []struct {
		subject string
		role    protocol.Role
		life    time.Duration
		ok      bool
	}{
		{"ci", protocol.RoleObserver, time.Hour, true},
		{"bob", protocol.RoleAdmin, MaxTokenTTL, true},
		{"prometheus", protocol.RoleMetrics, time.Hour, true},
		{"", protocol.RoleAdmin, time.Hour, false},
		{strings.Repeat("x", maxName+1), protocol.RoleAdmin, time.Hour, false},
		{"\xff", protocol.RoleAdmin, time.Hour, false},
		{"ci", "king", time.Hour, false},
		{"ci", "", time.Hour, false},
		{"ci", protocol.RoleAdmin, 0, false},
		{"ci", protocol.RoleAdmin, MaxTokenTTL + time.Second, false},
	} {
		token, err := a.NewToken(TokenRequest{Subject: c.subject, Role: c.role, TTL: c.life})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		who, ok := a.Verify(token.Signed)
		if want := (Identity{
			By:   protocol.Actor{Name: c.subject, Subject: c.subject},
			Role: c.role, Expires: a.now().Add(c.life),
		}); ok != c.ok ||
			ok && !sameIdentity(who, want) {
			t.Errorf("%+v: %+v %v", c, who, ok)
		}
	}
}

func sameIdentity(a, b Identity) bool {
	return a.By == b.By && a.Role == b.Role && a.Expires.Equal(b.Expires)
}

func TestLoginIsRefusedWithoutUsers(t *testing.T) {
	if status, reply := login(
		NewAuthenticator(nil, KeysFromSecret([]byte("secret"))),
		"POST",
		`{"username":"ada","password":"a"}`,
	); status != http.StatusNotFound ||
		reply["detail"] == "" {
		t.Errorf("%d %v", status, reply)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(cheapHash("x"))
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
			t.Errorf("%q parses to %v, %v", h, again, err)
		}
	})
}

// Users of any users file have a name, a role and a valid hash, and errors contain no password.
func FuzzReadUsers(f *testing.F) {
	f.Add([]byte(`{"ada":{"password":"` + cheapHash("a") + `","role":"admin"}}`))
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
			if name == "" || len(name) > maxName || len(who.password.key) != keyBytes ||
				!slices.Contains(protocol.Roles, who.role) {
				t.Errorf("%q: %+v", name, who)
			}
		}
		lines, err := ReadUserEntries(file)
		if again, err2 := ReadUsers(protocol.MustEncode(lines)); err != nil || err2 != nil || len(again) != len(users) {
			t.Errorf("written and read again: %v, %v", err, err2)
		}
	})
}

// An unknown user takes as long as some user does, also when the users' hashes have other rounds
// than new ones.
func TestAnUnknownUserTakesAsLongAsAKnownOne(t *testing.T) {
	if h := (Users{}).dummy("x"); h.rounds != rounds || len(h.key) != keyBytes {
		t.Errorf("without users: %+v", h)
	}
	users := Users{"old": {password: hash{rounds: 1000}}, "older": {password: hash{rounds: 10}}}
	seen := map[int]bool{}
	for i := range 64 {
		name := fmt.Sprint("user ", i)
		h := users.dummy(name)
		seen[h.rounds] = true
		if again := users.dummy(name); again.rounds != h.rounds {
			t.Errorf("%s: %d rounds, then %d", name, h.rounds, again.rounds)
		}
	}
	if len(seen) != 2 || !seen[1000] || !seen[10] {
		t.Errorf("rounds %v", seen)
	}
}

// For any body only the right name and password get a token, and every answer is JSON.
func FuzzLogin(f *testing.F) {
	a := newTestAuthenticator(f)
	for _, seed := range []string{
		`{"username":"ada","password":"a"}`, `{"USERNAME":"ada","password":"a"}`,
		`{"username":"ada","password":"a","password":"b"}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a.throttle = newThrottle() // no answer is delayed
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body)))
		var reply struct {
			Token  string `json:"access_token"`
			Detail json.RawMessage
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var pair struct{ Username, Password string }
		right := json.Unmarshal(body, &pair) == nil &&
			(pair.Username == "ada" && pair.Password == "a" || pair.Username == "bob" && pair.Password == "b")
		switch who, ok := a.Verify(reply.Token); {
		case right != (w.Code == http.StatusOK), ok != right, ok && who.By.Name != pair.Username:
			t.Errorf("%q: %d %+v", body, w.Code, who)
		case !right && (w.Code != http.StatusUnauthorized && w.Code != http.StatusUnprocessableEntity ||
			len(reply.Detail) == 0):
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

// FuzzCheck compares with a signature that is computed here. Tokens have random ids, and workers of
// a fuzz run make their own, so they cannot be compared.
func FuzzCheck(f *testing.F) {
	a := newTestAuthenticator(f)
	good := userToken(f, a, "ada")
	token, _ := a.NewToken(TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour})
	made := token.Signed
	f.Add(good)
	f.Add(made)
	f.Add(good + ".")
	f.Add(strings.Join(strings.Split(good, ".")[:2], ".") + "." + strings.Split(made, ".")[2])
	f.Fuzz(func(t *testing.T, token string) {
		who, ok := a.Verify(token)
		if !ok {
			return
		}
		end := strings.LastIndex(token, ".")
		mac := hmac.New(sha256.New, KeysFromSecret([]byte("secret")).Keys[0].Secret)
		mac.Write([]byte(token[:end]))
		if token[end+1:] != base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%q is valid for %+v", token, who)
		}
	})
}
