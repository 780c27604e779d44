package multiagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/bridge"
)

// A pair is our client and our server, with nothing but the dialect between them.
type pair struct {
	*host
	c *caller
}

func newPair(t tester) *pair {
	p := &pair{newHost(t, protocol.Door{}), newCaller(t, map[string]string{"thinking": "true"})}
	p.c.follows()
	p.carry()
	return p
}

// carry brings each what the other said, until both are silent.
func (p *pair) carry() {
	p.t.Helper()
	for len(p.frames)+len(p.c.frames) > 0 {
		up, down := p.c.frames, p.frames
		p.c.frames, p.frames = nil, nil
		for _, f := range up {
			p.says(string(f))
		}
		for _, f := range down {
			p.c.says(string(f))
		}
	}
}

func (p *pair) happens(typ protocol.Type, task string, data any) {
	p.t.Helper()
	e := bridge.Entry{Type: typ, Task: task, Data: data}
	p.entry(e)
	p.carry()
}

// letters are what was said but for the lines that set parts apart.
func letters(s string) string {
	runes := []rune(strings.ReplaceAll(s, "\n", ""))
	slices.Sort(runes)
	return string(runes)
}

// Whatever happens in a session, our client sees over the dialect all that was said, each tool and its end, each request and its
// end, and how each turn ended.
func TestWhatTheDialectCarriesArrives(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPair(r)
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abcdé\"\\<")), 0, 6, -1)
		for range rapid.IntRange(1, 3).Draw(r, "turns") {
			prompt := rapid.StringMatching(`[a-z]{1,9}`).Draw(r, "prompt")
			sent := p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: prompt})
			p.carry()
			said, thought, ended, asks := "", "", map[string]protocol.ToolStatus{}, map[string]protocol.Outcome{}
			open, pending := map[string]bool{}, []string(nil)
			for i := range rapid.IntRange(0, 25).Draw(r, "events") {
				part := fmt.Sprint(rapid.IntRange(0, 2).Draw(r, "part"))
				task := rapid.SampledFrom([]string{"", "", "k"}).Draw(r, "task")
				part += task
				s := text.Draw(r, "text")
				switch rapid.IntRange(0, 11).Draw(r, "kind") {
				case 0:
					p.happens(protocol.TextStart, task, protocol.PartStartData{Part: part, Agent: "a" + part})
				case 1, 2, 3:
					p.happens(protocol.TextDelta, task, protocol.PartDeltaData{Part: part, Text: s})
					said += s
				case 4:
					p.happens(protocol.TextEnd, task, protocol.PartEndData{Part: part})
				case 5:
					p.happens(protocol.ReasoningDelta, task, protocol.PartDeltaData{Part: part, Text: s})
					thought += s
				case 6:
					tool := fmt.Sprintf("tool%d", i)
					p.happens(protocol.ToolStarted, task, protocol.ToolStartedData{Tool: tool, Name: "shell"})
					open[tool] = true
				case 7:
					for tool := range open {
						p.happens(protocol.ToolOutput, task, protocol.ToolOutputData{Tool: tool, Text: s})
						p.happens(protocol.ToolEnded, task, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted})
						delete(open, tool)
						ended[tool] = protocol.ToolCompleted
						break
					}
				case 8:
					id := fmt.Sprintf("r%d", i)
					p.happens(protocol.ApprovalRequested, task, protocol.Approval{Request: id, Kind: protocol.ApprovePlan, Title: "plan"})
					pending = append(pending, id)
				case 9:
					if len(pending) == 0 {
						continue
					}
					d := rapid.SampledFrom([]protocol.Decision{protocol.AllowOnce, protocol.Deny}).Draw(r, "decision")
					p.c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Request: pending[0], Decision: d, Reason: "why"})
					p.carry()
					asks[pending[0]] = map[protocol.Decision]protocol.Outcome{protocol.AllowOnce: protocol.Allowed, protocol.Deny: protocol.Denied}[d]
					pending = pending[1:]
				default: // what the dialect cannot say must not hurt
					et := rapid.SampledFrom(protocol.EventTypes).Draw(r, "type")
					switch et.Type {
					case protocol.MessageUser, protocol.TurnEnded, protocol.ApprovalRequested, protocol.SessionClosed, protocol.SessionCreated,
						protocol.QueueAdded, protocol.QueueHeld, protocol.ToolEnded, protocol.ToolStarted:
						continue
					}
					if !et.Ephemeral && p.log.State.Apply(&protocol.Event{Session: "uuid", Seq: 1 << 40, Type: et.Type}) != nil {
						p.happens(et.Type, task, et.New())
					}
				}
			}
			if result[protocol.SendResult](p.c, sent) == nil { // nothing was said yet
				p.c.waits()
			}
			if live := p.c.state; len(live.Approvals) != len(pending) {
				r.Fatalf("%d requests pending, not %d", len(live.Approvals), len(pending))
			}
			end := rapid.SampledFrom([]protocol.Reason{
				protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonError, protocol.ReasonDenied, protocol.ReasonTimeout,
			}).Draw(r, "end")
			p.happens(protocol.TurnEnded, "", protocol.TurnEndedData{Reason: end, DurationMS: 5})
			for _, id := range pending {
				asks[id] = protocol.Denied
			}
			p.check(prompt, said, thought, ended, asks, end)
			p.now, p.c.now = p.now.Add(1e9), p.c.now.Add(1e9)
		}
	})
}

