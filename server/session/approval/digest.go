package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"agentctl/protocol"
)

// Digest returns a request as it was asked, without the explanations given since, and its digest. A
// link that decides a request names it, so that it decides no other one of the same id.
func Digest(a *protocol.Approval) (raw json.RawMessage, digest string) {
	asked := *a
	asked.Explained = nil
	raw = protocol.MustEncode(asked)
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:])
}
