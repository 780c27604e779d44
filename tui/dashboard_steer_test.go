package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/dashboard"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

func TestWordsNarrowTheDeskDown(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.press("/")
	b.write("Doc")
	b.shows("filter “Doc”", "docs")
	b.hides("release")
	b.write("x")
	b.shows("no session matches the filter")
	b.press("backspace", "enter")
	b.shows("filter “Doc”")
	b.tell(protocol.Summary{Session: "s9", Name: "docs-2", Status: protocol.Idle, Updated: tuitest.Start}, protocol.Summary{Session: "s8", Name: "other", Status: protocol.Idle})
	b.shows("docs-2")
	b.hides("other")
	b.press("esc")
	b.shows("release", "other")
	b.press("/")
	b.write("docs")
	b.press("esc")
	b.shows("release")
}

func TestTheDeskIsSortedAsThePersonWants(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	first := func() string { return b.p.dashboard.List().At(0).Name }
	for _, want := range []struct{ by, first string }{{"need", "release"}, {"activity", "fix-tests"}, {"name", "docs"}, {"agent", "docs"}, {"context", "fix-tests"}, {"need", "release"}} {
		b.shows("by " + want.by)
		if got := first(); got != want.first {
			t.Errorf("by %s %s comes first, want %s", want.by, got, want.first)
		}
		b.press("s")
	}
}

func TestTheDeskFollowsChanges(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.press("down", "down")
	chosen := b.p.dashboard.Selected()
	asked := tuitest.Start
	b.tell(protocol.Summary{Session: "s3", Deleted: true},
		protocol.Summary{Session: "s1", Name: "docs", Status: protocol.Waiting, Approvals: 2, Asked: &asked, Updated: tuitest.Start})
	b.shows("sessions · 4", "2 approvals 1m00s")
	b.hides("release")
	if b.p.dashboard.Selected() != chosen {
		t.Error("what was chosen is not any more")
	}
	b.give(dashboard.SummariesMsg{{Err: errors.New("no route")}})
	b.shows("no route")
}

func TestWhatWaitsTicks(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.shows("approval 4m00s")
	b.now = b.now.Add(7 * time.Second)
	b.tick()
	b.shows("approval 4m07s")
	b.tell(protocol.Summary{Session: "s3", Deleted: true})
	if !b.tick() {
		t.Error("the clock stands still")
	}
	if b.tick() {
		t.Error("a clock runs that nobody sees")
	}
}

func TestASessionIsCreatedAndOpened(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	var asked []protocol.CreateData
	refused := true
	b.port.create = func(d protocol.CreateData) (protocol.CreateResult, error) {
		asked = append(asked, d)
		if refused {
			return protocol.CreateResult{}, &protocol.Error{Code: protocol.CodeNameTaken, Message: "the name is taken"}
		}
		return protocol.CreateResult{Session: "s77"}, nil
	}
	b.press("n")
	b.shows("new session", "→: claude, gemini", "/home/ada")
	b.write("fix")
	b.press("tab", "right", "right", "left", "tab", "tab")
	b.write("Fix it")
	b.press("enter")
	b.shows("the name is taken", "Fix it")
	refused = false
	b.press("up", "up", "up")
	b.give(tea.PasteMsg{Content: "-2\x1b[2J"})
	b.press("enter")
	want := protocol.CreateData{Name: "fix-2", Agent: "claude", CWD: "/home/ada", Prompt: "Fix it", ClientMessageID: "client-m1"}
	if len(asked) != 2 || fmt.Sprint(asked[1]) != fmt.Sprint(want) {
		t.Errorf("asked for %+v, want %+v", asked, want)
	}
	if b.p.sessions.shown == nil || b.p.sessions.shown.id != "s77" {
		t.Error("the answer does not open it")
	}
}

func TestTheEmptyDeskSaysWhatToDo(t *testing.T) {
	b := newTable(t, 80, 24)
	b.shows("There is no session yet", "n creates one", "agentctl new")
	b.press("enter", "y", "X", "R", "space", "down", "f8")
	b.press("n")
	b.shows("new session")
}

