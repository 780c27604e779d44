package server

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// pythonSign signs with the key of the states in these tests.
func pythonSign(text string) string {
	mac := hmac.New(sha256.New, bytes.Repeat([]byte("k"), 32))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// The state was signed by Python's hmac and hashlib.
func TestAStateSignedByPythonIsVerified(t *testing.T) {
	state := `{"state": {"session_id": "séance-1", "current_step": 3, "agent_state": "AgentState.FINISHED",` +
		`"created_at": "2027-03-08T06:30:00.000100", "memory_snapshot": "[\"é\"]", "tool_states": {},` +
		`"pending_confirmations": [], "metadata": {"agent_name": "guide"}}, "timestamp": 1804400000,` +
		`"signature": "5c1243f264f9db88eb9a67c32c7283434f8c33118be51509f36783c326f7590c", "version": "1.0",` +
		`"checksum": "a82c9b83761a83f156927deded7d1afb4b3a710015168eb527f7e2bb69debbfa"}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", "not a state of this server"}, // all else is verified before
		{`"current_step": 3`, `"current_step": 4`, "checksum mismatch"},
		{`"5c12`, `"6c12`, "signature mismatch"},
		{"1804400000", "1804400001", "signature mismatch"},
	} {
		raw := []byte(strings.Replace(state, c.old, c.new, 1))
		if _, err := verifyState(raw, time.Unix(1804400000, 0), time.Hour, pythonSign); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}
