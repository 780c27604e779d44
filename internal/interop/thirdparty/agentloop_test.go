//go:build interop

package thirdparty

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// Every exchange of the document, by a client of theirs.
func TestAClientOfAgentLoopsUsesAServerOfOurs(t *testing.T) {
	plays(t, "agentloop", "agentloop_client.py")
}

// Every verb of ours and everything that such a server can say, in the order of the document and in that of the real system.
func TestOurClientUsesAServerOfAgentLoops(t *testing.T) {
	for _, style := range []string{"document", "wire"} {
		t.Run(style, func(t *testing.T) {
			p := start(t, "agentloop_server.py", style)
			s := sit(t, p.over("agentloop"), "ws")

			s.send("plain one")
			if got := told(s.over(1)); got != "(a greeting)你好, world: plain one | completed" {
				t.Error(got)
			}

			s.send("shell two")
			a := s.asked()
			if a.Kind != protocol.ApproveCommand || a.Command != "rm -rf node_modules" || len(a.Options) != 5 {
				t.Errorf("asked %+v", a)
			}
			s.decides(a, protocol.ApproveData{Decision: protocol.Explain})
			s.until("explained", func() bool { return len(s.state.Approvals) == 1 && len(s.state.Approvals[0].Explained) == 1 })
			if got := s.state.Approvals[0].Explained[0]; got != "It would run rm -rf node_modules" {
				t.Errorf("explained: %q", got)
			}
			if o := s.decides(s.asked(), protocol.ApproveData{Decision: protocol.AllowOnce}); o != protocol.Allowed {
				t.Errorf("decided %s", o)
			}
			contains(t, told(s.over(2)), "Looking. ", "<allowed>", " completed gone\n ]Done. | completed")

			s.send("shell three")
			s.decides(s.asked(), protocol.ApproveData{Decision: protocol.Deny, Reason: "不行"})
			contains(t, told(s.over(3)), "<denied>Without it, then: 不行 | completed")
			s.send("shell four")
			s.decides(s.asked(), protocol.ApproveData{Decision: protocol.DenyStop})
			contains(t, told(s.over(4)), "<denied>", "| denied")
			s.send("shell five")
			s.decides(s.asked(), protocol.ApproveData{Decision: protocol.AllowAlways})
			contains(t, told(s.over(5)), "<allowed>", "Done. | completed")
			s.send("shell six")
			if got := told(s.over(6)); strings.Contains(got, "<") {
				t.Errorf("asked again: %s", got)
			}

			s.send("patch seven")
			a = s.asked()
			if a.Kind != protocol.ApprovePatch || !strings.HasPrefix(a.Patch, "*** Begin Patch\n*** Update File: src/app.ts") || !a.Editable {
				t.Errorf("asked %+v", a)
			}
			s.decides(a, protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Patch: strings.ReplaceAll(a.Patch, "app.ts", "ápp.ts")}})
			contains(t, told(s.over(7)), "patched: *** Update File: src/ápp.ts", "Done. | completed")

			// What the shell does is not shown before the decision, and is shown after it.
			s.send("held eight")
			a = s.asked()
			if got := told(s.story.Current()); strings.Contains(got, "[") {
				t.Errorf("shown early: %s", got)
			}
			s.decides(a, protocol.ApproveData{Decision: protocol.AllowOnce})
			contains(t, told(s.over(8)), "<allowed>[", "completed a b ]", "pushed", "Done. | completed")

			s.send("warn nine")
			contains(t, told(s.over(9)), "{notice}", "There again. | completed")
			s.send("fail ten")
			if end := s.over(10).End; end.Reason != protocol.ReasonError || !strings.Contains(end.Message, "Rate limit exceeded") {
				t.Errorf("ended %+v", end)
			}

			s.send("slow eleven")
			s.send("plain twelve")
			contains(t, told(s.over(12)), "你好, world: plain twelve | completed")
			contains(t, told(s.story.Turns[10]), "one two | completed")

			info := do[protocol.ContextResult](s, protocol.DoContext, nil).Context
			if info.MaxTokens != 128000 || info.Percent != 35.4 || info.TranscriptLength != 87 || info.Strategy != "ThresholdContextManager" {
				t.Errorf("the context is %+v", info)
			}
			if c := do[protocol.CompactResult](s, protocol.DoCompact, nil).Compacted; c.After != 120 || c.Percent != 88 {
				t.Errorf("compacted %+v", c)
			}
			for _, verb := range []protocol.Verb{protocol.DoInterrupt, protocol.DoSearch, protocol.DoRulesList, protocol.DoExport, protocol.DoClose, protocol.DoQueueHold} {
				if _, err := try[protocol.Empty](s, verb, nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
					t.Errorf("%s: %v", verb, err)
				}
			}
			s.send("plain thirteen")
			n := len(s.story.Turns)
			s.until("answered", func() bool {
				return slices.ContainsFunc(s.story.Turns[n-1:], func(t *protocol.Turn) bool { return t.Message.Text == "plain thirteen" && t.End != nil })
			})
		})
	}
}

// A link that breaks in mid-turn: the protocol cannot say what was missed. What was seen stays, and the session goes on.
func TestACutAtAServerOfAgentLoops(t *testing.T) {
	p := start(t, "agentloop_server.py", "wire")
	s := sit(t, p.over("agentloop"), "ws")
	s.send("plain one")
	s.over(1)
	s.send("cut two")
	s.until("attached again", func() bool { return len(s.ways) == 2 })
	if s.ways[1] != protocol.ModeReset+" "+protocol.ResetResubscribed {
		t.Errorf("attached by %v", s.ways)
	}
	s.until("idle", func() bool { return s.state.Turn == nil })
	s.send("plain three")
	s.until("answered", func() bool {
		return slices.ContainsFunc(s.story.Turns, func(t *protocol.Turn) bool {
			return t.Message.Text == "plain three" && t.End != nil && strings.Contains(told(t), "你好, world: plain three")
		})
	})
}
