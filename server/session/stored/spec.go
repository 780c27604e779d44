package stored

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// Specs encodes and decodes the specs of sessions. The environment of a session may hold secrets.
// With a key it is stored encrypted, with AES-256-GCM, so that a copy of the store does not show it.
// The methods may be called from any goroutine.
type Specs struct {
	cipher cipher.AEAD // nil: no key
	log    *slog.Logger
}

// NewSpecs returns specs with a key. An empty key stores environments as they are.
func NewSpecs(key []byte, log *slog.Logger) (*Specs, error) {
	s := &Specs{log: log}
	if len(key) == 0 {
		return s, nil
	}
	sum := sha256.Sum256(key)
	block, err := aes.NewCipher(sum[:])
	if err == nil {
		s.cipher, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		return nil, fmt.Errorf("cipher of the environment: %w", err)
	}
	return s, nil
}

// Encode encodes a spec for the store.
func (s *Specs) Encode(spec agent.Spec) ([]byte, error) {
	var err error
	if s.cipher != nil && len(spec.Env) > 0 {
		spec.SealedEnv, err = s.seal(spec.Env)
		spec.Env = nil
	}
	if s.cipher != nil && len(spec.MCPServers) > 0 && err == nil {
		spec.SealedMCPServers, err = s.seal(spec.MCPServers)
		spec.MCPServers = nil
	}
	if err != nil {
		return nil, err
	}
	return protocol.Encode(spec) // large and often stored: no second pass over it
}

func (s *Specs) seal(v any) ([]byte, error) {
	plain, err := record.Encode(v)
	if err != nil {
		return nil, err
	}
	return s.cipher.Seal(nil, nil, plain, nil), nil
}

// Open decodes the spec of a record. An environment that cannot be decrypted stays sealed.
func (s *Specs) Open(rec eventlog.Record) (agent.Spec, error) {
	spec, err := DecodeSpec(rec)
	if err != nil {
		return spec, err
	}
	// What cannot be decrypted is kept sealed: the key may come back. An earlier release stored the
	// environment as it is.
	err = errors.Join(s.open(&spec.SealedEnv, &spec.Env), s.open(&spec.SealedMCPServers, &spec.MCPServers))
	if err != nil {
		s.log.Warn("decrypt environment", "session", rec.ID, "err", err)
	}
	return spec, nil
}

// open decrypts a sealed part of a spec to v, and clears it.
func (s *Specs) open(sealed *[]byte, v any) error {
	if len(*sealed) == 0 {
		return nil
	}
	if s.cipher == nil {
		return errors.New("there is no key")
	}
	plain, err := s.cipher.Open(nil, nil, *sealed, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return err
	}
	*sealed = nil
	return nil
}

// DecodeSpec decodes the spec of a record, with its environment as it is stored.
func DecodeSpec(rec eventlog.Record) (agent.Spec, error) {
	spec := agent.Spec{Session: rec.ID}
	if err := json.Unmarshal(rec.Spec, &spec); err != nil {
		return spec, fmt.Errorf("decode spec of %s: %w", rec.ID, err)
	}
	return spec, nil
}

// Unanswered reports whether the creation of a session was not answered before the server was
// killed.
func Unanswered(rec eventlog.Record) bool {
	if !bytes.Contains(rec.Spec, checkingField) {
		return false
	}
	spec, err := DecodeSpec(rec)
	return err == nil && spec.Checking
}

// checkingField is in the spec of a session whose creation was not answered.
var checkingField = []byte(`"checking":true`)
