package history

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// search returns all hits, read page by page.
func (r *testReader) search(session, query string, limit int) []protocol.Hit {
	r.t.Helper()
	var all []protocol.Hit
	for d := (protocol.SearchData{Query: query, Limit: limit}); ; {
		res := must[protocol.SearchResult](r, r.do(newCommand(protocol.DoSearch, session, d)))
		if limit > 0 && len(res.Hits) > limit || len(res.Skipped) > 0 {
			r.t.Fatalf("%d hits of %d, skipped %v", len(res.Hits), limit, res.Skipped)
		}
		all = append(all, res.Hits...)
		if d.Cursor = res.Cursor; d.Cursor == "" {
			return all
		}
	}
}

func kindsOf(hits []protocol.Hit) string {
	var kinds []string
	for _, h := range hits {
		kinds = append(kinds, string(h.Kind))
	}
	return strings.Join(kinds, " ")
}

func TestSearchFindsEverythingThatWasSaidAndDone(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "the needle in my question")
		run := r.agents.run()
		old := "old needle"
		run.emit(
			agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "a Nee"}},
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "N"}},
			agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "dle"}},
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "EEDLE"}},
			agent.Event{
				Type: protocol.ToolStarted,
				Data: protocol.ToolStartedData{Tool: "x1", Input: []byte(`{"cmd":["grep \"needle\""]}`)},
			},
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "x2"}},
			agent.Event{
				Type: protocol.ToolOutput,
				Data: protocol.ToolOutputData{Tool: "x2", Content: []protocol.Content{{Type: "diff", Old: &old}}},
			},
			agent.Event{Type: protocol.ErrorRaised, Data: protocol.ErrorData{Message: "no needle"}},
			agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "a needle of no account"}},
		)
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Title: "Run", Command: "needle --all"})
		synctest.Wait()
		if got := kindsOf(r.search(id, "needle", 0)); got != "approval error tool tool text reasoning user" {
			t.Errorf("during the turn: hits %s", got)
		}
		run.finish(agent.End{Reason: protocol.ReasonError, Message: "lost the needle"}, nil)
		synctest.Wait()
		hits := r.search(id, "needle", 0)
		if got := kindsOf(hits); got != "error approval error tool tool text reasoning user" {
			t.Errorf("after the turn: hits %s", got)
		}
		for _, h := range hits {
			if h.Session != id || h.Turn == "" || h.First == 0 || h.Seq < h.First || h.Time.IsZero() ||
				len(h.Matches) != 1 ||
				h.Count != 1 {
				t.Errorf("%+v", h)
			}
			if m := h.Matches[0]; !strings.EqualFold(h.Snippet[m.From:m.To], "needle") {
				t.Errorf("%q: match %q", h.Snippet, h.Snippet[m.From:m.To])
			}
		}
		if got := r.search(id, `"the needle" question`, 0); len(got) != 1 || got[0].Kind != protocol.HitUser {
			t.Errorf("all words match: %+v", got)
		}
		if got := kindsOf(r.search(id, "Needle", 0)); got != "reasoning" {
			t.Errorf("a query with an upper-case letter: hits %s", got)
		}
		if got := r.search(id, "e", 0); len(got) == 0 ||
			got[len(got)-1].Count != strings.Count("the needle in my question", "e") {
			t.Errorf("count of a frequent text: %+v", got)
		}
		if got := r.search(id, "needle nowhere", 0); len(got) != 0 {
			t.Errorf("one word matches nothing: %+v", got)
		}
	})
}

func TestSearchLooksIntoEverySessionTheNewestFirst(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		var ids []string
		for i := range 4 {
			id := r.create()
			ids = append(ids, id)
			r.send(id, fmt.Sprint("needle ", i))
			r.agents.run().finish(agent.End{}, nil)
			time.Sleep(time.Second)
		}
		slices.Reverse(ids)
		for _, limit := range []int{0, 1, 2, 3} {
			var got []string
			for _, h := range r.search("", "needle", limit) {
				got = append(got, h.Session)
			}
			if !slices.Equal(got, ids) {
				t.Errorf("limit %d: %v, want %v", limit, got, ids)
			}
		}
		r.restart()
		if got := r.search("", "needle", 1); len(got) != 4 {
			t.Errorf("after a restart: %d hits", len(got))
		}
		must[protocol.Empty](r, r.do(newCommand(protocol.DoClose, ids[1], protocol.CloseData{Delete: true})))
		if got := r.search("", "needle", 1); len(got) != 3 {
			t.Errorf("after a session was deleted: %d hits", len(got))
		}
		refused(
			r,
			r.do(newCommand(protocol.DoSearch, ids[1], protocol.SearchData{Query: "needle"})),
			protocol.CodeNoSession,
		)
	})
}

func TestSearchSkipsADamagedSessionAndSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.store.setFailRead(func() error { return eventlog.ErrCorrupt })
		defer r.store.setFailRead(nil)
		res := must[protocol.SearchResult](r, r.do(newCommand(protocol.DoSearch, "", protocol.SearchData{Query: "x"})))
		if !slices.Equal(res.Skipped, []string{id}) {
			t.Errorf("skipped %v", res.Skipped)
		}
		refused(r, r.do(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"})), protocol.CodeCorrupt)
	})
}

func TestSearchRefusesWhatItCannotUse(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id, other := r.create(), r.create()
		for name, d := range map[string]protocol.SearchData{
			"no word":                     {Query: "  "},
			"too many words":              {Query: "a b c d e f g h i j k l m n o p q"},
			"too long":                    {Query: strings.Repeat("x", 2000)},
			"no cursor":                   {Query: "x", Cursor: "?"},
			"an empty cursor":             {Query: "x", Cursor: "e30"},
			"a cursor of another session": {Query: "x", Cursor: cursor{Session: other, Below: 1}.String()},
		} {
			if k := r.do(newCommand(protocol.DoSearch, id, d)); protocol.CodeOf(k.err) != protocol.CodeInvalidMessage {
				t.Errorf("%s: %v", name, k.err)
			}
		}
		for _, p := range []cursor{
			{Below: math.MaxUint64, Turn: math.MaxUint64, Item: -1},
			{Below: 1, Turn: 7, Item: math.MinInt},
			{},
		} {
			p.Session = id
			must[protocol.SearchResult](
				r,
				r.do(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x", Cursor: p.String()})),
			)
		}
	})
}

// TestOneSearchDoesABoundedPart searches a long session in many calls, each of bounded size.
func TestOneSearchDoesABoundedPart(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		sizes := make([]int, 12)
		for i := range sizes {
			sizes[i] = 400_000
		}
		id := runTurns(r, sizes...)
		calls := 0
		for d := (protocol.SearchData{Query: "nowhere"}); ; {
			calls++
			res := must[protocol.SearchResult](r, r.do(newCommand(protocol.DoSearch, id, d)))
			if d.Cursor = res.Cursor; d.Cursor == "" {
				break
			}
		}
		if calls < 2 {
			t.Errorf("searched in %d call", calls)
		}
		if got := r.search(id, `"turn 3"`, 0); len(got) != 1 {
			t.Errorf("%d hits", len(got))
		}
	})
}

func TestAHugeTurnIsSearchedInPieces(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "say much")
		run := r.agents.run()
		piece := strings.Repeat("x", protocol.MaxText)
		run.emit(
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "first", Title: "needle"}},
		)
		for range maxPending*5/4/protocol.MaxText + 10 { // two pieces
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: piece}})
		}
		run.emit(
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "last", Title: "needle"}},
		)
		synctest.Wait()
		for _, limit := range []int{0, 1} {
			got := r.search(id, "needle", limit)
			if len(got) != 2 || got[0].Item != "last" || got[1].Item != "first" {
				t.Errorf("limit %d: %+v", limit, got)
			}
		}
		if got := r.search(id, "much", 1); len(got) != 1 {
			t.Errorf("in the user message: %+v", got)
		}
	})
}

func TestNoSessionWaitsForASearch(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		release := make(chan struct{})
		r.store.setFailRead(func() error {
			<-release
			return nil
		})
		var slow []*testCall
		for range 2 * maxSearches {
			slow = append(slow, r.start(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"})))
		}
		synctest.Wait()
		r.send(id, "go on")
		if r.agents.run() == nil {
			t.Error("the turn did not start")
		}
		for _, k := range slow {
			if k.replies != 0 {
				t.Error("the search was answered before the store")
			}
		}
		close(release)
		synctest.Wait()
	})
}

// A search that waits for others ends with its client, and its limit begins when it runs.
func TestASearchWaitsAsLongAsItsClient(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		for range maxSearches {
			r.reader.slots <- struct{}{}
		}
		ask := func(ctx context.Context) chan error {
			answer := make(chan error, 1)
			c := newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"})
			r.reader.Do(ctx, &c, func(_ json.RawMessage, err error) { answer <- err })
			return answer
		}
		ctx, leave := context.WithCancel(t.Context())
		left, stayed := ask(ctx), ask(context.WithoutCancel(ctx))
		time.Sleep(2 * searchTimeout)
		leave()
		synctest.Wait()
		select {
		case err := <-left:
			if protocol.CodeOf(err) != protocol.CodeTimeout {
				t.Errorf("the client has left: %v", err)
			}
		default:
			t.Error("a search waits for a client that has left")
		}
		for range maxSearches {
			<-r.reader.slots
		}
		if err := <-stayed; err != nil {
			t.Errorf("a search that got its turn late: %v", err)
		}
	})
}
