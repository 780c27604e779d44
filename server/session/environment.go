package session

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// The environment of a session may hold secrets. With Config.EnvKey it is stored encrypted, with
// AES-256-GCM, so that a copy of the store does not tell it. Without the key it cannot be read: the
// session then goes on without it, and says so.

// encodeSpec encodes a spec for the store.
func (h *Hub) encodeSpec(spec agent.Spec) ([]byte, error) {
	if len(h.cfg.EnvKey) > 0 && len(spec.Env) > 0 {
		plain, err := record.Encode(spec.Env)
		if err != nil {
			return nil, err
		}
		seal, err := h.envCipher()
		if err != nil {
			return nil, err
		}
		spec.SealedEnv, spec.Env = seal.Seal(nil, nil, plain, nil), nil
	}
	return protocol.Encode(spec) // large and often stored: no second pass over it
}

// readSpec decodes the stored spec of a record. An environment that cannot be decrypted stays
// sealed.
func (h *Hub) readSpec(rec eventlog.Record) (spec agent.Spec, err error) {
	if spec, err = decodeSpec(rec); err != nil || len(spec.SealedEnv) == 0 {
		return spec, err // an earlier release stored the environment as it is
	}
	plain, err := h.openEnv(spec.SealedEnv)
	if err == nil {
		err = json.Unmarshal(plain, &spec.Env)
	}
	if err != nil {
		h.log.Warn("decrypt environment", "session", rec.ID, "err", err)
		return spec, nil // kept sealed: the key may come back
	}
	spec.SealedEnv = nil
	return spec, nil
}

func (h *Hub) openEnv(sealed []byte) ([]byte, error) {
	if len(h.cfg.EnvKey) == 0 {
		return nil, fmt.Errorf("there is no key")
	}
	open, err := h.envCipher()
	if err != nil {
		return nil, err
	}
	return open.Open(nil, nil, sealed, nil)
}

func (h *Hub) envCipher() (cipher.AEAD, error) {
	key := sha256.Sum256(h.cfg.EnvKey)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// reportLostEnv records that the variables given to the session are lost.
func (s *Session) reportLostEnv() {
	s.recordIn("", protocol.Notice, nil, protocol.NoticeData{
		Level: protocol.LevelWarning,
		Message: "the variables given to this session cannot be decrypted: its agent runs without them; " +
			"the key is the file env.key of the server that created the session",
	})
}
