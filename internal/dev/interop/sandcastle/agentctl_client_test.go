//go:build interop

package sandcastle

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A thirdPartyServer is a Sandcastle server on Node. It stores its history in a file.
type thirdPartyServer struct {
	*nodeProcess
	tags, file, addr string
}

func newThirdPartyServer(t *testing.T, tags string) *thirdPartyServer {
	f := &thirdPartyServer{tags: tags, file: filepath.Join(t.TempDir(), "history"), addr: "127.0.0.1:0"}
	f.start(t)
	return f
}

func (f *thirdPartyServer) start(t *testing.T) {
	t.Helper()
	f.nodeProcess = newNodeProcess(t, "server.mjs", f.addr[strings.LastIndex(f.addr, ":")+1:], f.tags, f.file)
	f.waitFor("listening", func() bool { return f.reports["port"] != nil })
	f.addr = "127.0.0.1:" + string(f.reports["port"])
}

// follow attaches an agentctl client to the session.
func (f *thirdPartyServer) follow(t *testing.T) *follower {
	t.Helper()
	return follow(t, dialectClient(t, f.addr, wsclient.Options{}), "abc")
}

// forEachRequestSet runs a test against servers with the document's requests, the real system's,
// and the real system's without history.
func forEachRequestSet(t *testing.T, test func(t *testing.T, f *thirdPartyServer)) {
	for _, tags := range []string{"document", "chat", "nohistory"} {
		t.Run(tags, func(t *testing.T) { test(t, newThirdPartyServer(t, tags)) })
	}
}

func (s *follower) streaming() bool { return s.State.Turn != nil }

// SC-2, SC-6, SC-10 to SC-14, SC-17, SC-19, SC-20, SC-30 to SC-35, SC-46, X-20.
func TestTheClientUsesAThirdPartyServer(t *testing.T) {
	forEachRequestSet(t, func(t *testing.T, f *thirdPartyServer) {
		c := dialectClient(t, f.addr, wsclient.Options{})
		if _, err := wsclient.Call[protocol.SnapshotResult](t.Context(), c, protocol.DoSnapshot, "nope",
			nil); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("unknown session: %v", err)
		}
		s := follow(t, c, "abc")
		s.Send("hello")
		s.WaitFor("ended", s.ended("hello"))
		turn := s.turn("hello")
		if turn.Items[0].Text.String() != "you said hello" || turn.Items[1].Tool.Name != "Bash" ||
			turn.Items[1].Text.String() != "a b c" ||
			turn.End.Reason != protocol.ReasonCompleted {
			t.Errorf("the turn is %s", protocol.MustEncode(turn))
		}
		s.Send("hang")
		s.WaitFor("working", s.streaming)
		more := s.Send("more")
		if again := s.Send("hello"); more.Status != protocol.SendQueued || again.Status != protocol.SendQueued {
			t.Errorf("sends during a turn: %+v, %+v", more, again)
		}
		s.WaitFor("queued", func() bool { return len(s.State.Queue) == 2 })
		remove := protocol.QueueRemoveData{MessageID: more.MessageID}
		if r := interoptest.Call[protocol.QueueRemoveResult](t, c, protocol.DoQueueRemove, "abc", remove); !r.Removed {
			t.Error("the message was not removed")
		}
		s.WaitFor("removed", func() bool { return len(s.State.Queue) == 1 })
		if r := s.interrupt(); !r.Interrupted {
			t.Errorf("interrupt: %+v", r)
		}
		s.WaitFor("ended", func() bool { return s.ended("hello")() && len(s.Transcript.Turns) == 3 })
		if s.turn("hang").End.Reason != protocol.ReasonInterrupted || len(s.State.Queue) != 0 || s.turn("more") != nil {
			t.Errorf("the session is %s", protocol.MustEncode(s.Transcript))
		}
		if r := s.interrupt(); r.Interrupted {
			t.Errorf("interrupt without a turn: %+v", r)
		}
	})
}

// SC-25, SC-28 to SC-30, SC-39 to SC-41: clients join during a turn, each on its own connection;
// their leaving changes nothing.
func TestTwoClientsShareAThirdPartySession(t *testing.T) {
	forEachRequestSet(t, func(t *testing.T, f *thirdPartyServer) {
		one := f.follow(t)
		one.Send("hello")
		one.WaitFor("ended", one.ended("hello"))
		one.Send("hang")
		f.run("say", args{"text": " and on"})
		two := f.follow(t)
		two.WaitFor("caught up", func() bool { return two.agentText("hang") == "you said hang and on" })
		if has := two.turn("hello") != nil; has == (f.tags == "nohistory") {
			t.Errorf("history is there: %v", has)
		}
		three := f.follow(t)
		three.WaitFor("caught up", func() bool { return three.agentText("hang") == "you said hang and on" })
		f.run("say", args{"text": " and on"})
		for _, s := range []*follower{one, two, three} {
			s.WaitFor("live", func() bool { return s.agentText("hang") == "you said hang and on and on" })
		}
		two.Stop()
		three.Stop()
		f.waitFor("left", func() bool { return string(f.reports["streams"]) == "1" })
		f.run("say", args{"text": " to the end"})
		one.WaitFor("live", func() bool { return one.agentText("hang") == "you said hang and on and on to the end" })
		if one.State.Turn == nil {
			t.Errorf("a leaving client ended the turn: %+v", one.State.Last)
		}
	})
}

