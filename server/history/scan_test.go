package history

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
)

// Every hit is at the seq of its item in the transcript of a client, which gets the events one by
// one, whether the search reads them so or joined, and in whatever pieces.
func TestAHitIsAtTheSeqOfItsItem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &historygen.Generator{T: t, State: &protocol.State{Session: "s1"}, Now: time.Unix(0, 0)}
		var client protocol.Transcript
		var events []protocol.Event
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			en := g.Next()
			e := protocol.Event{
				Session: "s1", Seq: g.State.Seq + 1, Turn: en.Turn, Task: en.Task, Parent: en.Parent, Time: g.Now,
				Type: en.Type, By: en.By, Data: protocol.MustEncode(en.Data),
			}
			if err := g.State.Apply(&e); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Apply(&e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		type place struct {
			turn string
			kind protocol.HitKind
			id   string
			seq  uint64
		}
		places := map[place]bool{}
		for _, turn := range client.Turns {
			places[place{turn.Turn, protocol.HitUser, turn.Message.MessageID, turn.First}] = true
			for _, it := range turn.Items {
				kind := protocol.HitKind(it.Kind)
				if it.Kind == protocol.ItemSteered {
					kind = protocol.HitUser
				}
				if it.Type == protocol.ErrorRaised {
					kind = protocol.HitError
				}
				places[place{turn.Turn, kind, it.ID, it.Seq}] = true
			}
			if turn.End != nil {
				places[place{turn.Turn, protocol.HitError, "", turn.Last}] = true
			}
		}
		query, err := protocol.ParseQuery(rapid.SampledFrom([]string{"a", "e", "l", "o", "two", "规划"}).Draw(t, "query"))
		if err != nil {
			t.Fatal(err)
		}
		from := cursor{Session: "s1", Below: math.MaxUint64}
		sc := &scanner{search: &search{query: query}, from: from, most: math.MaxInt / 2}
		if rapid.Bool().Draw(t, "joined") {
			events = protocol.JoinDeltas(events)
		}
		for i := range events {
			if err := sc.event(events[i].AppendJSON(nil)); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 9).Draw(t, "piece") == 0 {
				sc.nextPiece()
			}
		}
		sc.matchTurn()
		for i, m := range sc.matches {
			if i > 0 && m.Turn == sc.matches[i-1].Turn && m.item <= sc.matches[i-1].item {
				t.Fatalf("item %d of turn %s follows item %d", m.item, m.Turn, sc.matches[i-1].item)
			}
		}
		for _, h := range sc.newest() {
			if !places[place{h.Turn, h.Kind, h.Item, h.Seq}] {
				t.Fatalf("no item of %+v", h.Hit)
			}
		}
	})
}