func TestASessionIsRenamedAndEnded(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.asks()
	last := func() string {
		_, asked := b.port.told()
		if len(asked) == 0 {
			return ""
		}
		return asked[len(asked)-1]
	}
	data := func(session string) any { c := b.port.sessions[session].Commands(); return c[len(c)-1].Data }
	b.press("R")
	b.write("-2")
	b.press("enter")
	if got := *data("s3").(protocol.RenameData).Name; last() != "s3 rename" || got != "release-2" {
		t.Errorf("asked %s with %q", last(), got)
	}
	b.press("down", "X")
	b.shows("close fix-tests?", "c close", "D delete")
	b.press("x", "enter", "esc")
	b.hides("close fix-tests?")
	if last() != "s3 rename" {
		t.Errorf("asked %s without an answer", last())
	}
	b.press("X", "c")
	if got := data("s2").(protocol.CloseData); last() != "s2 close" || got.Delete {
		t.Errorf("asked %s with %+v", last(), got)
	}
	b.press("X", "D")
	if got := data("s2").(protocol.CloseData); !got.Delete {
		t.Errorf("asked with %+v", got)
	}
	b.press("end", "X")
	b.hides("c close")
	b.press("c")
	b.shows("close old")
	b.tell(protocol.Summary{Session: "s4", Deleted: true})
	b.hides("close old")
}

func TestARefusalIsToldOnTheDesk(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.port.reply = func(string, tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
	b.press("X", "c")
	b.shows(tuitest.ErrRefused.Message)
	b.press("R", "enter")
	b.shows("rename release", tuitest.ErrRefused.Message)
	b.press("esc", "y")
	b.shows(tuitest.ErrRefused.Message)
}

func TestAnApprovalIsDecidedOnTheDesk(t *testing.T) {
	for key, want := range map[string]string{"y": "once", "d": "no"} {
		b := newTable(t, 90, 24, fleetOfFive()...)
		b.asks(tuitest.CommandApproval())
		b.press(key)
		b.shows("approval · release · command", "$ go mod tidy", "in /home/ada/store", "a moment …")
		b.press(key, key)
		if got := b.port.sessions["s3"].Commands(); len(got) != 1 {
			t.Fatalf("decided by keys that were in flight: %+v", got)
		}
		b.now = b.now.Add(approval.Grace * 3 / 4)
		b.press(key) // starts the silence anew
		b.now = b.now.Add(approval.Grace * 3 / 4)
		b.armed()
		b.press(key)
		if got := b.port.sessions["s3"].Commands(); len(got) != 1 {
			t.Fatalf("decided after too short a silence: %+v", got)
		}
		b.now = b.now.Add(2 * approval.Grace)
		b.armed()
		b.shows("y allow once", "d deny")
		b.press("v")
		b.shows("go mod tidy", "esc back")
		b.press("q", key)
		c := b.port.sessions["s3"].Commands()
		if got, ok := c[len(c)-1].Data.(protocol.ApproveData); !ok || got.Request != "r1" || got.Option != want {
			t.Errorf("%s decided %+v, want option %s", key, c, want)
		}
		b.hides("$ go mod tidy")
	}
}

func TestADecisionUnderWayOnTheDeskCannotBeRepeated(t *testing.T) {
	b := newTable(t, 90, 24, fleetOfFive()...)
	b.asks(tuitest.CommandApproval())
	b.press("y")
	b.now = b.now.Add(2 * approval.Grace)
	b.armed()
	_, cmd := b.p.Update(tuitest.KeyPress("y"))
	b.shows("sending: Allow once …")
	b.press("d", "y", "v")
	b.shows("sending: Allow once …")
	b.run(cmd)
	decided := 0
	for _, c := range b.port.sessions["s3"].Commands() {
		if d, ok := c.Data.(protocol.ApproveData); ok {
			if decided++; d.Option != "once" {
				t.Errorf("decided %+v", d)
			}
		}
	}
	if decided != 1 {
		t.Errorf("decided %d times", decided)
	}
	b.hides("$ go mod tidy")
}

func TestTheDeskAllowsNothingThatItHadNoRoomToShow(t *testing.T) {
	b := newTable(t, 60, 5, fleetOfFive()...)
	b.asks(tuitest.CommandApproval())
	b.press("y")
	b.now = b.now.Add(2 * approval.Grace)
	b.armed()
	before := len(b.port.sessions["s3"].Commands())
	b.press("y")
	b.shows("in /home/ada/store", "esc back")
	if got := b.port.sessions["s3"].Commands()[before:]; len(got) > 0 {
		t.Errorf("decided %+v", got)
	}
}

func TestWhoWasFirstIsToldOnTheDesk(t *testing.T) {
	b := newTable(t, 120, 24, fleetOfFive()...)
	b.asks(tuitest.CommandApproval())
	b.press("y")
	b.now = b.now.Add(2 * approval.Grace)
	b.armed()
	b.port.reply = func(string, tuitest.Command) (any, error) {
		return nil, &protocol.Error{Code: protocol.CodeConflict, Message: "too late", Winner: &protocol.Winner{By: tuitest.Bob}}
	}
	b.press("y")
	b.shows("too late · decided by bob")
	b.tell(protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start})
	b.hides("$ go mod tidy")
	b.shows("decided meanwhile")
}

