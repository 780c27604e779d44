package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// teletype runs Plain in a bubble.
type teletype struct {
	t       *testing.T
	session *tuitest.FakeSession
	journal *tuitest.Journal
	out     *tuitest.Output
	in      *io.PipeWriter
	cancel  func()
	ended   chan error
}

func openPlain(t *testing.T, j *tuitest.Journal) *teletype {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, in := io.Pipe()
	l := &teletype{t: t, session: tuitest.NewFakeSession(), journal: j, out: &tuitest.Output{}, in: in, cancel: cancel, ended: make(chan error, 1)}
	l.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			time.Sleep(time.Second) // what is live waits for it
			return tuitest.HistoryPage(1, 2, false), nil
		}
		return nil, nil
	}
	go func() { l.ended <- runPlain(ctx, l.session, l.out, keys, time.UTC) }()
	l.tell()
	return l
}

func (l *teletype) tell() {
	for _, u := range l.journal.Take() {
		l.session.Feed <- u
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

func (l *teletype) write(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, text+"\n"); err != nil {
		l.t.Error(err)
	}
	synctest.Wait()
}

func (l *teletype) close() error {
	l.cancel()
	err := <-l.ended
	_ = l.in.Close() // never fails
	return err
}

func TestPlainTellsRecentTurnsThenWhatHappens(t *testing.T) {
	for _, name := range []string{"approval", "question", "queue", "decided", "reconnecting", "offline", "back", "patch", "tasks to confirm", "plan"} {
		t.Run("plain_"+strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := openPlain(t, tuitest.Scenes[name]())
				if err := l.close(); err != nil {
					t.Error(err)
				}
				tuitest.Golden(t, l.out.String())
			})
		})
	}
}

func TestPlainCarriesOutWhatIsTyped(t *testing.T) {
	for _, c := range []struct {
		scene, typed string
		verb         protocol.Verb
		want         any
	}{
		{"transcript", "/interrupt", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2"}},
		{"transcript", "/interrupt hold", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2", Queue: "hold"}},
		{"decided", "/interrupt clear", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2", Queue: "clear"}},
		{"approval", "/approve r1", protocol.DoApprove, protocol.ApproveData{Request: "r1", Decision: protocol.AllowOnce}},
		{"approval", "/always r2", protocol.DoApprove, protocol.ApproveData{Request: "r2", Decision: protocol.AllowAlways}},
		{"approval", "/deny r1 not on a Friday", protocol.DoApprove, protocol.ApproveData{Request: "r1", Decision: protocol.Deny, Reason: "not on a Friday"}},
		{"question", "/deny not now", protocol.DoApprove, protocol.ApproveData{Request: "q1", Decision: protocol.Deny, Reason: "not now"}},
		{"question", "/stop", protocol.DoApprove, protocol.ApproveData{Request: "q1", Decision: protocol.DenyStop}},
		{"question", "/explain", protocol.DoApprove, protocol.ApproveData{Request: "q1", Decision: protocol.Explain}},
		{"question", "/option skip q1 no time", protocol.DoApprove, protocol.ApproveData{Request: "q1", Option: "skip", Reason: "no time"}},
		{"question", "/answer db=pg name=the big=store", protocol.DoApprove, protocol.ApproveData{
			Request: "q1", Decision: protocol.AllowOnce,
			Input: &protocol.ApprovalInput{Answers: map[string][]string{"db": {"pg"}, "name": {"the big=store"}}},
		}},
		{"queue", "/edit 1 other text", protocol.DoQueueEdit, protocol.QueueEditData{MessageID: "m3", Text: "other text"}},
		{"queue", "/remove 2", protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: "m4"}},
		{"queue", "/move 2 1", protocol.DoQueueMove, protocol.QueueMoveData{MessageID: "m4", Index: 0}},
		{"queue", "/hold", protocol.DoQueueHold, protocol.QueueHoldData{}},
		{"tasks to confirm", "/keep 1, 3", protocol.DoApprove, protocol.ApproveData{
			Request: "p1", Decision: protocol.AllowOnce,
			Input: &protocol.ApprovalInput{Tasks: []protocol.Task{{ID: "a", Title: "Read", Description: "all of it"}, {ID: "c", Title: "Build", After: []string{"a"}}}},
		}},
		{"tasks to confirm", "/replan p1 shorter", protocol.DoApprove, protocol.ApproveData{
			Request: "p1", Decision: protocol.Deny, Reason: "shorter", Input: &protocol.ApprovalInput{Replan: true},
		}},
		{"patch", "/always", protocol.DoApprove, protocol.ApproveData{Request: "r1", Decision: protocol.AllowAlways}},
		{"queue", "/release", protocol.DoQueueRelease, protocol.QueueReleaseData{}},
	} {
		t.Run(c.scene+" "+c.typed, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := openPlain(t, tuitest.Scenes[c.scene]())
				l.write(c.typed)
				if err := l.close(); err != nil {
					t.Error(err)
				}
				got := l.session.Commands()
				if len(got) != 1 || got[0].Verb != c.verb || !reflect.DeepEqual(got[0].Data, c.want) {
					t.Errorf("asked %+v, want %s %+v", got, c.verb, c.want)
				}
			})
		})
	}
}

func TestPlainSendsAQueuedMessageNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["queue"]())
		l.write("/now 2")
		if err := l.close(); err != nil {
			t.Error(err)
		}
		want := []tuitest.Command{
			{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "m4", Index: 0}},
			{Verb: protocol.DoQueueRelease, Data: protocol.QueueReleaseData{Hold: "h1"}},
			{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
		}
		if got := l.session.Commands(); !reflect.DeepEqual(got, want) {
			t.Errorf("asked %+v, want %+v", got, want)
		}
	})
}

func TestPlainSaysWhatAnInterruptDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["queue"]())
		l.session.Mu.Lock()
		l.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
		l.session.Mu.Unlock()
		l.write("/interrupt clear")
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if want := "interrupting\ninterrupted, queue cleared\n"; !strings.HasSuffix(l.out.String(), want) {
			t.Errorf("it does not tell %q:\n%s", want, l.out)
		}
	})
}

func TestPlainTriesToConnectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["reconnecting"]())
		l.write("/retry")
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if l.session.Retries != 1 {
			t.Errorf("tried %d times", l.session.Retries)
		}
	})
}

func TestPlainSaysThatALineWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["reconnecting"]())
		l.write("hello")
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(l.out.String(), "waits for the connection: hello\n") {
			t.Errorf("it does not say so:\n%s", l.out)
		}
	})
}

func TestPlainTellsWhatWasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		l.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		l.tell()
		time.Sleep(2 * time.Minute)
		l.journal.Reconnect(protocol.ModeResume, 1)
		l.journal.EndTurn(protocol.ReasonCompleted)
		l.journal.CaughtUp()
		l.tell()
		if err := l.close(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"reconnecting: the connection was closed\n", "connected again\n", "you reconnected here · away 2m02s · 1 turn ended\n"} {
			if !strings.Contains(l.out.String(), want) {
				t.Errorf("it does not tell %q:\n%s", want, l.out)
			}
		}
	})
}

func TestPlainSendsLinesAndAgentsOwnCommands(t *testing.T) {
	for typed, want := range map[string]string{"hello you": "hello you", "//path": "/path", "/review all": "/review all"} {
		synctest.Test(t, func(t *testing.T) {
			j := tuitest.Conversation()
			j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{{Name: "review"}}})
			j.CaughtUp()
			l := openPlain(t, j)
			l.write(typed)
			if err := l.close(); err != nil {
				t.Error(err)
			}
			got := l.session.Commands()
			if len(got) != 1 || got[0].Verb != protocol.DoSend || got[0].Data.(protocol.SendData).Text != want {
				t.Errorf("asked %+v, want to send %q", got, want)
			}
		})
	}
}

func TestPlainRevokesARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["rules"]())
		l.write("/revoke 1")
		if err := l.close(); err != nil {
			t.Error(err)
		}
		got := l.session.Commands()
		if len(got) != 1 || got[0].Verb != protocol.DoRulesRevoke || got[0].Data.(protocol.RulesRevokeData).Rule != "u1" {
			t.Errorf("asked %+v", got)
		}
		if !strings.Contains(l.out.String(), "not allowed without asking any more: $ go mod tidy\n") {
			t.Errorf("it does not say so:\n%s", l.out)
		}
	})
}

