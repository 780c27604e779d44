package tuitest

import "agentctl/protocol"

// Hit returns a search hit at seq in the turn of a message, which begins at seq first.
func Hit(message string, first, seq uint64, kind protocol.HitKind, item string) protocol.Hit {
	return protocol.Hit{Session: "s1", Turn: "turn-" + message, First: first, Seq: seq, Kind: kind, Item: item}
}

// NoHistory replies to a request for history with an empty page.
func NoHistory(protocol.HistoryData) protocol.HistoryResult { return protocol.HistoryResult{} }

// ReplyToSearch makes the session reply to history with a function and to searches with pages of
// hits.
func (s *FakeSession) ReplyToSearch(
	history func(protocol.HistoryData) protocol.HistoryResult,
	pages ...[]protocol.Hit,
) {
	s.Reply = func(c Command) (any, error) {
		switch d := c.Data.(type) {
		case protocol.HistoryData:
			return history(d), nil
		case protocol.SearchData:
			i := 0
			if d.Cursor != "" {
				i = int(d.Cursor[0] - '0')
			}
			res := protocol.SearchResult{Hits: pages[i]}
			if i+1 < len(pages) {
				res.Cursor = string(rune('1' + i))
			}
			return res, nil
		}
		return nil, nil
	}
}
