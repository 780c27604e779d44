package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
)

var vocabulary = []string{"cache", "Cache", "KEY", "key", "Ärger", "ärger", "漢字", "字", "go", "Go"}

func words(rt *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 5).Draw(rt, name), " ")
}

// naive returns the expected hits, found without the search: newest first.
func naive(r *testReader, id string, query []string) []string {
	var tr protocol.Transcript
	for _, e := range r.store.events(r.t, id) {
		if _, err := tr.Apply(&e); err != nil {
			r.t.Fatalf("transcript: %v", err)
		}
	}
	var found []string
	exact := strings.IndexFunc(strings.Join(query, ""), unicode.IsUpper) >= 0
	add := func(t *protocol.Turn, kind protocol.HitKind, item, text string) {
		if !exact {
			text = strings.ToLower(text)
		}
		for _, w := range query {
			if !strings.Contains(text, w) {
				return
			}
		}
		found = append(found, strings.Join([]string{id, t.Turn, string(kind), item}, " "))
	}
	for _, t := range tr.Turns {
		add(t, protocol.HitUser, t.Message.MessageID, t.Message.Text)
		for _, it := range t.Items {
			switch it.Kind {
			case protocol.ItemText, protocol.ItemReasoning:
				add(t, protocol.HitKind(it.Kind), it.ID, string(it.Text))
			case protocol.ItemTool:
				add(t, protocol.HitTool, it.ID, it.Tool.Title+"\n"+string(it.Text))
			}
		}
		if t.End != nil && t.End.Failed() {
			add(t, protocol.HitError, "", t.End.Message)
		}
	}
	slices.Reverse(found)
	return found
}

// searchTurns returns the hits of SearchTurn in the session's turns.
func searchTurns(r *testReader, id string, query []string) (found []string) {
	q, err := protocol.ParseQuery(strings.Join(query, " "))
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	var tr protocol.Transcript
	for _, e := range r.store.events(r.t, id) {
		if _, err := tr.Apply(&e); err != nil {
			r.t.Fatalf("transcript: %v", err)
		}
	}
	for _, t := range slices.Backward(tr.Turns) {
		for _, h := range SearchTurn(id, q, t) {
			found = append(found, strings.Join([]string{h.Session, h.Turn, string(h.Kind), h.Item}, " "))
		}
	}
	return found
}

func TestSearchFindsWhatANaiveScanFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			r := newTestReader(rt)
			defer r.close()
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
					rt.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			for _, id := range ids {
				want := naive(r, id, query)
				check(id, want)
				if got := searchTurns(r, id, query); !slices.Equal(got, want) {
					rt.Fatalf("SearchTurn: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				all = append(all, want...)
			}
			check("", all)
		})
	})
}

// turn runs a random turn, and usually ends it.
func (r *testReader) turn(rt *rapid.T, id string) {
	r.do(newCommand(protocol.DoSend, id, protocol.SendData{Text: "q " + words(rt, "message")}))
	run := r.agents.run()
	if run == nil || run.session != id {
		return
	}
	for i := range rapid.IntRange(0, 6).Draw(rt, "events") {
		text := words(rt, "text")
		switch rapid.IntRange(0, 3).Draw(rt, "kind") {
		case 0:
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: text}})
		case 1:
			run.emit(agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: text}})
		case 2:
			tool := fmt.Sprint("x", i)
			run.emit(
				agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: tool, Title: text}},
				agent.Event{
					Type: protocol.ToolOutput,
					Data: protocol.ToolOutputData{Tool: tool, Text: words(rt, "output")},
				},
			)
		case 3:
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p2", Text: text}})
		}
	}
	switch rapid.IntRange(0, 3).Draw(rt, "end") {
	case 0:
		run.finish(agent.End{}, errors.New(words(rt, "failure")))
	case 1, 2:
		run.finish(agent.End{}, nil)
	}
	synctest.Wait()
}
