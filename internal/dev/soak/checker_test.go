package soak

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A history is the log of one session, and the turns that a test puts into it.
type history struct {
	events []*protocol.Event
}

func (h *history) add(turn string, typ protocol.Type, data any) {
	h.events = append(h.events, &protocol.Event{
		Seq: uint64(len(h.events) + 1), Session: "s", Turn: turn, Type: typ, Time: time.Unix(1, 0).UTC(),
		Data: protocol.MustEncode(data),
	})
}

// addTurn adds a turn of a message that writes the text, with a request.
func (h *history) addTurn(message, text string, reason protocol.Reason) {
	turn := "t" + message
	request := "r" + message
	h.add(turn, protocol.MessageUser, protocol.MessageUserData{
		Message: protocol.Message{MessageID: message, Text: message},
	})
	h.add(turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: message})
	h.add(turn, protocol.ApprovalRequested, protocol.Approval{Request: request, Kind: protocol.ApproveCommand})
	h.add(turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed})
	h.add(turn, protocol.TextStart, protocol.PartStartData{Part: "p" + message})
	for word := range strings.SplitAfterSeq(text, " ") {
		h.add(turn, protocol.TextDelta, protocol.PartDeltaData{Part: "p" + message, Text: word})
	}
	h.add(turn, protocol.TextEnd, protocol.PartEndData{Part: "p" + message})
	h.add(turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
}

