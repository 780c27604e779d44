//go:build interop

package thirdparty

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
)

// A third-party client runs every exchange of the document.
func TestAThirdPartyAgentLoopClientUsesTheServer(t *testing.T) {
	runPythonClient(t, "agentloop", "agentloop_client.py")
}

// The client executes every supported command and receives every message of such a server, in the
// document's order and in the real system's.
func TestTheClientUsesAThirdPartyAgentLoopServer(t *testing.T) {
	for _, style := range []string{"document", "wire"} {
		t.Run(style, func(t *testing.T) {
			p := startPythonServer(t, "agentloop_server.py", style)
			s := follow(t, p.client("agentloop"), "ws")

			s.Send("plain one")
			if got := summarizeTurn(s.waitTurns(1)); got != "(a greeting)你好, world: plain one | completed" {
				t.Error(got)
			}

			s.Send("shell two")
			a := s.waitApproval()
			if a.Kind != protocol.ApproveCommand || a.Command != "rm -rf node_modules" || len(a.Options) != 5 {
				t.Errorf("approval %+v", a)
			}
			s.decide(a, protocol.ApproveData{Decision: protocol.Explain})
			s.WaitFor(
				"explained",
				func() bool { return len(s.State.Approvals) == 1 && len(s.State.Approvals[0].Explained) == 1 },
			)
			if got := s.State.Approvals[0].Explained[0]; got != "It would run rm -rf node_modules" {
				t.Errorf("explained: %q", got)
			}
			if o := s.decide(s.waitApproval(),
				protocol.ApproveData{Decision: protocol.AllowOnce}); o != protocol.Allowed {
				t.Errorf("outcome %s", o)
			}
			interoptest.Contains(
				t, summarizeTurn(s.waitTurns(2)), "Looking. ", "<allowed>", " completed gone\n ]Done. | completed",
			)

			s.Send("shell three")
			s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.Deny, Reason: "不行"})
			got := summarizeTurn(s.waitTurns(3))
			interoptest.Contains(t, got, "<denied>", "Without it, then: 不行 | completed")
			if strings.Contains(got, "{") {
				t.Errorf("the reason is told twice: %s", got)
			}
			s.Send("shell four")
			s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.DenyStop})
			interoptest.Contains(t, summarizeTurn(s.waitTurns(4)), "<denied>", "| denied")
			s.Send("shell five")
			s.decide(s.waitApproval(), protocol.ApproveData{Decision: protocol.AllowAlways})
			interoptest.Contains(t, summarizeTurn(s.waitTurns(5)), "<allowed>", "Done. | completed")
			s.Send("shell six")
			if got := summarizeTurn(s.waitTurns(6)); strings.Contains(got, "<") {
				t.Errorf("asked again: %s", got)
			}

			s.Send("patch seven")
			a = s.waitApproval()
			if a.Kind != protocol.ApprovePatch ||
				!strings.HasPrefix(a.Patch, "*** Begin Patch\n*** Update File: src/app.ts") ||
				!a.Editable {
				t.Errorf("approval %+v", a)
			}
			s.decide(
				a,
				protocol.ApproveData{
					Decision: protocol.AllowOnce,
					Input:    &protocol.ApprovalInput{Patch: strings.ReplaceAll(a.Patch, "app.ts", "ápp.ts")},
				},
			)
			interoptest.Contains(
				t, summarizeTurn(s.waitTurns(7)), "patched: *** Update File: src/ápp.ts", "Done. | completed",
			)

			// Another shell's activity is not shown before the decision, and is shown after it.
			s.Send("held eight")
			a = s.waitApproval()
			if got := summarizeTurn(s.Transcript.Current()); strings.Contains(got, "[") {
				t.Errorf("shown early: %s", got)
			}
			s.decide(a, protocol.ApproveData{Decision: protocol.AllowOnce})
			interoptest.Contains(
				t, summarizeTurn(s.waitTurns(8)), "<allowed>[", "completed a b ]", "pushed", "Done. | completed",
			)

			s.Send("warn nine")
			interoptest.Contains(t, summarizeTurn(s.waitTurns(9)), "{notice}", "There again. | completed")
			s.Send("fail ten")
			if end := s.waitTurns(10).End; end.Reason != protocol.ReasonError ||
				!strings.Contains(end.Message, "Rate limit exceeded") {
				t.Errorf("ended %+v", end)
			}

			if style == "wire" {
				s.useWithoutQueue(10)
			} else {
				s.Send("slow eleven")
				s.Send("plain twelve")
				interoptest.Contains(t, summarizeTurn(s.waitTurns(12)), "你好, world: plain twelve | completed")
				interoptest.Contains(t, summarizeTurn(s.Transcript.Turns[10]), "one two | completed")
			}

			info := do[protocol.ContextResult](s, protocol.DoContext, nil).Context
			if info.MaxTokens != 128000 || info.Percent != 35.4 || info.TranscriptLength != 87 ||
				info.Strategy != "ThresholdContextManager" {
				t.Errorf("the context is %+v", info)
			}
			if c := do[protocol.CompactResult](s, protocol.DoCompact, nil).Compacted; c.After != 120 ||
				c.Percent != 88 {
				t.Errorf("compacted %+v", c)
			}
			for _, verb := range []protocol.Verb{
				protocol.DoInterrupt, protocol.DoSearch, protocol.DoRulesList,
				protocol.DoExport, protocol.DoClose, protocol.DoQueueHold,
			} {
				if _, err := interoptest.Try[protocol.Empty](s.Follower, verb,
					nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
					t.Errorf("%s: %v", verb, err)
				}
			}
			s.Send("plain thirteen")
			n := len(s.Transcript.Turns)
			s.WaitFor("answered", func() bool {
				return slices.ContainsFunc(
					s.Transcript.Turns[n-1:],
					func(t *protocol.Turn) bool { return t.Message.Text == "plain thirteen" && t.End != nil },
				)
			})
		})
	}
}

