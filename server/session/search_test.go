package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// search asks for every hit, a page at a time.
func (r *rig) search(session, query string, limit int) []protocol.Hit {
	r.t.Helper()
	var all []protocol.Hit
	for d := (protocol.SearchData{Query: query, Limit: limit}); ; {
		res := must[protocol.SearchResult](r, r.do(anna, command(protocol.DoSearch, session, d)))
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
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "the needle in my question")
		run := r.agents.run()
		old := "old needle"
		run.say(
			Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "a Nee"}},
			Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "N"}},
			Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "dle"}},
			Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "EEDLE"}},
			Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "x1", Input: []byte(`{"cmd":["grep \"needle\""]}`)}},
			Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "x2"}},
			Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "x2", Content: []protocol.Content{{Type: "diff", Old: &old}}}},
			Event{Type: protocol.ErrorRaised, Data: protocol.ErrorData{Message: "no needle"}},
			Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "a needle of no account"}},
		)
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Title: "Run", Command: "needle --all"})
		r.settle()
		if got := kindsOf(r.search(id, "needle", 0)); got != "approval error tool tool text reasoning user" {
			t.Errorf("while the turn is under way: %s", got)
		}
		run.finish(End{Reason: protocol.ReasonError, Message: "lost the needle"}, nil)
		r.settle()
		hits := r.search(id, "NEEDLE", 0)
		if got := kindsOf(hits); got != "error approval error tool tool text reasoning user" {
			t.Errorf("afterwards: %s", got)
		}
		for _, h := range hits {
			if h.Session != id || h.Turn == "" || h.First == 0 || h.Seq < h.First || h.Time.IsZero() || len(h.Matches) != 1 || h.Count != 1 {
				t.Errorf("%+v", h)
			}
			if m := h.Matches[0]; !strings.EqualFold(h.Snippet[m.From:m.To], "needle") {
				t.Errorf("%q marks %q", h.Snippet, h.Snippet[m.From:m.To])
			}
		}
		if got := r.search(id, `"the needle" QUESTION`, 0); len(got) != 1 || got[0].Kind != protocol.HitUser {
			t.Errorf("all of several words: %+v", got)
		}
		if got := r.search(id, "e", 0); len(got) == 0 || got[len(got)-1].Count != strings.Count("the needle in my question", "e") {
			t.Errorf("what is there often: %+v", got)
		}
		if got := r.search(id, "needle nowhere", 0); len(got) != 0 {
			t.Errorf("not all words are there: %+v", got)
		}
	})
}

func TestSearchLooksIntoEverySessionTheNewestFirst(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		var ids []string
		for i := range 4 {
			id := r.create()
			ids = append(ids, id)
			r.send(id, fmt.Sprint("needle ", i))
			r.agents.run().finish(End{}, nil)
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
		must[protocol.Empty](r, r.do(anna, command(protocol.DoClose, ids[1], protocol.CloseData{Delete: true})))
		if got := r.search("", "needle", 1); len(got) != 3 {
			t.Errorf("of a session that was removed: %d hits", len(got))
		}
		refused(r, r.do(anna, command(protocol.DoSearch, ids[1], protocol.SearchData{Query: "needle"})), protocol.CodeNoSession)
	})
}

func TestSearchSkipsADamagedSessionAndSaysSo(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.store.set(func() { r.store.failRead = func() error { return ErrCorrupt } })
		defer r.store.set(func() { r.store.failRead = nil })
		res := must[protocol.SearchResult](r, r.do(anna, command(protocol.DoSearch, "", protocol.SearchData{Query: "x"})))
		if !slices.Equal(res.Skipped, []string{id}) {
			t.Errorf("skipped %v", res.Skipped)
		}
		refused(r, r.do(anna, command(protocol.DoSearch, id, protocol.SearchData{Query: "x"})), protocol.CodeStorage)
	})
}

