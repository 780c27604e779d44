package session

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAnIdleSessionFreesTheMemoryOfItsLog(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Hour}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "hello", deltaEvents(200)...)
		log := r.hub.list.Loaded(id).journal.Log()
		read := func() []byte {
			t.Helper()
			var all []byte
			for at := uint64(0); at < log.Position().Seq; {
				lines, last, err := log.Read(context.Background(), at, false, 64<<10)
				if err != nil || last <= at {
					t.Fatalf("after %d: up to %d, %v", at, last, err)
				}
				all, at = append(all, lines...), last
			}
			return all
		}
		want := read()
		if got := log.Bytes(); got != len(want) {
			t.Errorf("%d bytes in memory after the turn, want %d", got, len(want))
		}
		time.Sleep(releaseAfter + time.Second)
		synctest.Wait()
		if got := log.Bytes(); got != 0 {
			t.Errorf("%d bytes in memory of an idle session", got)
		}
		if got := read(); !bytes.Equal(got, want) {
			t.Errorf("read %d bytes, want %d", len(got), len(want))
		}
		r.finishedTurn(id, "again", deltaEvents(10)...)
		if got := read(); !bytes.HasPrefix(got, want) || len(got) == len(want) {
			t.Errorf("read %d bytes after the next turn", len(got))
		}
		if log.Bytes() == 0 {
			t.Error("the next turn is not in memory")
		}
	})
}

func deltaEvents(n int) []agent.Event {
	events := make([]agent.Event, n)
	for i := range events {
		events[i] = agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: "some words "}}
	}
	return events
}

func TestANewSessionTakesLittleMemory(t *testing.T) {
	const sessions, most = 200, 4 << 10 // and 1 KiB for its first event in the log
	hub := &Hub{sessions: newSessionGroup()}
	kept := make([]*Session, sessions)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = hub.newSession("s_1", "e_1", 0, agent.Spec{})
	}
	runtime.ReadMemStats(&after)
	for _, s := range kept {
		s.deadlines.timer.Stop()
		s.cancelBackground()
	}
	if size := (after.TotalAlloc - before.TotalAlloc) / sessions; size > most {
		t.Errorf("a session allocates %d bytes, more than %d", size, most)
	}
}
