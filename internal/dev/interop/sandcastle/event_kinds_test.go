//go:build interop

package sandcastle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
)

// SC-14: the client converts every kind of chat event of the third-party schema. Kinds without a
// native event become raw events.
func TestEveryThirdPartyEventKindIsConverted(t *testing.T) {
	forEachRequestSet(t, func(t *testing.T, f *thirdPartyServer) {
		s := f.follow(t)
		s.Send("kinds")
		s.WaitFor("ended", s.ended("kinds"))
		turn := s.turn("kinds")
		var got []string
		for _, it := range turn.Items {
			switch it.Kind {
			case protocol.ItemTool:
				got = append(
					got,
					fmt.Sprintf(
						"%s %s %s %s %s%s%s", it.Tool.Name, it.Tool.Title, it.Tool.Input, it.Tool.End.Status,
						it.Text, it.Tool.End.Output, it.Tool.End.Error,
					),
				)
			case protocol.ItemEvent:
				var raw protocol.RawData
				if _ = json.Unmarshal(it.Data, &raw); it.Type == protocol.Raw {
					got = append(got, "raw "+raw.Method+" "+string(raw.Data))
				} else {
					got = append(got, string(it.Type)+" "+string(it.Data))
				}
			default:
				got = append(got, string(it.Kind)+" "+it.Text.String())
			}
		}
		want := []string{
			`text you said kinds`, `raw message-metadata {"type":"message-metadata","messageMetadata":{"n":1}}`,
			`reasoning hm`,
			`Look Look at it {"at":"it"} completed so far`, `Look Look at it {"at":"it"} completed {"rows":3}`,
			`Look Look at it {"at":"it"} failed it broke`,
			`Look Look at it {"at":"it"} denied `, `Look Look at it {"at":"it"} failed bad input`,
			`raw source-url {"type":"source-url","sourceId":"s1","url":"https://example.org","title":"Example","providerMetadata":{"anthropic":{"signature":"x"}}}`,
			`raw source-document {"type":"source-document","sourceId":"s2","mediaType":"text/plain","title":"Notes","filename":"n.txt"}`,
			`raw file {"type":"file","url":"data:text/plain,x","mediaType":"text/plain"}`,
			`raw data-weather {"type":"data-weather","id":"w","data":{"sky":"clear"},"transient":false}`,
			`error {"kind":"execution","message":"overloaded"}`, `raw abort {"type":"abort","reason":"tired"}`,
			`context.updated {"tokens":13,"max_tokens":200000,"percent":0.0065,"transcript_length":0}`,
		}
		got = slices.DeleteFunc(got, func(s string) bool {
			return strings.HasPrefix(s, string(protocol.UsageUpdated)) ||
				strings.HasPrefix(s, string(protocol.AgentOptions)) ||
				strings.HasPrefix(s, string(protocol.SessionUpdated))
		})
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if s.State.Title != "Every kind" || s.State.Options == nil || s.State.Options.Settings[0].Value != "plan" {
			t.Errorf("title %q, options %+v", s.State.Title, s.State.Options)
		}
		if u := turn.End.Usage; turn.End.Reason != protocol.ReasonCompleted || u == nil || u.Input != 10 ||
			u.Output != 20 ||
			u.Cached != 3 ||
			u.Cost != 0.5 {
			t.Errorf("ended %+v, used %+v", turn.End, u)
		}
	})
}

// SC-14: every event of agentctl's server, buffered ones included, is valid in the third-party
// schema.
func TestEveryEventIsValidInTheThirdPartySchema(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	streams := []*stream{n.subscribe("a", "document", "abc"), n.subscribeWith("a", "chat", "abc", "chat.subscribe")}
	n.sendMessage("a", "abc", "every", "temp_1")
	native := follow(t, server.nativeClient(), server.session)
	native.WaitFor("waiting for approval", func() bool { return len(native.State.Approvals) == 1 })
	title := "Every kind"
	interoptest.Call[protocol.Empty](
		t, native.Client, protocol.DoRename, server.session, protocol.RenameData{Title: &title},
	)
	late := n.subscribeWith("a", "late", "abc", "chat.subscribe")
	interoptest.Call[protocol.ApproveResult](
		t, native.Client, protocol.DoApprove, server.session, protocol.ApproveData{Decision: protocol.Deny},
	)
	want := strings.Fields(
		"data-agentctl error finish metadata-update mode-change reasoning-delta reasoning-end reasoning-start session-renamed start " +
			"text-delta text-end text-start tool-approval-request tool-input-available tool-input-delta tool-input-start tool-output-available tool-output-denied tool-output-error",
	)
	for _, s := range append(streams, late) {
		n.waitFor("stopped", s.has("SessionStopped", 1))
		kinds := map[string]bool{}
		for _, e := range s.events {
			for _, c := range append(e.Buffer, e.Event) {
				if c.Type != "" {
					kinds[c.Type] = true
				}
			}
		}
		got := slices.Sorted(maps.Keys(kinds))
		if s == late { // kinds that are not buffered
			got = slices.Sorted(slices.Values(append(got, "mode-change", "session-renamed", "tool-approval-request")))
		}
		if !slices.Equal(got, want) || s.end != "" {
			t.Errorf("got %v, want %v; ended %q", got, want, s.end)
		}
	}
}