func TestSearchRefusesWhatItCannotUse(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id, other := r.create(), r.create()
		for name, d := range map[string]protocol.SearchData{
			"no word":             {Query: "  "},
			"too many words":      {Query: "a b c d e f g h i j k l m n o p q"},
			"too long":            {Query: strings.Repeat("x", 2000)},
			"no cursor":           {Query: "x", Cursor: "?"},
			"a cursor of nothing": {Query: "x", Cursor: "e30"},
			"another's cursor":    {Query: "x", Cursor: place{Session: other, Below: 1}.cursor()},
		} {
			if k := r.do(anna, command(protocol.DoSearch, id, d)); protocol.CodeOf(k.err) != protocol.CodeInvalidMessage {
				t.Errorf("%s: %v", name, k.err)
			}
		}
		for _, p := range []place{{Below: math.MaxUint64, Turn: math.MaxUint64, Item: -1}, {Below: 1, Turn: 7, Item: math.MinInt}, {}} {
			p.Session = id
			must[protocol.SearchResult](r, r.do(anna, command(protocol.DoSearch, id, protocol.SearchData{Query: "x", Cursor: p.cursor()})))
		}
	})
}

// TestOneSearchDoesABoundedPart: a long session is looked through in many calls, none of which holds much of it.
func TestOneSearchDoesABoundedPart(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		sizes := make([]int, 12)
		for i := range sizes {
			sizes[i] = 400_000
		}
		id := talk(r, sizes...)
		calls := 0
		for d := (protocol.SearchData{Query: "nowhere"}); ; {
			calls++
			res := must[protocol.SearchResult](r, r.do(anna, command(protocol.DoSearch, id, d)))
			if d.Cursor = res.Cursor; d.Cursor == "" {
				break
			}
		}
		if calls < 2 {
			t.Errorf("looked through it in %d call", calls)
		}
		if got := r.search(id, `"turn 3"`, 0); len(got) != 1 {
			t.Errorf("found %d hits", len(got))
		}
	})
}

func TestAHugeTurnIsSearchedInPieces(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "say much")
		run := r.agents.run()
		piece := strings.Repeat("x", protocol.MaxText)
		run.say(Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "first", Title: "needle"}})
		for range 2*scanPiece/protocol.MaxText + 10 {
			run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: piece}})
		}
		run.say(Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "last", Title: "needle"}})
		r.settle()
		for _, limit := range []int{0, 1} {
			got := r.search(id, "needle", limit)
			if len(got) != 2 || got[0].Item != "last" || got[1].Item != "first" {
				t.Errorf("limit %d: %+v", limit, got)
			}
		}
		if got := r.search(id, "much", 1); len(got) != 1 {
			t.Errorf("its message: %+v", got)
		}
	})
}

func TestNoSessionWaitsForASearch(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		release := make(chan struct{})
		r.store.set(func() {
			r.store.failRead = func() error {
				r.store.mu.Unlock() // it is called with the lock held
				defer r.store.mu.Lock()
				<-release
				return nil
			}
		})
		var slow []*call
		for range 2 * searchers {
			slow = append(slow, r.start(anna, command(protocol.DoSearch, id, protocol.SearchData{Query: "x"})))
		}
		synctest.Wait()
		r.send(id, "go on")
		if r.agents.run() == nil {
			t.Error("the turn did not start")
		}
		for _, k := range slow {
			if k.replies != 0 {
				t.Error("the search did not wait for the store")
			}
		}
		close(release)
		r.settle()
	})
}

var vocabulary = []string{"cache", "Cache", "KEY", "key", "Ärger", "ärger", "漢字", "字", "go", "Go"}

func words(rt *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 5).Draw(rt, name), " ")
}