// textOf returns what the agent writes for a message.
func textOf(message string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s> ", message)
	for i := range turnDeltas {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String() + "end"
}

func newHistory() *history {
	h := &history{}
	h.addTurn("work k1.1", textOf("work k1.1"), protocol.ReasonCompleted)
	h.addTurn("work k1.2", "<work k1.2> 0 1 2", protocol.ReasonError)
	h.addTurn("work k2.1", textOf("work k2.1"), protocol.ReasonCompleted)
	return h
}

func item(e *protocol.Event) wsclient.Item { return wsclient.Item{Event: e, Raw: e.AppendJSON(nil)} }

func attachment(mode string, epoch string, seq uint64) wsclient.Item {
	return wsclient.Item{Attached: &protocol.SubscribeResult{
		Session: "s", Mode: mode, After: protocol.Position{Epoch: epoch, Seq: seq},
	}}
}

// play lets a client get the events, with one lost connection after the tenth.
func (h *history) play(f *follower, tamper func([]wsclient.Item) []wsclient.Item) {
	items := []wsclient.Item{attachment(protocol.ModeResume, "e", 0)}
	for i, e := range h.events {
		if i == 10 {
			items = append(items, attachment(protocol.ModeResume, "e", 10))
		}
		items = append(items, item(e))
	}
	for _, it := range tamper(items) {
		f.handle(it)
	}
}

// audit reads the log.
func (h *history) audit(t *testing.T, c *checker) {
	t.Helper()
	r := c.readLog("s")
	for _, e := range h.events {
		if err := r.apply(e, e.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
	}
	r.finish()
}

// changed returns the event with another text.
func changed(it wsclient.Item, text string) wsclient.Item {
	if it.Event == nil || it.Event.Type != protocol.TextDelta {
		return it
	}
	e := *it.Event
	e.Data = protocol.MustEncode(protocol.PartDeltaData{Part: "pwork k1.1", Text: text})
	return item(&e)
}

// The checker reports each fault with the session, the client and the seq, and nothing without one.
func TestTheCheckerFindsWhatAClientMustNotSee(t *testing.T) {
	type items = []wsclient.Item
	keep := func(list items) items { return list }
	for _, test := range []struct {
		name   string
		native bool
		tamper func(items) items
		want   string // the first violation
	}{
		{"no fault", true, keep, ""},
		{"no fault in a dialect", false, keep, ""},
		{
			"a lost event", true, func(l items) items { return append(l[:7:7], l[8:]...) },
			"session s, client k9, seq 7: gap: the next event is 8..8",
		},
		{
			"a repeated event", true, func(l items) items { return append(l[:8:8], l[7:]...) },
			"session s, client k9, seq 7: repeat: 7..7 after 7",
		},
		{
			"a gap over a lost connection", true, func(l items) items { return append(l[:10:10], l[11:]...) },
			"session s, client k9, seq 9: at e:9, attached again with resume  after e:10",
		},
		{
			"another epoch", true, func(l items) items { l[11] = attachment(protocol.ModeResume, "f", 10); return l },
			"session s, client k9, seq 10: at e:10, attached again with resume  after f:10",
		},
		{
			"a reset", true, func(l items) items { l[11] = attachment(protocol.ModeReset, "e", 10); return l },
			"session s, client k9, seq 10: at e:10, attached again with reset  after e:10",
		},
		{
			"another event than others", true, func(l items) items { l[7] = changed(l[7], "other "); return l },
			"session s, client k9, seq 7: differs from the event of others",
		},
		{
			"a text that changed in a dialect", false, func(l items) items { l[9] = changed(l[9], "other "); return l },
			"session s, client k9, seq 30: turn of message k1.1, completed: the text is",
		},
		{
			"a text whose end is lost in a dialect", false, func(l items) items {
				for i := range l[:20] { // up to the words before the end
					l[29-i] = changed(l[29-i], "")
				}
				return l
			},
			"session s, client k9, seq 30: turn of message k1.1, completed: its text lacks the end",
		},
		{
			"a turn that comes again in a dialect", false, func(l items) items {
				return append(append(l, attachment(protocol.ModeReset, "g", 0)), l[1:]...)
			},
			"session s, client k9, seq 30: repeat: the turn of message k1.1 ended before",
		},
		{
			"an event after the log's end", true, func(l items) items {
				e := *l[len(l)-1].Event
				e.Seq++
				return append(l, item(&e))
			},
			"session s, seq ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, c := newHistory(), newChecker()
			h.play(newFollower(c, "k8", "s", true), keep)
			h.play(newFollower(c, "k9", "s", test.native), test.tamper)
			h.audit(t, c)
			checkFirst(t, c, test.want)
		})
	}
}

func checkFirst(t *testing.T, c *checker, want string) {
	t.Helper()
	switch got := c.violations; {
	case want == "" && len(got) > 0:
		t.Errorf("found %v", got)
	case want != "" && len(got) == 0:
		t.Errorf("found nothing, want %s", want)
	case want != "" && !strings.HasPrefix(got[0].String(), want):
		t.Errorf("found %v first, want %s", got[0], want)
	}
}

func TestTheCheckerFindsAnswersThatTheLogContradicts(t *testing.T) {
	for _, test := range []struct {
		name   string
		tamper func(*history, *checker)
		want   string
	}{
		{"no fault", func(*history, *checker) {}, ""},
		{"no answer, no turn", func(_ *history, c *checker) { c.send("s", "k3.1") }, ""},
		{
			"an acknowledged message without a turn",
			func(_ *history, c *checker) { c.send("s", "k3.1"); c.acknowledge("s", "k3.1", "queued") },
			"session s, client k3: message k3.1 was acknowledged with queued and is lost",
		},
		{
			"a command that acts twice",
			func(h *history, _ *checker) { h.addTurn("work k1.1", textOf("work k1.1"), protocol.ReasonCompleted) },
			"session s, seq 76: request rwork k1.1 was decided twice",
		},
		{
			"a message with two turns",
			func(h *history, _ *checker) {
				h.add("t", protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: "work k1.1"}})
			},
			"session s, client k1: message k1.1 has 2 turns",
		},
		{
			"a decision that the log does not have",
			func(_ *history, c *checker) { c.decides("s", "k1", "r", protocol.Allowed) },
			"session s: request r was answered with allowed; the log has no decision",
		},
		{
			"another decision than answered",
			func(_ *history, c *checker) { c.decides("s", "k1", "rwork k1.1", protocol.Denied) },
			"session s: request rwork k1.1 was answered with denied; the log has allowed",
		},
		{
			"two answers to one request",
			func(_ *history, c *checker) {
				c.decides("s", "k1", "rwork k1.1", protocol.Denied)
				c.decides("s", "k2", "rwork k1.1", protocol.Allowed)
			},
			"session s, client k2: request rwork k1.1 was answered with denied and allowed",
		},
		{
			"a gap in the log",
			func(h *history, _ *checker) { h.events = append(h.events[:6:6], h.events[7:]...) },
			"session s, seq 7: the log continues with 8",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, c := newHistory(), newChecker()
			for _, token := range []string{"k1.1", "k1.2", "k2.1"} {
				c.send("s", token)
				c.acknowledge("s", token, "started")
			}
			c.decides("s", "k1", "rwork k1.2", protocol.Allowed)
			test.tamper(h, c)
			h.audit(t, c)
			checkFirst(t, c, test.want)
		})
	}
}