func (p *pair) check(prompt, said, thought string, tools map[string]protocol.ToolStatus, asks map[string]protocol.Outcome, end protocol.Reason) {
	p.t.Helper()
	turn := p.c.story.Current()
	if p.c.state.Turn != nil || turn.Message.Text != prompt {
		p.t.Fatalf("turn %+v, message %q not %q", p.c.state.Turn, turn.Message.Text, prompt)
	}
	gotSaid, gotThought := "", ""
	for _, it := range turn.Items {
		switch it.Kind {
		case protocol.ItemText:
			gotSaid += it.Text.String()
		case protocol.ItemReasoning:
			gotThought += it.Text.String()
		case protocol.ItemApproval:
			if it.Resolved == nil || it.Resolved.Outcome != asks[it.ID] {
				p.t.Errorf("%s: %+v, not %s", it.ID, it.Resolved, asks[it.ID])
			}
			delete(asks, it.ID)
		case protocol.ItemTool:
			if want, is := tools[it.ID]; is && (it.Tool.End == nil || it.Tool.End.Status != want || it.Tool.Name != "shell") {
				p.t.Errorf("%s: %+v", it.ID, it.Tool)
			}
			delete(tools, it.ID)
		case protocol.ItemEvent:
			if it.Type == protocol.Raw {
				p.t.Errorf("raw: %s", it.Data)
			}
		}
	}
	if letters(gotSaid) != letters(said) || letters(gotThought) != letters(thought) {
		p.t.Errorf("said %q not %q, thought %q not %q", gotSaid, said, gotThought, thought)
	}
	if len(tools)+len(asks) > 0 {
		p.t.Errorf("missing: %v %v", tools, asks)
	}
	want := map[protocol.Reason]protocol.Reason{protocol.ReasonDenied: protocol.ReasonInterrupted, protocol.ReasonTimeout: protocol.ReasonError}
	if w, other := want[end]; other {
		end = w
	}
	if p.c.state.Last.Reason != end {
		p.t.Errorf("ended %s, not %s", p.c.state.Last.Reason, end)
	}
}

func TestAQueuedMessageIsToldAsANotice(t *testing.T) {
	p := newPair(t)
	p.turn("theirs")
	p.carry()
	p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.carry()
	p.c.waits()
	if p.log.State.Queued(p.log.State.Queue[0].MessageID) != 0 {
		t.Error("our server did not queue it")
	}
	told := false
	for _, e := range p.c.events {
		told = told || e.Type == protocol.Notice && strings.Contains(string(e.Data), "queued")
	}
	if !told {
		t.Error("nobody says that it waits")
	}
}

func TestManyBytesArrive(t *testing.T) {
	p := newPair(t)
	p.c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	p.carry()
	piece := strings.Repeat("é", 20<<10)
	for range 120 { // more than a message repeats
		p.happens(protocol.TextDelta, "", protocol.PartDeltaData{Part: "p", Text: piece})
	}
	p.happens(protocol.ToolEnded, "", protocol.ToolEndedData{
		Tool: "k", Status: protocol.ToolCompleted, Output: json.RawMessage(`"` + strings.Repeat("o", 200<<10) + `"`),
	})
	p.happens(protocol.TurnEnded, "", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if got := len(p.c.text()); got != 120*len(piece) || p.c.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("%d bytes of %d", got, 120*len(piece))
	}
}