func TestWhatTakesMoreThanAYesOpensItsSession(t *testing.T) {
	for name, pending := range map[string][]protocol.Approval{
		"a question": {{Request: "r", Kind: protocol.ApproveQuestion, Questions: []protocol.Question{{ID: "q", Text: "?"}}}},
		"a plan":     {{Request: "r", Kind: protocol.ApprovePlan, Tasks: []protocol.Task{{ID: "t"}}}},
		"several":    {tuitest.CommandApproval(), tuitest.CommandApproval()},
	} {
		b := newTable(t, 90, 24, fleetOfFive()...)
		b.asks(pending...)
		b.press("y")
		if b.p.sessions.shown == nil || b.p.sessions.shown.id != "s3" {
			t.Errorf("%s does not open the session", name)
		}
	}
	b := newTable(t, 90, 24, fleetOfFive()...)
	several := fleetOfFive()[2]
	several.Approvals = 2
	b.tell(several)
	b.press("d")
	if b.p.sessions.shown == nil {
		t.Error("two approvals do not open the session")
	}
	b = newTable(t, 90, 24, fleetOfFive()...)
	b.asks()
	b.press("y")
	b.shows("decided meanwhile")
	b.press("down", "y")
	b.shows("fix-tests has no request")
}

func TestThePreviewLooksOnceAndAgainAfterAChange(t *testing.T) {
	b := newTable(t, 140, 30, fleetOfFive()...)
	b.asks()
	looks := func() int { looked, _ := b.port.told(); return len(looked) }
	b.press("space")
	b.shows("preview · release", "hundred runs pass now", "Push the tags.", "They are right.", "Tidy the module", "+1 queued message")
	if looked, asked := b.port.told(); len(looked) != 1 || !slices.Equal(asked, []string{"s3 history"}) {
		t.Errorf("looked %v, asked %v", looked, asked)
	}
	changed := fleetOfFive()[2]
	b.tell(changed)
	changed.Seq = 7
	b.tell(changed)
	if looks() != 1 {
		t.Error("looked for nothing, and too soon")
	}
	b.now = b.now.Add(500 * time.Millisecond)
	b.tell(changed)
	if looked, asked := b.port.told(); len(looked) != 2 || len(asked) != 1 {
		t.Errorf("looked %v, asked %v: the last turn is known", looked, asked)
	}
	b.press("down")
	b.shows("preview · fix-tests")
	if got, _ := b.port.told(); !slices.Equal(got, []string{"s3", "s3", "s2"}) {
		t.Errorf("looked %v", got)
	}
	b.now = b.now.Add(2 * time.Second)
	b.give(struct{}{})
	if looks() != 4 {
		t.Error("a turn that runs is not looked at again")
	}
	b.press("space", "down")
	if looks() != 4 {
		t.Error("looked for a preview that is not there")
	}
	if got := b.port.subscribed(); len(got) != 0 {
		t.Errorf("still subscribed to %v", got)
	}
}

func TestThePreviewSaysWhyThereIsNone(t *testing.T) {
	b := newTable(t, 80, 24, fleetOfFive()...)
	b.port.script = func(string) *tuitest.Journal {
		j := &tuitest.Journal{}
		j.Conn(remote.Conn{State: remote.Offline, Reason: "no such session"})
		return j
	}
	b.press("space")
	b.shows("no such session")
	b.asks()
	b.give(dashboard.ConnMsg{State: remote.Connected})
	b.shows("They are right.")
}

func TestThePreviewOfASubscribedSessionIsLive(t *testing.T) {
	b := newTable(t, 140, 30, fleetOfFive()...)
	b.press("enter")
	o := b.p.sessions.shown
	b.press("f2", "space")
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "question")
	j.Text("t", "the answer so far")
	j.CaughtUp()
	b.give(task.Message{To: o, Msg: j.Take()})
	b.shows("preview · release", "the answer so far")
	if looked, _ := b.port.told(); len(looked) > 1 {
		t.Errorf("looked %v", looked)
	}
}