// useWithoutQueue runs what only a server without a queue does, after so many turns.
func (s *follower) useWithoutQueue(turns int) {
	t := s.T
	s.Send("slow eleven")
	r := s.Send("plain twelve")
	turn := s.waitTurns(turns + 1)
	if r.Status != protocol.SendStarted || r.Turn != turn.Turn || len(s.State.Queue) > 0 {
		t.Errorf("send: %+v, queue %+v", r, s.State.Queue)
	}
	interoptest.Contains(t, summarizeTurn(turn), "{notice}", "你好, world: plain twelve | completed")

	s.Send("held thirteen")
	s.waitApproval()
	_, err := interoptest.Try[protocol.SendResult](s.Follower, protocol.DoSend, protocol.SendData{Text: "plain no"})
	if protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a message during a request: %v", err)
	}
	do[protocol.SendResult](s, protocol.DoSend, protocol.SendData{Text: "plain yes", Front: true})
	interoptest.Contains(t, summarizeTurn(s.waitTurns(turns+2)), "<cancelled>", "你好, world: plain yes | completed")

	s.Send("failing fourteen")
	if end := s.waitTurns(turns + 3).End; end.Reason != protocol.ReasonError || end.Message != "529 overloaded" {
		t.Errorf("ended %+v", end)
	}
}

// The connection breaks during a turn, which the server ends with it. The known part stays and the
// client continues in a new session.
func TestACutAtAServerOfAgentLoops(t *testing.T) {
	p := startPythonServer(t, "agentloop_server.py", "wire")
	s := follow(t, p.client("agentloop"), "ws")
	s.Send("plain one")
	s.waitTurns(1)
	s.Send("cut two")
	s.WaitFor("attached again", func() bool { return len(s.Modes) == 2 })
	if s.Modes[1] != protocol.ModeReset+" "+protocol.ResetResubscribed {
		t.Errorf("attachments %v", s.Modes)
	}
	s.WaitFor("idle", func() bool { return s.State.Turn == nil })
	if last := s.State.Last; last == nil || last.Reason != protocol.ReasonError ||
		!strings.Contains(last.Message, "the server ended the turn") {
		t.Errorf("the turn ended as %+v", last)
	}
	s.Send("plain three")
	s.WaitFor("answered", func() bool {
		return slices.ContainsFunc(s.Transcript.Turns, func(t *protocol.Turn) bool {
			return t.Message.Text == "plain three" && t.End != nil &&
				strings.Contains(summarizeTurn(t), "你好, world: plain three")
		})
	})
}
