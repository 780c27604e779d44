package login

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The signing methods of tokens.
const (
	HS256 = "HS256"
	EdDSA = "EdDSA"
)

const maxKeys = 64 // of a key set

// A Key signs and verifies tokens. A Key without a Secret only verifies tokens of another issuer.
type Key struct {
	ID      string    `json:"id"`
	Method  string    `json:"alg"`
	Secret  []byte    `json:"secret,omitempty"` // of HS256; of EdDSA the seed
	Public  []byte    `json:"public,omitempty"` // of EdDSA
	Created time.Time `json:"created,omitzero"`
}

// Keys are the keys of a server. Its tokens are only for its audience.
type Keys struct {
	Audience string `json:"audience"`
	Signing  string `json:"signing,omitempty"` // id of the key that signs; empty: the server signs no tokens
	Keys     []Key  `json:"keys"`
}

// KeysFromSecret returns the keys of a server that has one secret.
func KeysFromSecret(secret []byte) Keys {
	derive := func(purpose string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(purpose))
		return mac.Sum(nil)
	}
	key := Key{ID: "k_" + hex.EncodeToString(derive("key id")[:4]), Method: HS256, Secret: derive("login tokens")}
	audience := "agentctl_" + hex.EncodeToString(derive("audience")[:8])
	return Keys{Audience: audience, Signing: key.ID, Keys: []Key{key}}
}

// NewKey returns a random key for signing.
func NewKey(method string) (Key, error) {
	k := Key{ID: "k_" + rand.Text()[:8], Method: method, Created: time.Now().UTC()}
	k.Secret = make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(k.Secret) // never fails
	if method == EdDSA {
		k.Public = ed25519.NewKeyFromSeed(k.Secret).Public().(ed25519.PublicKey)
	}
	return k, k.validate()
}

// ParseKeys parses the JSON form of keys and checks them. Its errors contain no secret.
func ParseKeys(file []byte) (Keys, error) {
	var k Keys
	if json.Unmarshal(file, &k) != nil {
		return Keys{}, errors.New("read keys: not a JSON object of keys")
	}
	return k, k.validate()
}

// ParsePublicKey returns an Ed25519 public key in PEM.
func ParsePublicKey(file []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(file)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("want a public key in PEM: openssl pkey -pubout")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	public, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, errors.New("want an Ed25519 public key")
	}
	return public, nil
}

// FormatPublicKey returns a public key in PEM.
func FormatPublicKey(key ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

func (k *Keys) validate() error {
	if k.Audience == "" || len(k.Keys) == 0 || len(k.Keys) > maxKeys {
		return fmt.Errorf("read keys: want an audience and 1 to %d keys", maxKeys)
	}
	seen := map[string]bool{}
	for _, key := range k.Keys {
		if err := key.validate(); err != nil {
			return err
		}
		if seen[key.ID] {
			return fmt.Errorf("read keys: duplicate id %q", key.ID)
		}
		seen[key.ID] = true
	}
	if k.Signing != "" && k.signer() == nil {
		return fmt.Errorf("read keys: signing key %q: want the id of a key with a secret", k.Signing)
	}
	return nil
}

func (k *Key) validate() error {
	switch {
	case k.ID == "" || len(k.ID) > maxName:
		return fmt.Errorf("key: an id has 1 to %d bytes", maxName)
	case k.Method == HS256 && len(k.Secret) >= sha256.Size && k.Public == nil:
	case k.Method == EdDSA && len(k.Public) == ed25519.PublicKeySize && len(k.Secret) == 0:
	case k.Method == EdDSA && len(k.Secret) == ed25519.SeedSize &&
		ed25519.NewKeyFromSeed(k.Secret).Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(k.Public)):
	default:
		return fmt.Errorf("key %q: want HS256 with a secret of 32 bytes or more, or EdDSA with a key pair or a "+
			"public key", k.ID)
	}
	return nil
}

// find returns the key with an id, or nil.
func (k *Keys) find(id string) *Key {
	for i := range k.Keys {
		if k.Keys[i].ID == id {
			return &k.Keys[i]
		}
	}
	return nil
}

// signer returns the key that signs, or nil if the server only verifies.
func (k *Keys) signer() *Key {
	if key := k.find(k.Signing); key != nil && len(key.Secret) > 0 {
		return key
	}
	return nil
}

func (k *Key) sign(c claims) (string, error) {
	method, key := jwt.SigningMethod(jwt.SigningMethodHS256), any(k.Secret)
	if k.Method == EdDSA {
		method, key = jwt.SigningMethodEdDSA, ed25519.NewKeyFromSeed(k.Secret)
	}
	token := jwt.NewWithClaims(method, c)
	token.Header["kid"] = k.ID
	return token.SignedString(key)
}

// verifier returns the key for the signature of a token with a method.
func (k *Key) verifier(method string) (any, error) {
	switch {
	case k == nil || k.Method != method:
		return nil, errors.New("unknown key")
	case k.Method == EdDSA:
		return ed25519.PublicKey(k.Public), nil
	}
	return k.Secret, nil
}
