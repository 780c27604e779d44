package session

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A run of deltas that is open is read event by event, and as its fold once that is stored.
func TestARunIsFoldedOnceItsFoldIsStored(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "much")
		log := r.hub.list.Loaded(id).journal.Log()
		read := func() (folds, deltas int) {
			var lines []byte
			for after, last := uint64(0), log.Position().Seq; after < last; {
				more, upto, err := log.Read(t.Context(), after, true, 64<<10)
				if err != nil || upto <= after {
					t.Fatalf("after %d: to %d, %v", after, upto, err)
				}
				lines, after = append(lines, more...), upto
			}
			for _, e := range decodeLines(t, lines) {
				if e.FirstSeq != 0 {
					folds++
				} else if e.Type == protocol.TextDelta {
					deltas++
				}
			}
			return folds, deltas
		}
		emit := func() {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{
				Part: "p", Text: strings.Repeat("x", protocol.MaxJoined/100),
			}})
		}
		for range 1275 { // more than the log keeps
			emit()
		}
		r.waitIdle()
		if folds, deltas := read(); folds != 12 || deltas != 75 {
			t.Errorf("%d folds and %d deltas while the run is open", folds, deltas)
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if folds, deltas := read(); folds != 13 || deltas != 0 {
			t.Errorf("%d folds and %d deltas after its end", folds, deltas)
		}
	})
}

func TestASessionThatIsUnloadedLeavesTheCache(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "much")
		for range (1 << 20) / 20_000 * 2 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{
				Part: "p", Text: strings.Repeat("x", 20_000),
			}})
			r.waitIdle()
		}
		if r.hub.cache.Bytes() == 0 {
			t.Error("nothing that the log dropped is in the cache")
		}
		r.agents.run().finish(agent.End{}, nil)
		time.Sleep(2 * time.Minute)
		r.waitIdle()
		if r.hub.cache.Bytes() != 0 {
			t.Errorf("%d bytes of an unloaded session are in the cache", r.hub.cache.Bytes())
		}
	})
}
