//go:build interop

package sandcastle

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// foreign is a server of theirs, which keeps its history in a file.
type foreign struct {
	*node
	tags, file, addr string
}

func newForeign(t *testing.T, tags string) *foreign {
	f := &foreign{tags: tags, file: filepath.Join(t.TempDir(), "history"), addr: "127.0.0.1:0"}
	f.start(t)
	return f
}

func (f *foreign) start(t *testing.T) {
	t.Helper()
	f.node = newNode(t, "server.mjs", f.addr[strings.LastIndex(f.addr, ":")+1:], f.tags, f.file)
	f.until("listening", func() bool { return f.told["port"] != nil })
	f.addr = "127.0.0.1:" + string(f.told["port"])
}

// sits is a client of ours that follows the session.
func (f *foreign) sits(t *testing.T) *seat {
	t.Helper()
	return sit(t, over(t, f.addr, wsclient.Options{}), "abc")
}

// everyTags runs a test with a server of the document, one of the real system, and one that does not tell its history.
func everyTags(t *testing.T, test func(t *testing.T, f *foreign)) {
	for _, tags := range []string{"document", "chat", "untold"} {
		t.Run(tags, func(t *testing.T) { test(t, newForeign(t, tags)) })
	}
}

func (s *seat) streaming() bool { return s.state.Turn != nil }

// SC-2, SC-6, SC-10 to SC-14, SC-17, SC-19, SC-20, SC-30 to SC-35, SC-46, X-20.
func TestAClientOfOursUsesAServerOfTheirs(t *testing.T) {
	everyTags(t, func(t *testing.T, f *foreign) {
		c := over(t, f.addr, wsclient.Options{})
		if _, err := wsclient.Call[protocol.SnapshotResult](t.Context(), c, protocol.DoSnapshot, "nope", nil); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("a session that is not there: %v", err)
		}
		s := sit(t, c, "abc")
		s.send("hello")
		s.until("over", s.ended("hello"))
		turn := s.turn("hello")
		if turn.Items[0].Text.String() != "you said hello" || turn.Items[1].Tool.Name != "Bash" || turn.Items[1].Text.String() != "a b c" ||
			turn.End.Reason != protocol.ReasonCompleted {
			t.Errorf("the turn was told as %s", protocol.MustEncode(turn))
		}
		s.send("hang")
		s.until("working", s.streaming)
		more := s.send("more")
		if again := s.send("hello"); more.Status != protocol.SendQueued || again.Status != protocol.SendQueued {
			t.Errorf("in mid-turn: %+v, %+v", more, again)
		}
		s.until("queued", func() bool { return len(s.state.Queue) == 2 })
		remove := protocol.QueueRemoveData{MessageID: more.MessageID}
		if r := do[protocol.QueueRemoveResult](t, c, protocol.DoQueueRemove, "abc", remove); !r.Removed {
			t.Error("it was not removed")
		}
		s.until("removed", func() bool { return len(s.state.Queue) == 1 })
		if r := s.interrupt(); !r.Interrupted {
			t.Errorf("interrupt: %+v", r)
		}
		s.until("over", func() bool { return s.ended("hello")() && len(s.story.Turns) == 3 })
		if s.turn("hang").End.Reason != protocol.ReasonInterrupted || len(s.state.Queue) != 0 || s.turn("more") != nil {
			t.Errorf("the session was told as %s", protocol.MustEncode(s.story))
		}
		if r := s.interrupt(); r.Interrupted {
			t.Errorf("interrupt of nothing: %+v", r)
		}
	})
}

// SC-25, SC-28 to SC-30, SC-39 to SC-41: in mid-turn there comes another, on a connection of its own; that it leaves changes nothing.
func TestTwoClientsOfOursShareASessionOfTheirs(t *testing.T) {
	everyTags(t, func(t *testing.T, f *foreign) {
		one := f.sits(t)
		one.send("hello")
		one.until("over", one.ended("hello"))
		one.send("hang")
		f.does("say", args{"text": " and on"})
		two := f.sits(t)
		two.until("caught up", func() bool { return two.said("hang") == "you said hang and on" })
		if told := two.turn("hello") != nil; told == (f.tags == "untold") {
			t.Errorf("history is told: %v", told)
		}
		three := f.sits(t)
		three.until("caught up", func() bool { return three.said("hang") == "you said hang and on" })
		f.does("say", args{"text": " and on"})
		for _, s := range []*seat{one, two, three} {
			s.until("live", func() bool { return s.said("hang") == "you said hang and on and on" })
		}
		two.leave()
		three.leave()
		f.until("left", func() bool { return string(f.told["streams"]) == "1" })
		f.does("say", args{"text": " to the end"})
		one.until("live", func() bool { return one.said("hang") == "you said hang and on and on to the end" })
		if one.state.Turn == nil {
			t.Errorf("that somebody left ended the turn: %+v", one.state.Last)
		}
	})
}

