package history

import (
	"math"
	"testing"

	"agentctl/protocol"
)

func FuzzCursor(f *testing.F) {
	for _, p := range []cursor{{Session: "s_1", Below: math.MaxUint64}, {Session: "s_1", Turn: 7, Item: endItem}} {
		f.Add(p.String())
	}
	f.Add("")
	f.Add("e30")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := parseCursor(cursor)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalidMessage {
				t.Errorf("%q: %v", cursor, err)
			}
			return
		}
		again, err := parseCursor(p.String())
		if err != nil || again.Session != p.Session || again.Below != p.Below || again.Turn != p.Turn ||
			again.Item != p.Item {
			t.Errorf("%q decodes to %+v, encoded again to %+v, %v", cursor, p, again, err)
		}
	})
}
