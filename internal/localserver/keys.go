package localserver

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"agentctl/internal/atomicfile"
	"agentctl/server/login"
)

// Keys returns the keys that sign and verify the server's tokens. The file "key" holds either one
// secret, made on first use, or JSON, as SaveKeys writes it.
func (d Dir) Keys() (login.Keys, error) {
	b, err := d.readPrivate("key", maxKeyFile)
	if err == nil && bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		keys, err := login.ParseKeys(b)
		if err != nil {
			return login.Keys{}, d.damaged("key", err.Error())
		}
		return keys, nil
	}
	secret, err := d.Secret("key")
	if err != nil {
		return login.Keys{}, fmt.Errorf("key of credentials: %w", err)
	}
	return login.KeysFromSecret([]byte(secret)), nil
}

// SaveKeys replaces the keys. A running server reads them within seconds.
func (d Dir) SaveKeys(keys login.Keys) error {
	b, err := json.MarshalIndent(keys, "", "  ")
	if err == nil {
		_, err = login.ParseKeys(b)
	}
	if err == nil {
		err = atomicfile.Write(d.Path("key"), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("save keys: %w", err)
	}
	return nil
}

// StateKey returns the key that signs exported states, from the seed in the file "state.key".
func (d Dir) StateKey() (ed25519.PrivateKey, error) {
	secret, err := d.Secret("state.key")
	if err != nil {
		return nil, fmt.Errorf("key of exported states: %w", err)
	}
	seed := sha256.Sum256([]byte(secret))
	return ed25519.NewKeyFromSeed(seed[:]), nil
}

// Authenticator returns an authenticator that accepts users and the credentials made with the keys
// of the directory, unless they are revoked. users may be nil.
func (d Dir) Authenticator(users login.Users) (*login.Authenticator, error) {
	keys, err := d.Keys()
	if err != nil {
		return nil, err
	}
	revoked, _, err := d.RevokedTokens()
	if err != nil {
		return nil, err
	}
	a := login.NewAuthenticator(users, keys)
	a.SetRevoked(revoked)
	return a, nil
}
