package codec

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestAForeignMessageIsKeptAsItCan(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ message, data string }{
		{`{"a": [1, "x"]}`, `{"a":[1,"x"]}`},
		{`{"a":`, `"{\"a\":"`},
		{"\xff", `"` + "\uFFFD" + `"`},
		{nest(maxDepth), nest(maxDepth)},
		{nest(maxDepth + 1), `"` + nest(maxDepth+1) + `"`},
		{`"` + strings.Repeat("[", 1000) + `\"["`, `"` + strings.Repeat("[", 1000) + `\"["`},
		{strings.Repeat("\x01", maxRaw+1), ``},
		{`"` + strings.Repeat("x", protocol.MaxEvent) + `"`, ``},
	} {
		d := Raw("test", "m", []byte(c.message))
		if string(d.Data) != c.data || (c.data == "") != (d.Bytes == int64(len(c.message))) {
			t.Errorf("%.40q is kept as %.40s, %d bytes", c.message, d.Data, d.Bytes)
		}
		if n := len(protocol.MustEncode(d)); n > protocol.MaxEvent-4<<10 || !json.Valid(protocol.MustEncode(d)) {
			t.Errorf("%.40q takes %d bytes", c.message, n)
		}
	}
}
