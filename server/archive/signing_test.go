package archive

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestAStateIsRestoredWithTheSecretOrAnAcceptedKey(t *testing.T) {
	key := func(seed byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	}
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	secret := []byte("one")
	signer := Signing{Secret: secret, Key: key('a')}
	st := signer.Sign([]byte("state"))
	changed, unsigned, old := st, st, st
	changed.State = []byte("other")
	unsigned.KeySignature = nil
	old.Key, old.KeySignature = nil, nil // of a server without a key pair
	swapped := (&Signing{Secret: []byte("evil"), Key: key('b')}).Sign([]byte("state"))
	swapped.Key = public(key('a'))
	accepts := Signing{Secret: []byte("two"), Key: key('c'), Accepted: []ed25519.PublicKey{public(key('a'))}}
	refuses := Signing{Secret: []byte("two"), Key: key('b')}
	for name, c := range map[string]struct {
		by   Signing
		st   protocol.SignedState
		want string // in the error; empty: it is accepted
	}{
		"own":                      {signer, st, ""},
		"shared secret":            {Signing{Secret: secret}, st, ""},
		"old, shared secret":       {Signing{Secret: secret, Key: key('b')}, old, ""},
		"accepted key":             {accepts, st, ""},
		"own key, another secret":  {Signing{Secret: []byte("two"), Key: key('a')}, st, ""},
		"neither":                  {refuses, st, "another server signed the state; "},
		"old, neither":             {refuses, old, "another server signed the state, or it was changed; "},
		"changed":                  {accepts, changed, "the state was changed"},
		"changed, shared secret":   {signer, changed, "the state was changed"},
		"no signature of the key":  {accepts, unsigned, "the state was changed"},
		"signature of another key": {accepts, swapped, "the state was changed"},
	} {
		err := c.by.verify(&c.st)
		refused := protocol.CodeOf(err) == protocol.CodeInvalidState && strings.Contains(err.Error(), c.want)
		if c.want == "" && err != nil || c.want != "" && !refused {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, "neither") {
			for _, way := range []string{"state_secret", "state_keys"} {
				if !strings.Contains(err.Error(), way) {
					t.Errorf("%s: %v does not name %s", name, err, way)
				}
			}
		}
	}
}