func TestThePreviewIsTheEndWhereverTheReaderIs(t *testing.T) {
	b := newTable(t, 140, 30, fleetOfFive()...)
	b.press("enter")
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "the question")
	for i := range 60 {
		j.Text(fmt.Sprint("t", i), fmt.Sprintf("line %d of the answer", i))
	}
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	b.give(task.Message{To: b.p.sessions.shown, Msg: j.Take()})
	b.press("pgup")
	b.hides("line 59 of the answer")
	b.press("f2", "space")
	b.shows("line 59 of the answer")
	b.press("enter")
	b.hides("line 59 of the answer")
}

func TestF8GoesRoundThoseWhoNeedSomebodyAndBack(t *testing.T) {
	for _, from := range []string{"", "at once", "s1"} {
		b := newTable(t, 90, 16, fleetOfFive()...)
		held := protocol.Summary{Session: "s6", Name: "held", Status: protocol.Idle, Updated: tuitest.Start, Queue: 1, Held: true}
		b.tell(held)
		if from == "" {
			b.press("down", "down")
		}
		chosen := b.p.dashboard.Selected()
		if from == "at once" {
			from = ""
		}
		if from != "" {
			b.run(b.p.open(from))
		}
		home := b.p.sessions.find(from)
		for _, want := range []string{"s3", "s6", "s5xyz789"} {
			b.press("f8")
			if b.p.sessions.shown == nil || b.p.sessions.shown.id != want {
				t.Fatalf("from %q: shows %+v, want %s", from, b.p.sessions.shown, want)
			}
		}
		b.press("f8")
		switch {
		case from == "" && (b.p.sessions.shown != nil || b.p.dashboard.Selected() != chosen):
			t.Error("it does not come back to all sessions as they were")
		case from != "" && (b.p.sessions.shown == nil || b.p.sessions.shown.id != from):
			t.Errorf("it does not come back to %s", from)
		}
		b.shows("no other session needs you")
		if from != "" && b.p.sessions.shown != home {
			t.Error("where it came from was given up meanwhile")
		}
		if b.p.dashboard.List().Need("s5xyz789") != 0 {
			t.Error("a failure that was seen is told again")
		}
	}
}

func TestAnAdHocAgentShowsAsItsProgram(t *testing.T) {
	for agent, want := range map[string]string{
		"claude": "claude", "script:/home/ada/work.script": "work.script", "acp:/usr/bin/my-agent --acp": "my-agent", "acp:": "",
	} {
		if got := describe.Agent(agent); got != want {
			t.Errorf("%q shows as %q, want %q", agent, got, want)
		}
	}
}