// naive is what a search has to find: everything, looked through in the simplest way.
func naive(r *rig, id string, query []string) []string {
	var tr protocol.Transcript
	for _, e := range r.events(id, false) {
		if _, err := tr.Apply(&e); err != nil {
			r.t.Fatalf("transcript: %v", err)
		}
	}
	var found []string
	look := func(t *protocol.Turn, kind protocol.HitKind, item, text string) {
		for _, w := range query {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
				return
			}
		}
		found = append(found, strings.Join([]string{id, t.Turn, string(kind), item}, " "))
	}
	for _, t := range tr.Turns {
		look(t, protocol.HitUser, t.Message.MessageID, t.Message.Text)
		for _, it := range t.Items {
			switch it.Kind {
			case protocol.ItemText, protocol.ItemReasoning:
				look(t, protocol.HitKind(it.Kind), it.ID, string(it.Text))
			case protocol.ItemTool:
				look(t, protocol.HitTool, it.ID, it.Tool.Title+"\n"+string(it.Text))
			}
		}
		if t.End != nil && t.End.Failed() {
			look(t, protocol.HitError, "", t.End.Message)
		}
	}
	slices.Reverse(found)
	return found
}

// through is what Hits finds in the session's turns.
func through(r *rig, id string, query []string) (found []string) {
	q, err := protocol.ParseQuery(strings.Join(query, " "))
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	var tr protocol.Transcript
	for _, e := range r.events(id, false) {
		if _, err := tr.Apply(&e); err != nil {
			r.t.Fatalf("transcript: %v", err)
		}
	}
	for _, t := range slices.Backward(tr.Turns) {
		for _, h := range Hits(id, q, t) {
			found = append(found, strings.Join([]string{h.Session, h.Turn, string(h.Kind), h.Item}, " "))
		}
	}
	return found
}

func TestSearchFindsWhatANaiveScanFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			r := newRig(rt, Config{})
			defer func() { _ = r.hub.Close(context.Background()) }()
			var ids []string
			for range rapid.IntRange(1, 2).Draw(rt, "sessions") {
				time.Sleep(time.Millisecond)
				id := r.create()
				ids = append([]string{id}, ids...)
				for range rapid.IntRange(0, 6).Draw(rt, "turns") {
					r.turn(rt, id)
				}
			}
			if rapid.Bool().Draw(rt, "restart") {
				r.restart()
			}
			query := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(rt, "query")
			limit := rapid.IntRange(1, 5).Draw(rt, "limit")
			var all []string
			check := func(session string, want []string) {
				var got []string
				for _, h := range r.search(session, strings.Join(query, " "), limit) {
					got = append(got, strings.Join([]string{h.Session, h.Turn, string(h.Kind), h.Item}, " "))
				}
				if !slices.Equal(got, want) {
					rt.Fatalf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			for _, id := range ids {
				want := naive(r, id, query)
				check(id, want)
				if got := through(r, id, query); !slices.Equal(got, want) {
					rt.Fatalf("in its turns\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				all = append(all, want...)
			}
			check("", all)
		})
	})
}

// turn lets a session do something, and often end its turn.
func (r *rig) turn(rt *rapid.T, id string) {
	r.do(anna, command(protocol.DoSend, id, protocol.SendData{Text: "q " + words(rt, "message")}))
	run := r.agents.run()
	if run == nil || run.agent.spec.Session != id {
		return
	}
	for i := range rapid.IntRange(0, 6).Draw(rt, "events") {
		text := words(rt, "text")
		switch rapid.IntRange(0, 3).Draw(rt, "kind") {
		case 0:
			run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: text}})
		case 1:
			run.say(Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: text}})
		case 2:
			tool := fmt.Sprint("x", i)
			run.say(
				Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: tool, Title: text}},
				Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: tool, Text: words(rt, "output")}},
			)
		case 3:
			run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p2", Text: text}})
		}
	}
	switch rapid.IntRange(0, 3).Draw(rt, "end") {
	case 0:
		run.finish(End{}, errors.New(words(rt, "failure")))
	case 1, 2:
		run.finish(End{}, nil)
	}
	r.settle()
}

