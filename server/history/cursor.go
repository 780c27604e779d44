package history

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A cursor is the position from which a search continues: the turns of a session that begin below a
// seq, or, within the turn that begins at Turn, the items below Item. Older sessions follow.
// Clients see an opaque string.
type cursor struct {
	Session string    `json:"s"`
	Created time.Time `json:"c"`
	Below   uint64    `json:"b"`
	Turn    uint64    `json:"t,omitempty"` // first seq of a turn searched in part; 0: none
	Item    int       `json:"i,omitempty"`
}

// String encodes the cursor for clients.
func (c cursor) String() string { return base64.RawURLEncoding.EncodeToString(protocol.MustEncode(c)) }

// parseCursor decodes the result of String. Its error has the code invalid_message.
func parseCursor(s string) (cursor, error) {
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil || c.Session == "" {
		return c, protocol.Errorf(protocol.CodeInvalidMessage, "invalid cursor: pass the cursor of an earlier result")
	}
	return c, nil
}

// compareCursors orders cursors by session, newest session first.
func compareCursors(a, b cursor) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Session, b.Session))
}