func TestAStateThatDiffersFromTheServersIsFound(t *testing.T) {
	h, c := newHistory(), newChecker()
	f := newFollower(c, "k9", "s", true)
	h.play(f, func(l []wsclient.Item) []wsclient.Item { return l })
	want := &protocol.State{Session: "s"}
	for _, e := range h.events {
		if err := want.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	f.compare(want)
	checkFirst(t, c, "")
	want.Turns++
	f.compare(want)
	checkFirst(t, c, fmt.Sprintf("session s, client k9, seq %d: ends with the state", len(h.events)))
}

func TestTheTextOfATurnIsCompleteABeginningOrWrong(t *testing.T) {
	const complete, beginning, wrong = "complete", "beginning", "wrong"
	whole := textOf("work k1.1")
	asked := func(outcome string) string {
		return strings.TrimSuffix(textOf("ask k1.1"), "end") + outcome + " end"
	}
	for _, test := range []struct{ name, text, want string }{
		{"whole", whole, complete},
		{"whole without white space", strings.ReplaceAll(whole, " ", ""), complete},
		{"asked", asked("yes"), complete},
		{"asked over ACP", asked("selected opt-0-allow_once"), complete},
		{"asked, without the answer", asked(""), wrong},
		{"the beginning", whole[:20], beginning},
		{"the beginning of the first words", "<work ", beginning},
		{"nothing", "", beginning},
		{"crashed", "<crash k1.1> 0 1 2 3 4 5 6", beginning},
		{"more than a crash leaves", "<crash k1.1> 0 1 2 3 4 5 6 7", wrong},
		{"a lost word", strings.Replace(whole, "7 ", "", 1), wrong},
		{"a repeated word", strings.Replace(whole, "7 ", "7 7 ", 1), wrong},
		{"words in another order", strings.Replace(whole, "7 8 ", "8 7 ", 1), wrong},
		{"a lost word in a beginning", "<work k1.1> 0 2 ", wrong},
		{"lost first words", "0 1 2", wrong},
		{"a lost first word", "<k1.1> 0", wrong},
		{"text after the end", whole + " end", wrong},
	} {
		got := beginning
		if ended, err := checkText(test.text); err != nil {
			got = wrong
		} else if ended {
			got = complete
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// A message that was sent into a turn joined it, or starts a turn.
func TestASteeredMessageHasOneTurn(t *testing.T) {
	for name, c := range map[string]struct {
		outcome protocol.SteerOutcome
		turn    bool
		want    int // violations
	}{
		"taken in":              {protocol.SteerTakenIn, false, 0},
		"unknown":               {protocol.SteerUnknown, false, 0},
		"refused":               {protocol.SteerRefused, true, 0},
		"taken in, and a turn":  {protocol.SteerTakenIn, true, 1},
		"refused, without turn": {protocol.SteerRefused, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			h.add("tk1.1", protocol.MessageSteered, protocol.MessageSteeredData{
				Message: protocol.Message{MessageID: "m", Text: "work k3.1"},
			})
			h.add("tk1.1", protocol.MessageResolved, protocol.MessageResolvedData{MessageID: "m", Outcome: c.outcome})
			if c.turn {
				h.addTurn("work k3.1", textOf("work k3.1"), protocol.ReasonCompleted)
			}
			check := newChecker()
			check.acknowledge("s", "k3.1", "steering")
			log := check.readLog("s")
			for _, e := range h.events {
				if err := log.apply(e, e.AppendJSON(nil)); err != nil {
					t.Fatal(err)
				}
			}
			log.finish()
			if len(check.violations) != c.want {
				t.Errorf("%v", check.violations)
			}
		})
	}
}
