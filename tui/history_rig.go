package tui

import (
	"agentctl/protocol"
	"encoding/json"
	"fmt"
)

// past returns a page of history: turns with one message and one answer each.
func past(from, to int, more bool) protocol.HistoryResult {
	page := protocol.HistoryResult{Epoch: "k3f9ab", More: more}
	for i := from; i <= to; i++ {
		j := &journal{seq: uint64(3*i - 3), at: dawn}
		j.user(bob, fmt.Sprintf("old%d", i), fmt.Sprintf("question %d", i))
		j.out, j.seq = j.out[:1], j.seq-1
		j.say("t", fmt.Sprintf("answer %d", i))
		j.out = append(j.out[:1:1], j.out[2:]...)
		j.seq--
		j.end(protocol.ReasonCompleted)
		for _, u := range j.out {
			page.Events = append(page.Events, json.RawMessage(u.Event.AppendJSON(nil)))
		}
	}
	page.First = uint64(3*from - 2)
	return page
}

// pastFrom returns a page of finished turns of six events, the first at seq 1.
func pastFrom(first, upto int) protocol.HistoryResult {
	j := &journal{at: dawn, seq: uint64(6 * first)}
	for i := first; i < upto; i++ {
		j.user(ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		j.say("t", fmt.Sprint("answer ", i))
		j.add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
		j.end(protocol.ReasonCompleted)
	}
	page := protocol.HistoryResult{Epoch: "k3f9ab", First: uint64(6*first + 1), Last: uint64(6 * upto), More: first > 0}
	for _, u := range j.take() {
		page.Events = append(page.Events, protocol.MustEncode(u.Event))
	}
	return page
}