func TestPlainFindsWords(t *testing.T) {
	hit := protocol.Hit{Kind: protocol.HitTool, Seq: 7, Time: tuitest.Start, Snippet: "a\x1b[2J race\x07"}
	many := slices.Repeat([]protocol.Hit{hit}, findLines+5)
	pages := 0
	for _, c := range []struct {
		reply func(protocol.SearchData) (any, error)
		want  string
	}{
		{func(protocol.SearchData) (any, error) { return protocol.SearchResult{Hits: []protocol.Hit{hit}}, nil }, "1 hit with “data race”:\n  2026-03-04 09:41 tool, position 7: a race\n"},
		{func(protocol.SearchData) (any, error) { return protocol.SearchResult{Hits: many, Cursor: "x"}, nil }, fmt.Sprintf("the newest %d hits with", findLines)},
		{func(d protocol.SearchData) (any, error) { return protocol.SearchResult{Cursor: d.Cursor + "x"}, nil }, "is not in what was said last\n"},
		{func(protocol.SearchData) (any, error) { return protocol.SearchResult{}, nil }, "“data race” is not there\n"},
		{func(protocol.SearchData) (any, error) { return nil, tuitest.ErrCannotSearch }, "find: it cannot search\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := openPlain(t, tuitest.Scenes["transcript"]())
			l.session.Mu.Lock()
			l.session.Reply = func(a tuitest.Command) (any, error) {
				pages++
				return c.reply(a.Data.(protocol.SearchData))
			}
			l.session.Mu.Unlock()
			pages = 0
			l.write("/find data race")
			if err := l.close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(l.out.String(), c.want) {
				t.Errorf("it does not tell %q:\n%s", c.want, l.out)
			}
			if pages > findPages {
				t.Errorf("it asked %d times", pages)
			}
		})
	}
}

func TestPlainSaysWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ scene, typed, want string }{
		{"approval", "/approve", "/approve: 2 approvals are pending, name one: r1, r2"},
		{"transcript", "/deny no", "/deny: no approval is pending"},
		{"question", "/answer db", "/answer: write QUESTION=TEXT"},
		{"queue", "/edit 9 x", "/edit: which message?"},
		{"queue", "/move 1 x", "/move N TO: to which place?"},
		{"queue", "/edit 1", "/edit N TEXT: what is the new text?"},
		{"tasks to confirm", "/keep", "/keep: name one or more of its 3 tasks"},
		{"tasks to confirm", "/keep 4", "/keep: 4 is none of its 3 tasks"},
		{"transcript", "/retry", "connected"},
		{"transcript", "/nothing", "no command /nothing"},
		{"transcript", "/help", "/approve [REQUEST]"},
		{"transcript", "/status", "session fix-tests, running, connected"},
		{"transcript", "/rules", "0 rules"},
		{"rules", "/rules", "3 rules\n1: $ go mod tidy, command, by ada\n2:"},
		{"rules", "/revoke 4", "/revoke N: which one?"},
		{"transcript", "/find", "/find WORDS: query: no words"},
		{"queue", "/queue", "1: ada: Then write the release notes"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := openPlain(t, tuitest.Scenes[c.scene]())
			l.write(c.typed)
			if got := l.session.Commands(); len(got) != 0 {
				t.Errorf("%s asked %+v", c.typed, got)
			}
			if err := l.close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(l.out.String(), c.want) {
				t.Errorf("%s does not tell %q:\n%s", c.typed, c.want, l.out)
			}
		})
	}
}

func TestPlainTellsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		l.session.Mu.Lock()
		l.session.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
		l.session.Mu.Unlock()
		l.write("hello")
		_ = l.close() // told below
		if !strings.Contains(l.out.String(), "not sent: hello: observers may not do that") {
			t.Errorf("the refusal is not told:\n%s", l.out)
		}
	})
}

func TestTheEndOfInputEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		_ = l.in.Close() // never fails
		l.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " still\n"})
		l.tell()
		if !strings.Contains(l.out.String(), "agent: I look at the imports still\n") {
			t.Errorf("what came after the end of input is not told:\n%s", l.out)
		}
		select {
		case err := <-l.ended:
			t.Errorf("it ended with %v", err)
		default:
		}
		_ = l.close() // of no interest here
	})
}

func TestALineWithoutEndIsToldAndEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		go func() {
			_, _ = io.WriteString(l.in, strings.Repeat("x", maxInputLine+1)) // the reader gives up in the middle
		}()
		synctest.Wait()
		l.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " still\n"})
		l.tell()
		for _, want := range []string{"token too long: what is typed is not read any more", "imports still"} {
			if !strings.Contains(l.out.String(), want) {
				t.Errorf("it does not tell %q:\n%s", want, l.out)
			}
		}
		_ = l.in.Close() // never fails
		_ = l.close()    // of no interest here
	})
}

func TestPlainEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		l.journal.EndTurn(protocol.ReasonCompleted)
		l.journal.AddBy(tuitest.Bob, protocol.SessionClosed, protocol.SessionClosedData{Reason: "done"})
		l.tell()
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(l.out.String(), "the session was closed: done\n") {
			t.Errorf("it does not say so:\n%s", l.out)
		}
		_ = l.in.Close() // never fails
	})
}

func TestPlainFailsWhenTheSessionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["offline"]())
		close(l.session.Feed)
		if err := <-l.ended; !errors.Is(err, errOffline) || !strings.Contains(err.Error(), "the token expired") {
			t.Errorf("it ended with %v", err)
		}
		_ = l.in.Close() // never fails
	})
}

// What came while the recent turns were fetched says why the session is lost.
func TestPlainSaysWhyASessionIsLostAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := tuitest.NewFakeSession()
		session.Reply = func(tuitest.Command) (any, error) {
			time.Sleep(time.Second)
			return tuitest.HistoryPage(1, 2, false), nil
		}
		for _, u := range tuitest.Scenes["offline"]().Take() {
			session.Feed <- u
		}
		close(session.Feed)
		err := runPlain(t.Context(), session, &tuitest.Output{}, strings.NewReader(""), time.UTC)
		if !errors.Is(err, errOffline) || !strings.Contains(err.Error(), "the token expired") {
			t.Errorf("it ended with %v", err)
		}
	})
}

// Several speak at once where a plan has tasks: what they said is told in the order they began.
func TestPlainTellsVoicesInTheirOrder(t *testing.T) {
	names := []string{"zoe", "adam", "mia", "bob", "liv", "carl"}
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	want := ""
	for i, name := range names {
		j.Add(protocol.TextStart, protocol.PartStartData{Part: fmt.Sprint("t", i), Agent: name})
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: fmt.Sprint("t", i), Text: "I am " + name})
		want += name + ": I am " + name + "\n"
	}
	j.EndTurn(protocol.ReasonCompleted)
	n := newRenderer(time.UTC)
	for _, u := range j.Take() {
		n.update(u)
	}
	if got := n.out.String(); !strings.Contains(got, want) {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestPlainQuits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["transcript"]())
		l.write("/quit")
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
		_ = l.in.Close() // never fails
	})
}

func TestPlainLetsNoControlThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openPlain(t, tuitest.Scenes["hostile"]())
		_ = l.close() // of no interest here
		for _, r := range l.out.String() {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("%U is told:\n%q", r, l.out)
			}
		}
	})
}

// A dialect may not say who sent a message, nor what somebody else sent.
func TestNobodysMessageIsNotTheReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.NewJournal()
		for _, text := range []string{"what is it?", ""} {
			j.Turn = "turn-" + text
			j.Add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: text}})
			j.Text("t1", "It is this.")
			j.EndTurn(protocol.ReasonCompleted)
		}
		j.CaughtUp()
		l := openPlain(t, j)
		if err := l.close(); err != nil {
			t.Error(err)
		}
		out := l.out.String()
		if !strings.Contains(out, "user: what is it?\n") || strings.Contains(out, "you:") || strings.Contains(out, "user: \n") || strings.Contains(out, "user:\n") {
			t.Errorf("told\n%s", out)
		}
	})
}

// After a reset a turn that ended unseen is told, and none twice.
func TestPlainTellsTurnsThatEndedBeforeAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.NewJournal()
		j.CaughtUp()
		l := openPlain(t, j)
		l.session.Reply = func(a tuitest.Command) (any, error) {
			if a.Verb == protocol.DoHistory {
				return tuitest.HistoryPage(1, 3, false), nil
			}
			return nil, nil
		}
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		j.Reconnect(protocol.ModeReset, 0)
		j.Pending[len(j.Pending)-1].Attached.Reason = protocol.ResetEpoch
		j.Pending[len(j.Pending)-1].Attached.Snapshot = &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Agent: "script", Seq: j.Seq}}
		j.CaughtUp()
		l.tell()
		if err := l.close(); err != nil {
			t.Error(err)
		}
		for _, question := range []string{"question 1", "question 2", "question 3", "now idle"} {
			want := 1
			if question == "now idle" {
				want = 2
			}
			if n := strings.Count(l.out.String(), question); n != want {
				t.Errorf("%q is told %d times:\n%s", question, n, l.out)
			}
		}
	})
}
