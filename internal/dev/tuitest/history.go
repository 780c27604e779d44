package tuitest

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// HistoryPage returns a page of turns, both bounds included. Turn i has a question and an answer in
// three events, the first at seq 3i-2.
func HistoryPage(from, to int, more bool) protocol.HistoryResult {
	page := protocol.HistoryResult{Epoch: "k3f9ab", More: more}
	for i := from; i <= to; i++ {
		j := &Journal{Seq: uint64(3*i - 3), At: Start}
		j.UserMessage(Bob, fmt.Sprintf("old%d", i), fmt.Sprintf("question %d", i))
		j.Pending, j.Seq = j.Pending[:1], j.Seq-1
		j.Text("t", fmt.Sprintf("answer %d", i))
		j.Pending = append(j.Pending[:1:1], j.Pending[2:]...)
		j.Seq--
		j.EndTurn(protocol.ReasonCompleted)
		for _, u := range j.Pending {
			page.Events = append(page.Events, json.RawMessage(u.Event.AppendJSON(nil)))
		}
	}
	page.First = uint64(3*from - 2)
	return page
}

// FinishedTurns returns a page of the turns first to upto-1. Turn i has six events, the first at
// seq 6i+1.
func FinishedTurns(first, upto int) protocol.HistoryResult {
	j := &Journal{At: Start, Seq: uint64(6 * first)}
	for i := first; i < upto; i++ {
		j.UserMessage(Ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		j.Text("t", fmt.Sprint("answer ", i))
		j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
		j.EndTurn(protocol.ReasonCompleted)
	}
	page := protocol.HistoryResult{Epoch: "k3f9ab", First: uint64(6*first + 1), Last: uint64(6 * upto), More: first > 0}
	for _, u := range j.Take() {
		page.Events = append(page.Events, protocol.MustEncode(u.Event))
	}
	return page
}