func TestTheMouseChoosesAndOpens(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.p.mouse = true
	click := func(x, y int) { b.give(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(3, 2)
	if got := b.p.dashboard.Selected(); got != "s2" {
		t.Errorf("chose %s", got)
	}
	click(3, 0)
	click(3, 12)
	b.give(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := b.p.dashboard.Selected(); got != "s4" {
		t.Errorf("the wheel chose %s", got)
	}
	click(3, 2)
	click(3, 2)
	if b.p.sessions.shown == nil || b.p.sessions.shown.id != "s2" {
		t.Error("a click on what is chosen does not open it")
	}
}

func TestASessionThatIsGoneIsReadUntilItIsLeft(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.press("enter")
	b.tell(protocol.Summary{Session: "s3", Deleted: true})
	if b.p.sessions.shown == nil {
		t.Fatal("it went away under the reader's eyes")
	}
	b.press("f2")
	if len(b.p.sessions.all) != 0 {
		t.Error("it is still subscribed")
	}
	b.press("esc")
	if b.p.sessions.shown != nil {
		t.Error("it comes back")
	}
}

func TestTheOneThatWasNotShownForLongestIsGivenUp(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	var open []string
	for _, c := range []struct{ enter, open string }{
		{"s1", "s1"}, {"s2", "s2 s1"}, {"s3", "s3 s2 s1"}, {"s1", "s1 s3 s2"}, {"s1", "s1 s3 s2"}, {"s4", "s4 s1 s3"}, {"s2", "s2 s4 s1"},
	} {
		b.run(b.p.open(c.enter))
		open = open[:0]
		for _, o := range b.p.sessions.all {
			open = append(open, o.id)
			if o.view.Hidden() != (o != b.p.sessions.shown) {
				t.Errorf("%s is hidden: %v", o.id, o.view.Hidden())
			}
		}
		if got := strings.Join(open, " "); got != c.open || b.p.sessions.shown.id != c.enter || b.p.dashboard.Selected() != c.enter {
			t.Errorf("after %s open are %s, want %s", c.enter, got, c.open)
		}
	}
}

func TestAsManyAsWantedStaySubscribed(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	if p := testBuilder(t.Context(), Options{Keep: 5}, nil, nil).dashboard(b.port, ""); p.sessions.keep != 5 {
		t.Errorf("keeps %d", p.sessions.keep)
	}
	b.p.sessions.keep = 1
	for _, id := range []string{"s1", "s2", "s3"} {
		b.run(b.p.open(id))
	}
	if len(b.p.sessions.all) != 1 || b.p.sessions.all[0].id != "s3" {
		t.Errorf("%d are open", len(b.p.sessions.all))
	}
}

func TestTheDeskHasItsHelp(t *testing.T) {
	b := newTable(t, 90, 60, fleetOfFive()...)
	b.press("?")
	b.shows(" Sessions\n", "allow the pending request once")
	b.press("q")
	b.shows("release")
}

func TestTheLinkShowsOnTheDesk(t *testing.T) {
	b := newTable(t, 90, 16, fleetOfFive()...)
	b.give(dashboard.ConnMsg{State: remote.Reconnecting, Retry: b.now.Add(3 * time.Second)})
	b.shows("reconnecting in 3s")
	b.press("f5")
	if b.hides("reconnecting"); b.port.retries != 1 {
		t.Errorf("tried %d times again", b.port.retries)
	}
	b.give(dashboard.ConnMsg{State: remote.Offline, Reason: "forbidden\x1b[2J, says the server"})
	b.shows("offline: forbidden")
	b.give(dashboard.ConnMsg{State: remote.Connected})
	b.hides("offline")
}

// What a change costs does not depend on how many sessions there are.
func TestTenThousandSessionsCostNoMoreThanTheScreen(t *testing.T) {
	cost := func(n int) float64 {
		b := newTable(t, 120, 40)
		session := func(i int) protocol.Summary {
			at := tuitest.Start.Add(time.Duration(i) * time.Second)
			s := protocol.Summary{Session: fmt.Sprintf("s%05d", i), Name: fmt.Sprint("session ", i), Agent: "gemini", Status: protocol.Running, Turn: "t", Updated: at}
			if i%3 == 0 {
				s.Status, s.Asked, s.Approvals = protocol.Waiting, &at, 1
			}
			return s
		}
		all := make([]protocol.Summary, n)
		for i := range all {
			all[i] = session(i)
		}
		b.tell(all...)
		i := 0
		return testing.AllocsPerRun(50, func() {
			i++
			s := session(i * 7 % n)
			s.Updated = s.Updated.Add(time.Hour)
			b.tell(s)
			b.press("down")
		})
	}
	few, many := cost(100), cost(10_000)
	if many > few*1.2 {
		t.Errorf("a change makes %v allocations with 10,000 sessions, %v with 100", many, few)
	}
}

func TestHostileTextNeverLeavesTheDesk(t *testing.T) {
	evil := "\x1b[2J\x1b]0;owned\a\u009b\u202e"
	b := newTable(t, 140, 30, protocol.Summary{
		Session: "s1" + evil, Name: "n" + evil, Title: "t" + evil, Agent: "a" + evil, CWD: "/" + evil, Doing: "d" + evil, Status: protocol.Waiting, Approvals: 1,
	})
	hostile := tuitest.CommandApproval()
	hostile.Title, hostile.Command = "x"+evil, "y"+evil
	b.asks(hostile)
	for _, key := range []string{"", "space", "y", "v", "q", "esc", "X", "esc", "R", "esc", "/"} {
		if key != "" {
			b.press(key)
		}
		view := b.p.View()
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\u009b", "\a", "\u202e"} {
			if strings.Contains(view.Content+view.WindowTitle, bad) {
				t.Fatalf("after %q the screen holds %q", key, bad)
			}
		}
	}
}

func TestWhateverTheFleetIsTheDeskFits(t *testing.T) {
	keys := rapid.SampledFrom([]string{
		"up", "down", "home", "end", "pgdown", "/", "s", "space", "n", "R", "X", "D", "c", "y", "d", "v", "?", "esc", "esc", "enter", "f2", "f8", "tab", "right", "x", "漢", "backspace",
	})
	words := rapid.SampledFrom([]string{"", "a", "b\x1b[2J", "漢字", "👩‍🚀", "x\ny", "\u202ez", strings.Repeat("long ", 30)})
	rapid.Check(t, func(rt *rapid.T) {
		b := newTable(t, 60, 16)
		b.asks(tuitest.CommandApproval())
		width, height := 60, 16
		rt.Repeat(map[string]func(*rapid.T){
			"session": func(rt *rapid.T) {
				s := protocol.Summary{
					Session: rapid.SampledFrom([]string{"s1", "s2", "s3", "s4\x1b[2J"}).Draw(rt, "session"), Name: words.Draw(rt, "name"), Title: words.Draw(rt, "title"),
					Agent: words.Draw(rt, "agent"), CWD: words.Draw(rt, "cwd"), Doing: words.Draw(rt, "doing"), Reason: protocol.Reason(words.Draw(rt, "reason")),
					Status: rapid.SampledFrom([]protocol.Status{protocol.Idle, protocol.Running, protocol.Waiting, protocol.Closed, "odd"}).Draw(rt, "status"),
					Queue:  rapid.IntRange(0, 2).Draw(rt, "queue"), Approvals: rapid.IntRange(0, 2).Draw(rt, "approvals"), Held: rapid.Bool().Draw(rt, "held"),
					Percent: rapid.Float64Range(-10, 1e9).Draw(rt, "percent"), Seq: uint64(rapid.IntRange(0, 5).Draw(rt, "seq")), Deleted: rapid.IntRange(0, 4).Draw(rt, "deleted") == 0,
				}
				b.tell(s)
			},
			"key":   func(rt *rapid.T) { b.press(keys.Draw(rt, "key")) },
			"paste": func(*rapid.T) { b.give(tea.PasteMsg{Content: "a\nb\x1b[2J"}) },
			"quiet": func(*rapid.T) {
				b.now = b.now.Add(3 * time.Second)
				b.armed()
			},
			"size": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 150).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				b.give(tea.WindowSizeMsg{Width: width, Height: height})
			},
			"": func(rt *rapid.T) {
				content := b.p.View().Content
				lines := strings.Split(content, "\n")
				if len(lines) > height {
					rt.Fatalf("%d rows of %d", len(lines), height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						rt.Fatalf("a line of %d cells in %d: %q", ansi.StringWidth(line), width, line)
					}
				}
				if bare := ansi.Strip(content); strings.ContainsAny(bare, "\x1b\u202e\u009b") || strings.Contains(content, "\x1b[2J") {
					rt.Fatalf("a control sequence is on the screen: %q", content)
				}
				if got := b.p.dashboard.Selected(); b.p.sessions.shown == nil && got != "" && b.p.dashboard.List().Index(got) < 0 {
					rt.Fatalf("%q is selected, which is not listed", got)
				}
			},
		})
	})
}

