package model

import (
	"fmt"
	"slices"
)

// WithCallIDs returns a conversation for an API that takes only ids of calls that it could have
// made: the calls of other origins, and their results, get ids by their number. Other servers make
// ids of any form and length, and the same ones again in later messages.
func WithCallIDs(messages []Message, origin string) []Message {
	list := slices.Clone(messages)
	ids := map[string]string{} // of the last message with calls
	number := 0
	for i := range list {
		m := &list[i]
		if m.Role == Assistant {
			clear(ids)
			if m.Origin == origin {
				continue
			}
		}
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			switch p := &m.Parts[j]; p.Type {
			case ToolCall:
				c := *p.Call
				ids[c.ID] = fmt.Sprintf("call-%d", number)
				c.ID, p.Call = ids[c.ID], &c
				number++
			case ToolResult:
				if id := ids[p.Result.ID]; id != "" {
					r := *p.Result
					r.ID, p.Result = id, &r
				}
			}
		}
	}
	return list
}