// SC-46, SC-27.
func TestLargeOutputOfAThirdPartyServerArrivesComplete(t *testing.T) {
	f := newThirdPartyServer(t, "document")
	s := f.follow(t)
	s.Send("much")
	s.WaitFor("ended", s.ended("much"))
	if got := s.agentText("much"); len(got) != len("you said much")+4000*500 ||
		!strings.HasPrefix(got, "you said much0 xxx") {
		t.Errorf("got %d bytes", len(got))
	}
}

// SC-49: a late joiner sees the pending approval and decides it.
func TestTheClientDecidesOnAThirdPartyServer(t *testing.T) {
	f := newThirdPartyServer(t, "chat")
	one := f.follow(t)
	one.Send("ask")
	one.WaitFor("asked", func() bool { return len(one.State.Approvals) == 1 })
	two := f.follow(t)
	two.WaitFor("asked", func() bool { return len(two.State.Approvals) == 1 })
	a := two.State.Approvals[0]
	if a.Command != "rm -rf build" || a.Kind != protocol.ApproveCommand {
		t.Errorf("approval %+v", a)
	}
	decide := protocol.ApproveData{Request: a.Request, Decision: protocol.AllowAlways}
	if _, err := wsclient.Call[protocol.ApproveResult](t.Context(), two.Client, protocol.DoApprove, "abc",
		decide); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("allow always: %v", err)
	}
	decide.Decision = protocol.AllowOnce
	interoptest.Call[protocol.ApproveResult](t, two.Client, protocol.DoApprove, "abc", decide)
	for _, s := range []*follower{one, two} {
		s.WaitFor("ended", s.ended("ask"))
		tool := s.turn("ask").Items[1].Tool
		if len(s.State.Approvals) != 0 || tool.End == nil || tool.End.Status != protocol.ToolCompleted {
			t.Errorf("%+v, %s", s.State.Approvals, protocol.MustEncode(s.Transcript))
		}
	}
	_, err := wsclient.Call[protocol.ApproveResult](t.Context(), one.Client, protocol.DoApprove, "abc", decide)
	if protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("second decision: %v", err)
	}
}

// SC-26, SC-28, SC-29, SC-39: the third-party server is killed during a turn and restarts with the
// finished turns. The client reconnects and continues.
func TestAThirdPartyServerRestarts(t *testing.T) {
	for _, tags := range []string{"chat", "document"} {
		t.Run(tags, func(t *testing.T) { testServerRestart(t, newThirdPartyServer(t, tags)) })
	}
}

func testServerRestart(t *testing.T, f *thirdPartyServer) {
	t.Helper()
	s := f.follow(t)
	s.Send("hello")
	s.WaitFor("ended", s.ended("hello"))
	s.Send("hang")
	s.WaitFor("working", func() bool { return s.agentText("hang") == "you said hang" })
	f.kill()
	f.start(t)
	s.WaitFor("reconnected", func() bool { return s.Resets == 1 })
	if s.State.Turn != nil || s.turn("hang") != nil || s.agentText("hello") != "you said hello" {
		t.Errorf("after the restart:\n%s\n%s", protocol.MustEncode(s.State), protocol.MustEncode(s.Transcript))
	}
	s.Send("much")
	s.WaitFor("ended", s.ended("much"))
	if len(s.agentText("much")) < 4000*500 {
		t.Errorf("got %d bytes", len(s.agentText("much")))
	}
	var kept []json.RawMessage
	interoptest.Must(t, json.Unmarshal([]byte(readFile(t, f.file)), &kept))
	if len(kept) != 4 {
		t.Errorf("the server stores %d messages", len(kept))
	}
}

// SC-26, SC-29, SC-47: during a turn the third-party server fails all requests of the connection,
// one of them awaited. The client resumes and reads the turns it missed.
func TestAThirdPartyServersDefectLosesNothing(t *testing.T) {
	for _, tags := range []string{"chat", "document"} {
		t.Run(tags, func(t *testing.T) { testStreamDefect(t, newThirdPartyServer(t, tags)) })
	}
}

func testStreamDefect(t *testing.T, f *thirdPartyServer) {
	t.Helper()
	s := f.follow(t)
	s.Send("hello")
	s.WaitFor("ended", s.ended("hello"))
	s.Send("hang")
	s.WaitFor("working", func() bool { return s.agentText("hang") == "you said hang" })
	f.run("fail", nil)
	f.run("say", args{"text": " and on"})
	s.WaitFor("resumed", func() bool { return s.agentText("hang") == "you said hang and on" })
	if s.Resets != 0 || s.State.Turn == nil {
		t.Errorf("%d resets, %+v", s.Resets, s.State)
	}
	s.Send("hello again")
	f.run("fail", nil)
	f.run("end", nil) // the client sees neither this end nor the next turn
	s.WaitFor("reconnected", func() bool { return s.Resets == 1 && len(s.Transcript.Turns) == 3 })
	if s.agentText("hang") != "you said hang and on" || s.agentText("hello again") != "you said hello again" ||
		s.agentText("hello") != "you said hello" ||
		s.State.Turn != nil {
		t.Errorf("finally:\n%s\n%s", protocol.MustEncode(s.State), protocol.MustEncode(s.Transcript))
	}
}