func TestAnOutageSaysWhatWouldHelpOnTheDashboard(t *testing.T) {
	b := newTable(t, 100, 12)
	b.give(dashboard.ConnMsg{State: remote.Reconnecting, Attempt: 2, Advice: "start one with: agentctl serve"})
	b.shows("F5 tries again now · start one with: agentctl serve")
}

func TestAPreviewListsThePlanThatItHasNoPanelFor(t *testing.T) {
	b := newTable(t, 140, 40, fleetOfFive()...)
	b.port.script = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} } // it is told later
	b.press("enter")
	b.give(task.Message{To: b.p.sessions.shown, Msg: remote.Updates(tuitest.Scenes["pipeline"]().Take())})
	b.shows("plan · 1 of 4 done · tab", "· Sum up")
	b.press("f2", "space")
	b.shows("preview", "· Sum up")
	b.press("enter")
	if n := strings.Count(b.text(), "· Sum up"); n != 1 {
		t.Errorf("it is listed %d times:\n%s", n, b.text())
	}
}

func TestKeysBeforeTheSizeOfTheTerminalBreakNothingOnTheDashboard(t *testing.T) {
	for _, key := range []string{"f1", "f7", "ctrl+f", "n", "/", "R", "X", "space"} {
		b := newTable(t, 80, 24, fleetOfFive()...)
		b.p.dashboard.Update(tea.WindowSizeMsg{})
		b.press(key)
	}
}
