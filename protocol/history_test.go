package protocol

import (
	"encoding/json"
	"testing"
)

func TestAPageYieldsItsEventsAndNamesTheNextPage(t *testing.T) {
	page := HistoryResult{First: 7, More: true, Events: []json.RawMessage{
		json.RawMessage(`{"seq":7,"type":"notice","data":{}}`), json.RawMessage(`{`), json.RawMessage(`{"seq":9,"type":"notice","data":{}}`),
	}}
	var seqs []uint64
	failed := 0
	for e, err := range page.Decoded() {
		if err != nil {
			failed++
			continue
		}
		seqs = append(seqs, e.Seq)
	}
	if len(seqs) != 2 || seqs[0] != 7 || seqs[1] != 9 || failed != 1 {
		t.Errorf("events %d, %d not decoded", seqs, failed)
	}
	if before := page.OlderThan(); before != 7 {
		t.Errorf("the older page is before %d, want 7", before)
	}
	page.More = false
	if before := page.OlderThan(); before != 0 {
		t.Errorf("the oldest page names events before %d", before)
	}
}
