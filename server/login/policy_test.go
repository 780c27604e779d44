package login

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"agentctl/protocol"
)

func verified(t *testing.T, a *Authenticator, token string) Identity {
	t.Helper()
	id, ok := a.Verify(token)
	if !ok {
		t.Fatal("the token is not valid")
	}
	return id
}

// A removed user, another password and another role end the user's tokens and watches, and no
// other.
func TestAChangedUserEndsItsTokens(t *testing.T) {
	a := newTestAuthenticator(t)
	users := a.policy().users
	ada, bob := userToken(t, a, "ada"), userToken(t, a, "bob")
	ended := map[string]error{}
	watch := func(name, token string) {
		delete(ended, name)
		t.Cleanup(a.Watch(verified(t, a, token), func(err error) { ended[name] = err }))
	}
	watch("ada", ada)
	watch("bob", bob)
	h := hash{rounds: 1, salt: []byte("other salt")}
	h.key, _ = h.derive("another")
	for name, change := range map[string]struct {
		users Users
		want  error
		valid bool
	}{
		"removed":          {Users{"ada": users["ada"]}, ErrRevoked, false},
		"another password": {Users{"ada": users["ada"], "bob": {h, protocol.RoleOperator}}, ErrRevoked, false},
		"another role": {
			Users{"ada": users["ada"], "bob": {users["bob"].password, protocol.RoleObserver}}, ErrRoleChanged, true,
		},
	} {
		a.SetUsers(users)
		watch("bob", bob)
		a.SetUsers(change.users)
		if !errors.Is(ended["bob"], change.want) || ended["ada"] != nil {
			t.Errorf("%s: %v", name, ended)
		}
		if who, ok := a.Verify(bob); ok != change.valid || ok && who.Role != protocol.RoleObserver {
			t.Errorf("%s: %+v %v", name, who, ok)
		}
	}
}

// A revoked token ends, and a watch of it that begins later ends immediately.
func TestARevokedTokenEnds(t *testing.T) {
	a := newTestAuthenticator(t)
	one, _ := a.NewToken(TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour})
	two, _ := a.NewToken(TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour})
	id := verified(t, a, one.Signed)
	var first, second, late error
	defer a.Watch(id, func(err error) { first = err })()
	defer a.Watch(verified(t, a, two.Signed), func(err error) { second = err })()
	a.SetRevoked(map[string]bool{one.ID: true})
	defer a.Watch(id, func(err error) { late = err })()
	if _, ok := a.Verify(one.Signed); ok || !errors.Is(first, ErrRevoked) || !errors.Is(late, ErrRevoked) {
		t.Errorf("revoked: valid %v, %v, %v", ok, first, late)
	}
	if _, ok := a.Verify(two.Signed); !ok || second != nil {
		t.Errorf("the other: %v %v", ok, second)
	}
}

// A new key signs new tokens. Tokens of the old key stay valid until it is removed.
func TestANewKeyEndsNoToken(t *testing.T) {
	for _, method := range []string{HS256, EdDSA} {
		a := newTestAuthenticator(t)
		request := TokenRequest{Subject: "ci", Role: protocol.RoleObserver, Session: "s_1", TTL: time.Hour}
		old, _ := a.NewToken(request)
		keys := a.policy().keys
		key, err := NewKey(method)
		if err != nil {
			t.Fatal(err)
		}
		var ended error
		defer a.Watch(verified(t, a, old.Signed), func(err error) { ended = err })()
		a.SetKeys(Keys{keys.Audience, key.ID, append(keys.Keys, key)})
		now, _ := a.NewToken(request)
		for _, token := range []string{old.Signed, now.Signed} {
			if id := verified(t, a, token); id.Session != "s_1" {
				t.Errorf("%+v", id)
			}
		}
		parsed, _, err := jwt.NewParser().ParseUnverified(now.Signed, jwt.MapClaims{})
		if err != nil || parsed.Header["kid"] != key.ID || parsed.Method.Alg() != method || ended != nil {
			t.Errorf("%v, %v, %v", parsed.Header, err, ended)
		}
		a.SetKeys(Keys{keys.Audience, key.ID, []Key{key}})
		if _, ok := a.Verify(old.Signed); ok || !errors.Is(ended, ErrRevoked) {
			t.Errorf("a token of a removed key: %v %v", ok, ended)
		}
	}
}

