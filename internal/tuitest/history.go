package tuitest

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// Past returns a page of history: turns with one message and one answer each.
func Past(from, to int, more bool) protocol.HistoryResult {
	page := protocol.HistoryResult{Epoch: "k3f9ab", More: more}
	for i := from; i <= to; i++ {
		j := &Journal{Seq: uint64(3*i - 3), At: Dawn}
		j.User(Bob, fmt.Sprintf("old%d", i), fmt.Sprintf("question %d", i))
		j.Out, j.Seq = j.Out[:1], j.Seq-1
		j.Say("t", fmt.Sprintf("answer %d", i))
		j.Out = append(j.Out[:1:1], j.Out[2:]...)
		j.Seq--
		j.End(protocol.ReasonCompleted)
		for _, u := range j.Out {
			page.Events = append(page.Events, json.RawMessage(u.Event.AppendJSON(nil)))
		}
	}
	page.First = uint64(3*from - 2)
	return page
}

// PastFrom returns a page of finished turns of six events, the first at seq 1.
func PastFrom(first, upto int) protocol.HistoryResult {
	j := &Journal{At: Dawn, Seq: uint64(6 * first)}
	for i := first; i < upto; i++ {
		j.User(Ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		j.Say("t", fmt.Sprint("answer ", i))
		j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
		j.End(protocol.ReasonCompleted)
	}
	page := protocol.HistoryResult{Epoch: "k3f9ab", First: uint64(6*first + 1), Last: uint64(6 * upto), More: first > 0}
	for _, u := range j.Take() {
		page.Events = append(page.Events, protocol.MustEncode(u.Event))
	}
	return page
}