func FuzzCursor(f *testing.F) {
	for _, p := range []place{{Session: "s_1", Below: math.MaxUint64}, {Session: "s_1", Turn: 7, Item: endItem}} {
		f.Add(p.cursor())
	}
	f.Add("")
	f.Add("e30")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := placeOf(cursor)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalidMessage {
				t.Errorf("%q: %v", cursor, err)
			}
			return
		}
		again, err := placeOf(p.cursor())
		if err != nil || again.Session != p.Session || again.Below != p.Below || again.Turn != p.Turn || again.Item != p.Item {
			t.Errorf("%q is %+v, then %+v, %v", cursor, p, again, err)
		}
	})
}

func TestWhatAnItemSaysIsAllThatPeopleReadOfIt(t *testing.T) {
	old := "old"
	content := []protocol.Content{{Type: "diff", Path: "path", Text: "text", Old: &old, New: "new"}}
	for want, it := range map[string]protocol.Item{
		"tool: n t a 1 b out path text old new": {Kind: protocol.ItemTool, Text: protocol.Text("out"), Tool: &protocol.ToolItem{Name: "n", Title: "t", Input: json.RawMessage(`{"a":[1,"b"]}`), InputText: protocol.Text("not"), Content: content}},
		"tool: in":                              {Kind: protocol.ItemTool, Tool: &protocol.ToolItem{InputText: protocol.Text("in")}},
		"tool: o 2 e":                           {Kind: protocol.ItemTool, Tool: &protocol.ToolItem{End: &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"}}},
		"tool: out e":                           {Kind: protocol.ItemTool, Text: protocol.Text("out"), Tool: &protocol.ToolItem{End: &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"}}},
		"tool: path text old new e":             {Kind: protocol.ItemTool, Tool: &protocol.ToolItem{Content: content, End: &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"}}},
		"approval: t c w p f g path text old new k d q x r": {Kind: protocol.ItemApproval, Resolved: &protocol.ApprovalResolvedData{Reason: "r"}, Approval: &protocol.Approval{Title: "t", Command: "c", Why: "w", Patch: "p", Paths: []string{"f", "g"}, Content: content, Tasks: []protocol.Task{{ID: "not", Title: "k", Description: "d"}}, Questions: []protocol.Question{{ID: "not", Text: "q"}}, Explained: []string{"x"}}},
		"error: m conflict": {Kind: protocol.ItemEvent, Type: protocol.ErrorRaised, Data: protocol.MustEncode(protocol.ErrorData{Message: "m", Code: protocol.CodeConflict})},
		"text: a b":         {Kind: protocol.ItemText, Text: protocol.Text("a\nb")},
		"reasoning: a":      {Kind: protocol.ItemReasoning, Text: protocol.Text("a")},
	} {
		it.ID, it.Seq = "i", 7
		s, ok := sayingOf(&it)
		if got := string(s.kind) + ": " + strings.ReplaceAll(s.text, "\n", " "); !ok || got != want || s.id != "i" || s.seq != 7 {
			t.Errorf("%s (%s %d %t), want %s", got, s.id, s.seq, ok, want)
		}
	}
	if s, ok := sayingOf(&protocol.Item{Kind: protocol.ItemEvent, Type: protocol.Notice}); ok {
		t.Errorf("a notice says %+v", s)
	}
}

func TestASnippetIsALineAroundTheFirstWord(t *testing.T) {
	q, err := protocol.ParseQuery("needle")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"a needle", "a needle"},
		{"tab\tnew\nline\x7f needle", "tab new line  needle"},
		{strings.Repeat("漢", 50) + "needle" + strings.Repeat("字", 60), strings.Repeat("漢", snippetLead/3) + "needle" + strings.Repeat("字", 38)},
		{strings.Repeat("x", 50) + "needle" + strings.Repeat("y", 200), strings.Repeat("x", snippetLead) + "needle" + strings.Repeat("y", snippetSize-snippetLead-6)},
	} {
		got, matches := snippet(q, c.text)
		if got != c.want || len(matches) != 1 || got[matches[0].From:matches[0].To] != "needle" {
			t.Errorf("%q with %v, want %q", got, matches, c.want)
		}
	}
}