// A public key verifies tokens of another issuer and is not taken for the secret of another method.
func TestAPublicKeyOnlyVerifies(t *testing.T) {
	a := newTestAuthenticator(t)
	issuer, _ := NewKey(EdDSA)
	public := issuer
	public.Secret = nil
	keys := a.policy().keys
	a.SetKeys(Keys{keys.Audience, keys.Signing, append(keys.Keys, public)})
	other := NewAuthenticator(nil, Keys{keys.Audience, issuer.ID, []Key{issuer}})
	other.now = a.now
	token, err := other.NewToken(TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if id := verified(t, a, token.Signed); id.By.Subject != "ci" || id.Role != protocol.RoleObserver {
		t.Errorf("%+v", id)
	}
	forged := Key{ID: public.ID, Method: HS256, Secret: public.Public}
	c := claims{Role: protocol.RoleAdmin, Made: true}
	c.RegisteredClaims = jwt.RegisteredClaims{
		Issuer: "agentctl", Audience: jwt.ClaimStrings{keys.Audience}, ID: "t", Subject: "eve",
		ExpiresAt: jwt.NewNumericDate(a.now().Add(time.Hour)),
	}
	signed, err := forged.sign(c)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := a.Verify(signed); ok {
		t.Errorf("signed with the public key: %+v", id)
	}
	a.SetKeys(Keys{keys.Audience, "", []Key{public}})
	if token, err := a.NewToken(TokenRequest{Subject: "x", Role: protocol.RoleAdmin, TTL: time.Hour}); err == nil {
		t.Errorf("%+v", token)
	}
}

// The key that signs is named, wherever it is in the file. It must have a secret.
func TestTheSigningKeyIsNamed(t *testing.T) {
	one, _ := NewKey(HS256)
	two, _ := NewKey(EdDSA)
	public, _ := NewKey(EdDSA)
	public.Secret = nil
	for _, keys := range [][]Key{{one, two, public}, {public, two, one}, {two, public, one}} {
		for _, signing := range []Key{one, two} {
			read, err := ParseKeys(protocol.MustEncode(Keys{"a", signing.ID, keys}))
			if err != nil {
				t.Fatal(err)
			}
			token, err := NewAuthenticator(nil, read).NewToken(
				TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour})
			parsed, _, _ := jwt.NewParser().ParseUnverified(token.Signed, jwt.MapClaims{})
			if err != nil || parsed.Header["kid"] != signing.ID {
				t.Errorf("signed with %v, want %s: %v", parsed, signing.ID, err)
			}
		}
		for _, signing := range []string{public.ID, "another"} {
			if _, err := ParseKeys(protocol.MustEncode(Keys{"a", signing, keys})); err == nil {
				t.Errorf("%q may sign", signing)
			}
		}
		if _, err := NewAuthenticator(nil, Keys{"a", "", keys}).NewToken(
			TokenRequest{Subject: "ci", Role: protocol.RoleObserver, TTL: time.Hour}); err == nil {
			t.Error("signed without a signing key")
		}
	}
}

// Keys of any file have ids, methods and lengths that fit, and are read again as written.
func FuzzParseKeys(f *testing.F) {
	ed, _ := NewKey(EdDSA)
	hs, _ := NewKey(HS256)
	f.Add([]byte(protocol.MustEncode(Keys{"a", hs.ID, []Key{ed, hs}})))
	f.Add([]byte(`{"audience":"a","keys":[{"id":"k","alg":"HS256","secret":"c2hvcnQ="}]}`))
	f.Add([]byte(`{"audience":"a","keys":[]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		keys, err := ParseKeys(file)
		if err != nil {
			return
		}
		for _, k := range keys.Keys {
			if k.ID == "" || k.Method == HS256 && len(k.Secret) < 32 || k.Method == EdDSA && len(k.Public) != 32 {
				t.Errorf("%+v", k)
			}
		}
		if signer := keys.signer(); (signer == nil) != (keys.Signing == "") {
			t.Errorf("%q signs: %+v", keys.Signing, signer)
		}
		if again, err := ParseKeys(protocol.MustEncode(keys)); err != nil ||
			!bytes.Equal(protocol.MustEncode(again), protocol.MustEncode(keys)) {
			t.Errorf("read again: %v", err)
		}
	})
}
