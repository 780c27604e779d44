package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// anyTurn generates the steps of a turn with many runs of deltas: of one part, of several parts, of
// tasks, of tools.
func anyTurn() *rapid.Generator[[]string] {
	text := rapid.StringN(0, 60, -1)
	quote := func(s string) string { return string(protocol.MustEncode(s)) }
	step := rapid.OneOf(
		rapid.Custom(
			func(t *rapid.T) string { return fmt.Sprintf(`{"say":%s,"runes":3}`, quote(text.Draw(t, "say"))) },
		),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(
				`{"say":%s,"open":true,"part":"p%d","runes":5}`,
				quote(text.Draw(t, "open")),
				rapid.IntRange(0, 2).Draw(t, "part"),
			)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`{"think":%s,"agent":"voice"}`, quote(text.Draw(t, "think")))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(
				`{"burst":%d,"parts":%d,"size":%d,"kind":"%s"}`,
				rapid.IntRange(1, 60).Draw(t, "n"),
				rapid.IntRange(1, 5).Draw(t, "parts"),
				rapid.IntRange(0, 40).Draw(t, "size"),
				rapid.SampledFrom([]string{"text", "reasoning"}).Draw(t, "kind"),
			)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(
				`{"tool":"t","input":{"x":"a b c"},"stream":%v,"output":%s,"runes":4}`,
				rapid.Bool().Draw(t, "stream"),
				quote(text.Draw(t, "output")),
			)
		}),
		rapid.Just(`{"tool":"t","output":"before","open":true}`),
		rapid.Just(`{"tool":"t","output":"a b","content":[{"type":"text","text":"c"}],"replace":true}`),
		rapid.Just(`{"say":"0123456789 ","times":14000,"words":1000}`),
		rapid.Just(`{"bytes":"/////w=="}`),
		rapid.Custom(func(t *rapid.T) string { // one name may serve parts of several kinds and tasks
			var lines []string
			for range rapid.IntRange(2, 12).Draw(t, "deltas") {
				typ, of := rapid.SampledFrom([]protocol.Type{
					protocol.TextDelta, protocol.ReasoningDelta,
					protocol.ToolOutput, protocol.ToolInput,
				}).
					Draw(t, "type"),
					"part"
				if typ == protocol.ToolOutput || typ == protocol.ToolInput {
					of = "tool"
				}
				lines = append(lines, fmt.Sprintf(
					`{"emit":"%s","data":{"%s":"x","text":%s},"task":"%s"}`,
					typ,
					of,
					quote(text.Draw(t, "delta")),
					rapid.SampledFrom([]string{"", "", "", "a"}).Draw(t, "task"),
				))
			}
			return strings.Join(lines, "\n")
		}),
		rapid.Just(`{"notice":"n"}`),
		rapid.Just(
			`{"plan":"Q","tasks":[{"id":"a","title":"A","steps":[{"burst":40}]},{"id":"b","title":"B","steps":[{"burst":40,"parts":2},{"tool":"t","output":"o p q"}]}]}`,
		),
	)
	return rapid.SliceOfN(step, 1, 5)
}

func TestFoldedAndRawCatchUpGiveTheSameStateAndTranscript(t *testing.T) {
	w := newTestServer(t)
	ann, bob := w.client("ann"), w.client("bob")
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		agent := fmt.Sprint("agent ", n)
		w.agents.add(t, agent, append([]string{`{"on":"*"}`}, anyTurn().Draw(t, "steps")...)...)
		id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Agent: agent}).Session
		w.send(ann, id, "one")
		w.send(ann, id, "two")
		live := mustObserve(t, bob, id, wsclient.SubscribeOptions{Since: logStart(), Raw: true}, turnsEnded(2))
		end := live.state.Seq
		for name, o := range map[string]wsclient.SubscribeOptions{
			"raw":    {Since: logStart(), Raw: true},
			"folded": {Since: logStart()},
		} {
			if got := mustObserve(t, bob, id, o, reached(end)); got.encode(t) != live.encode(t) {
				t.Errorf("%s:\n%s\nlive:\n%s", name, got.encode(t), live.encode(t))
			}
		}

		// From any position, complete runs arrive folded and incomplete ones raw, with the same
		// text.
		at := rapid.Uint64Range(0, end-1).Draw(t, "position")
		raw := mustObserve(
			t, bob, id, wsclient.SubscribeOptions{Since: &protocol.Position{Seq: at}, Raw: true}, reached(end),
		)
		folded := mustObserve(t, bob, id, wsclient.SubscribeOptions{Since: &protocol.Position{Seq: at}}, reached(end))
		if raw.next != folded.next {
			t.Errorf("from %d: raw ends at %d, folded at %d", at, raw.next, folded.next)
		}
		if a, b := partTexts(t, raw.raw), partTexts(t, folded.raw); a != b {
			t.Errorf("from %d: raw text %q, folded %q", at, a, b)
		}
	})
}