// SC-46, SC-27.
func TestMuchOfTheirsArrivesWhole(t *testing.T) {
	f := newForeign(t, "document")
	s := f.sits(t)
	s.send("much")
	s.until("over", s.ended("much"))
	if got := s.said("much"); len(got) != len("you said much")+4000*500 || !strings.HasPrefix(got, "you said much0 xxx") {
		t.Errorf("%d bytes came", len(got))
	}
}

// SC-49: one who comes in late learns what waits, and decides.
func TestAClientOfOursDecidesOnAServerOfTheirs(t *testing.T) {
	f := newForeign(t, "chat")
	one := f.sits(t)
	one.send("ask")
	one.until("asked", func() bool { return len(one.state.Approvals) == 1 })
	two := f.sits(t)
	two.until("asked", func() bool { return len(two.state.Approvals) == 1 })
	a := two.state.Approvals[0]
	if a.Command != "rm -rf build" || a.Kind != protocol.ApproveCommand {
		t.Errorf("asked %+v", a)
	}
	decide := protocol.ApproveData{Request: a.Request, Decision: protocol.AllowAlways}
	if _, err := wsclient.Call[protocol.ApproveResult](t.Context(), two.client, protocol.DoApprove, "abc", decide); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("always: %v", err)
	}
	decide.Decision = protocol.AllowOnce
	do[protocol.ApproveResult](t, two.client, protocol.DoApprove, "abc", decide)
	for _, s := range []*seat{one, two} {
		s.until("over", s.ended("ask"))
		tool := s.turn("ask").Items[1].Tool
		if len(s.state.Approvals) != 0 || tool.End == nil || tool.End.Status != protocol.ToolCompleted {
			t.Errorf("%+v, %s", s.state.Approvals, protocol.MustEncode(s.story))
		}
	}
	_, err := wsclient.Call[protocol.ApproveResult](t.Context(), one.client, protocol.DoApprove, "abc", decide)
	if protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("decided twice: %v", err)
	}
}

// SC-26, SC-28, SC-29, SC-39: their server dies in mid-turn and comes back with the turns that had ended. Our client is there by
// itself, and goes on.
func TestAServerOfTheirsDiesAndComesBack(t *testing.T) {
	for _, tags := range []string{"chat", "document"} {
		t.Run(tags, func(t *testing.T) { diesAndComesBack(t, newForeign(t, tags)) })
	}
}

func diesAndComesBack(t *testing.T, f *foreign) {
	t.Helper()
	s := f.sits(t)
	s.send("hello")
	s.until("over", s.ended("hello"))
	s.send("hang")
	s.until("working", func() bool { return s.said("hang") == "you said hang" })
	f.kill()
	f.start(t)
	s.until("back", func() bool { return s.resets == 1 })
	if s.state.Turn != nil || s.turn("hang") != nil || s.said("hello") != "you said hello" {
		t.Errorf("after the restart:\n%s\n%s", protocol.MustEncode(s.state), protocol.MustEncode(s.story))
	}
	s.send("much")
	s.until("over", s.ended("much"))
	if len(s.said("much")) < 4000*500 {
		t.Errorf("%d bytes came", len(s.said("much")))
	}
	var kept []json.RawMessage
	must(t, json.Unmarshal([]byte(readFile(t, f.file)), &kept))
	if len(kept) != 4 {
		t.Errorf("their server keeps %d messages", len(kept))
	}
}

// SC-26, SC-29, SC-47: their server breaks everything off that a connection asked, in mid-turn, beside an answer that is awaited.
// Our client goes on where it was, and learns of the turns that it missed.
func TestADefectOfTheirsCostsOurClientNothing(t *testing.T) {
	for _, tags := range []string{"chat", "document"} {
		t.Run(tags, func(t *testing.T) { breaksOff(t, newForeign(t, tags)) })
	}
}

func breaksOff(t *testing.T, f *foreign) {
	t.Helper()
	s := f.sits(t)
	s.send("hello")
	s.until("over", s.ended("hello"))
	s.send("hang")
	s.until("working", func() bool { return s.said("hang") == "you said hang" })
	f.does("fail", nil)
	f.does("say", args{"text": " and on"})
	s.until("on again", func() bool { return s.said("hang") == "you said hang and on" })
	if s.resets != 0 || s.state.Turn == nil {
		t.Errorf("%d resets, %+v", s.resets, s.state)
	}
	s.send("hello again")
	f.does("fail", nil)
	f.does("end", nil) // unseen, as is the turn after it
	s.until("back", func() bool { return s.resets == 1 && len(s.story.Turns) == 3 })
	if s.said("hang") != "you said hang and on" || s.said("hello again") != "you said hello again" || s.said("hello") != "you said hello" || s.state.Turn != nil {
		t.Errorf("in the end:\n%s\n%s", protocol.MustEncode(s.state), protocol.MustEncode(s.story))
	}
}
