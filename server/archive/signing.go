package archive

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// Signing holds the keys of exported states. A state is signed with Secret and with Key.
type Signing struct {
	Secret   []byte              // nil: random, so that states are valid until the server exits
	Key      ed25519.PrivateKey  // nil: states are signed only with the secret
	Accepted []ed25519.PublicKey // of other servers whose states are restored
}

// Sign signs an encoded state.
func (k *Signing) Sign(state []byte) protocol.SignedState {
	st := protocol.SignedState{Version: stateVersion, State: state, Signature: k.sign(state)}
	if k.Key != nil {
		st.Key, st.KeySignature = k.Key.Public().(ed25519.PublicKey), ed25519.Sign(k.Key, signedBytes(state))
	}
	return st
}

// sign returns the HMAC of an exported state, in hex.
func (k *Signing) sign(state []byte) string {
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write(signedBytes(state))
	return hex.EncodeToString(mac.Sum(nil))
}

func signedBytes(state []byte) []byte { return append([]byte(stateVersion+"\n"), state...) }

// verify checks the signatures of a state: it needs the signature of the secret, or of a key that is
// accepted. The error has the code invalid_state.
func (k *Signing) verify(st *protocol.SignedState) error {
	if hmac.Equal([]byte(st.Signature), []byte(k.sign(st.State))) {
		return nil
	}
	const remedy = "; a server restores the states of servers with the same state_secret in their configuration, " +
		"and of those whose public key (agentctl state key) is in its state_keys"
	if len(st.Key) != ed25519.PublicKeySize {
		return protocol.Errorf(protocol.CodeInvalidState,
			"invalid signature: another server signed the state, or it was changed%s", remedy)
	}
	key := ed25519.PublicKey(st.Key)
	if !ed25519.Verify(key, signedBytes(st.State), st.KeySignature) {
		return protocol.Errorf(protocol.CodeInvalidState, "invalid signature: the state was changed")
	}
	if k.Key != nil && key.Equal(k.Key.Public()) ||
		slices.ContainsFunc(k.Accepted, func(a ed25519.PublicKey) bool { return key.Equal(a) }) {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidState, "another server signed the state%s", remedy)
}

// Open checks and decodes a signed state, which is valid for ttl after its export. The error has the
// code invalid_state.
func (k *Signing) Open(st *protocol.SignedState, ttl time.Duration) (*State, error) {
	if st.Version != stateVersion {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "state version %.20q is not %s", st.Version, stateVersion)
	}
	if err := k.verify(st); err != nil {
		return nil, err
	}
	x := new(State)
	if err := json.Unmarshal(st.State, x); err != nil || x.Session == "" || x.Agent == "" || x.At.IsZero() {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state lacks required fields")
	}
	if age := time.Since(x.At); age > ttl {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state expired %s ago", (age - ttl).Round(time.Second))
	}
	return x, nil
}
