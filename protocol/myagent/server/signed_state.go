package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

const (
	signedVersion = "1.0"
)

// A signedState is a state that a client keeps, in MyAgent's format.
type signedState struct {
	State     json.RawMessage `json:"state"`
	Timestamp int64           `json:"timestamp"` // Unix time
	Signature string          `json:"signature"`
	Version   string          `json:"version"`
	Checksum  string          `json:"checksum"`
}

// A carriedState is the content of a signed state: the fields that MyAgent requires, and
// agentctl's.
type carriedState struct {
	Session    string                `json:"session_id"`
	Connection string                `json:"connection_id"` // connection that exported it
	Step       *int64                `json:"current_step"`
	Agent      string                `json:"agent_state"`
	Created    string                `json:"created_at"`
	Active     string                `json:"last_active_at"`
	Memory     string                `json:"memory_snapshot"` // JSON of an array
	Tools      wire.Meta             `json:"tool_states"`
	Pending    []any                 `json:"pending_confirmations"` // steps
	Metadata   wire.Meta             `json:"metadata"`
	Native     *protocol.SignedState `json:"native_state"`
	// last turn's end at the export, where a replay starts
	Boundary protocol.Position `json:"position"`
}

// agentName returns the name of the session's agent.
func (c *carriedState) agentName() string {
	name, _ := c.Metadata["agent_name"].(string)
	return name
}

// signState signs a state.
func signState(c carriedState, now time.Time, sign func(string) string) (json.RawMessage, error) {
	state, err := canonicalJSON(protocol.MustEncode(c))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(state)
	s := signedState{State: state, Timestamp: now.Unix(), Version: signedVersion, Checksum: hex.EncodeToString(sum[:])}
	s.Signature = sign(s.signedText(state))
	raw := protocol.MustEncode(s)
	if len(raw) > wire.MaxSigned {
		return nil, &protocol.Error{
			Code: protocol.CodeTooLarge, Message: "the state is too large to be carried by a message", Limit: wire.MaxSigned,
		}
	}
	return raw, nil
}

// signedText returns the text that the signature covers.
func (s *signedState) signedText(state []byte) string {
	return string(state) + ":" + strconv.FormatInt(s.Timestamp, 10) + ":" + signedVersion
}

// verifyState verifies a signed state of a client. The error text is for the client.
func verifyState(
	raw json.RawMessage, now time.Time, ttl time.Duration, sign func(string) string,
) (*carriedState, error) {
	o := wire.ParseObject(raw)
	s := signedState{
		State: o["state"], Timestamp: o.Int("timestamp"), Signature: o.Str("signature"), Version: o.Str("version"),
		Checksum: o.Str("checksum"),
	}
	if o == nil || wire.ParseObject(s.State) == nil || s.Timestamp == 0 || s.Signature == "" {
		return nil, errors.New("missing fields")
	}
	if s.Version != signedVersion {
		return nil, fmt.Errorf("unsupported version %.20q", s.Version)
	}
	state, err := canonicalJSON(s.State)
	if err != nil {
		return nil, errors.New("not JSON")
	}
	sum := sha256.Sum256(state)
	if s.Checksum != hex.EncodeToString(sum[:]) {
		return nil, errors.New("checksum mismatch")
	}
	if !hmac.Equal([]byte(s.Signature), []byte(sign(s.signedText(state)))) {
		return nil, errors.New("signature mismatch")
	}
	if age := now.Unix() - s.Timestamp; age < -300 || float64(age) > math.Ceil(ttl.Seconds()) {
		return nil, errors.New("state expired")
	}
	c := new(carriedState)
	if json.Unmarshal(state, c) != nil || c.Session == "" || c.Step == nil || *c.Step < 0 || c.Agent == "" ||
		c.Created == "" {
		return nil, errors.New("missing required fields")
	}
	if c.Native == nil {
		return nil, errors.New("not a state of this server")
	}
	return c, nil
}
