package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// testClient runs a client with a recorded session. It belongs into a synctest bubble.
type testClient struct {
	t       *testing.T
	session *tuitest.FakeSession
	journal *tuitest.Journal
	out     *tuitest.Output
	in      *io.PipeWriter
	cancel  func()
	ended   chan error
}

// startTestClient starts a client and delivers the journal. Its history has two turns.
func startTestClient(t *testing.T, j *tuitest.Journal) *testClient {
	t.Helper()
	return startClientThat(t, j, false)
}

func startClientThat(t *testing.T, j *tuitest.Journal, endsWithInput bool) *testClient {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, in := io.Pipe()
	tc := &testClient{
		t: t, session: tuitest.NewFakeSession(), journal: j, out: &tuitest.Output{},
		in: in, cancel: cancel, ended: make(chan error, 1),
	}
	tc.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			time.Sleep(time.Second) // the client holds live updates
			return tuitest.HistoryPage(1, 2, false), nil
		}
		return nil, nil
	}
	go func() { tc.ended <- run(ctx, tc.session, tc.out, keys, newRenderer(time.UTC), endsWithInput) }()
	tc.deliver()
	return tc
}

// setReply sets the reply to commands.
func (tc *testClient) setReply(reply func(tuitest.Command) (any, error)) {
	tc.session.Mu.Lock()
	defer tc.session.Mu.Unlock()
	tc.session.Reply = reply
}

// deliver delivers the updates of the journal and waits until they are handled.
func (tc *testClient) deliver() {
	for _, u := range tc.journal.Take() {
		tc.session.Feed <- u
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// typeLine types a line and waits until it is handled.
func (tc *testClient) typeLine(text string) {
	tc.t.Helper()
	if _, err := io.WriteString(tc.in, text+"\n"); err != nil {
		tc.t.Error(err)
	}
	synctest.Wait()
}

// stop ends the client and returns the error of run.
func (tc *testClient) stop() error {
	tc.cancel()
	err := <-tc.ended
	_ = tc.in.Close() // a pipe never fails to close
	return err
}

func TestRunPrintsHistoryThenEvents(t *testing.T) {
	for _, name := range []string{
		"approval", "question", "form", "page", "queue", "decided", "reconnecting", "offline", "back", "patch",
		"tasks to confirm", "plan",
	} {
		t.Run("plain_"+strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc := startTestClient(t, tuitest.Scenes[name]())
				if err := tc.stop(); err != nil {
					t.Error(err)
				}
				tuitest.Golden(t, tc.out.String())
			})
		})
	}
}

func TestTypedCommands(t *testing.T) {
	for _, c := range []struct {
		scene, typed string
		verb         protocol.Verb
		want         any
	}{
		{"transcript", "/interrupt", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2"}},
		{"transcript", "/interrupt hold", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2", Queue: "hold"}},
		{"decided", "/interrupt clear", protocol.DoInterrupt, protocol.InterruptData{Turn: "turn-m2", Queue: "clear"}},
		{"approval", "/approve r1", protocol.DoApprove, protocol.ApproveData{
			Request: "r1", Decision: protocol.AllowOnce,
		}},
		{"approval", "/always r1", protocol.DoApprove, protocol.ApproveData{
			Request: "r1", Decision: protocol.AllowAlways,
		}},
		{"approval", "/deny r1 not on a Friday", protocol.DoApprove, protocol.ApproveData{
			Request: "r1", Decision: protocol.Deny, Reason: "not on a Friday",
		}},
		{"question", "/deny not now", protocol.DoApprove, protocol.ApproveData{
			Request: "q1", Decision: protocol.Deny, Reason: "not now",
		}},
		{"question", "/stop", protocol.DoApprove, protocol.ApproveData{Request: "q1", Decision: protocol.DenyStop}},
		{"question", "/explain", protocol.DoApprove, protocol.ApproveData{Request: "q1", Decision: protocol.Explain}},
		{"question", "/option skip q1 no time", protocol.DoApprove, protocol.ApproveData{
			Request: "q1", Option: "skip", Reason: "no time",
		}},
		{"question", "/answer db=pg name=the big=store", protocol.DoApprove, protocol.ApproveData{
			Request: "q1", Decision: protocol.AllowOnce,
			Input: &protocol.ApprovalInput{Answers: map[string][]string{"db": {"pg"}, "name": {"the big=store"}}},
		}},
		{"form", "/answer city=Munich 2=3 5=hunter2 days=1,2", protocol.DoApprove, protocol.ApproveData{
			Request: "f1", Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
				Answers: map[string][]string{"city": {"m"}, "size": {"3"}, "days": {"mo", "tu"}},
				Secrets: map[string][]string{"password": {"hunter2"}},
			},
		}},
		{"queue", "/edit 1 other text", protocol.DoQueueEdit, protocol.QueueEditData{
			MessageID: "m3", Text: "other text",
		}},
		{"queue", "/remove 2", protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: "m4"}},
		{"queue", "/move 2 1", protocol.DoQueueMove, protocol.QueueMoveData{MessageID: "m4", Index: 0}},
		{"queue", "/hold", protocol.DoQueueHold, protocol.QueueHoldData{}},
		{"tasks to confirm", "/keep 1, 3", protocol.DoApprove, protocol.ApproveData{
			Request: "p1", Decision: protocol.AllowOnce,
			Input: &protocol.ApprovalInput{Tasks: []protocol.Task{
				{ID: "a", Title: "Read", Description: "all of it"}, {ID: "c", Title: "Build", After: []string{"a"}},
			}},
		}},
		{"tasks to confirm", "/replan p1 shorter", protocol.DoApprove, protocol.ApproveData{
			Request: "p1", Decision: protocol.Deny, Reason: "shorter", Input: &protocol.ApprovalInput{Replan: true},
		}},
		{"patch", "/always", protocol.DoApprove, protocol.ApproveData{Request: "r1", Decision: protocol.AllowAlways}},
		{"queue", "/release", protocol.DoQueueRelease, protocol.QueueReleaseData{}},
	} {
		t.Run(c.scene+" "+c.typed, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc := startTestClient(t, tuitest.Scenes[c.scene]())
				tc.typeLine(c.typed)
				if err := tc.stop(); err != nil {
					t.Error(err)
				}
				got := tc.session.Commands()
				if len(got) != 1 || got[0].Verb != c.verb || !reflect.DeepEqual(got[0].Data, c.want) {
					t.Errorf("got commands %+v, want %s %+v", got, c.verb, c.want)
				}
			})
		})
	}
}

func TestNowStartsQueuedMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["queue"]())
		tc.typeLine("/now 2")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		want := []tuitest.Command{
			{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "m4", Index: 0}},
			{Verb: protocol.DoQueueRelease, Data: protocol.QueueReleaseData{Hold: "h1"}},
			{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
		}
		if got := tc.session.Commands(); !reflect.DeepEqual(got, want) {
			t.Errorf("got commands %+v, want %+v", got, want)
		}
	})
}

func TestInterruptPrintsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["queue"]())
		tc.setReply(func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil })
		tc.typeLine("/interrupt clear")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		if want := "interrupting\ninterrupted, queue cleared\n"; !strings.HasSuffix(tc.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, tc.out)
		}
	})
}

func TestRetryConnectsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["reconnecting"]())
		tc.typeLine("/retry")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		if tc.session.Retries != 1 {
			t.Errorf("got %d retries, want 1", tc.session.Retries)
		}
	})
}

func TestOfflineMessageIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["reconnecting"]())
		tc.typeLine("hello")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		if want := "waits for the connection: hello\n"; !strings.HasSuffix(tc.out.String(), want) {
			t.Errorf("output does not end with %q:\n%s", want, tc.out)
		}
	})
}

func TestReconnectPrintsAwaySummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["transcript"]())
		tc.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		tc.deliver()
		time.Sleep(2 * time.Minute)
		tc.journal.Reconnect(protocol.ModeResume, 1)
		tc.journal.EndTurn(protocol.ReasonCompleted)
		tc.journal.CaughtUp()
		tc.deliver()
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			"reconnecting: the connection was closed\n", "connected again\n",
			"you reconnected here · away 2m02s · 1 turn ended\n",
		} {
			if !strings.Contains(tc.out.String(), want) {
				t.Errorf("output lacks %q:\n%s", want, tc.out)
			}
		}
	})
}

func TestMessagesAndAgentCommandsAreSent(t *testing.T) {
	for typed, want := range map[string]string{
		"hello you": "hello you", "//path": "/path", "/review all": "/review all",
	} {
		synctest.Test(t, func(t *testing.T) {
			j := tuitest.Conversation()
			j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{{Name: "review"}}})
			j.CaughtUp()
			tc := startTestClient(t, j)
			tc.typeLine(typed)
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			got := tc.session.Commands()
			if len(got) != 1 || got[0].Verb != protocol.DoSend || got[0].Data.(protocol.SendData).Text != want {
				t.Errorf("got commands %+v, want a message %q", got, want)
			}
		})
	}
}

// An agent that advertises commands with names of agentctl does not get them.
func TestAnAgentCannotTakeAWordOfAgentctl(t *testing.T) {
	words := regexp.MustCompile(`/([a-z]+)`).FindAllStringSubmatch(helpText, -1)
	if len(words) < 20 {
		t.Fatalf("%d words in the help", len(words))
	}
	for _, word := range words {
		if !remote.IsOwnWord(word[1]) {
			t.Errorf("/%s is not a word of agentctl", word[1])
		}
	}
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.Conversation()
		j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{
			{Name: "approve"}, {Name: "/deny"}, {Name: "status"}, {Name: "Help"},
		}})
		j.CaughtUp()
		tc := startTestClient(t, j)
		for _, line := range []string{"/approve", "/deny", "/status", "/help", "//status"} {
			tc.typeLine(line)
		}
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		got := tc.session.Commands()
		if len(got) != 1 || got[0].Data.(protocol.SendData).Text != "/status" {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestCommandsOfTheScreenAreExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.Conversation()
		j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{{Name: "model"}}})
		j.CaughtUp()
		tc := startTestClient(t, j)
		tc.typeLine("/model")
		tc.typeLine("//model")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		want := "/model works on the screen only; //model goes to the agent"
		if !strings.Contains(tc.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, tc.out)
		}
		got := tc.session.Commands()
		if len(got) != 1 || got[0].Data.(protocol.SendData).Text != "/model" {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestRevokeRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["rules"]())
		tc.typeLine("/revoke 1")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		want := []tuitest.Command{{Verb: protocol.DoRulesRevoke, Data: protocol.RulesRevokeData{Rule: "u1"}}}
		if got := tc.session.Commands(); !reflect.DeepEqual(got, want) {
			t.Errorf("got commands %+v, want %+v", got, want)
		}
		if want := "rule revoked: $ go mod tidy\n"; !strings.Contains(tc.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, tc.out)
		}
	})
}

func TestLocalAnswersToCommands(t *testing.T) {
	for _, c := range []struct{ scene, typed, want string }{
		{"approval", "/approve", "/approve: 2 approvals are pending, name one: r1, r2"},
		{"transcript", "/deny no", "/deny: no approval is pending"},
		{"question", "/answer db", "/answer: \"db\" names none of the questions: write 1=1 2=TEXT\n"},
		{"question", "/answer", "/answer: no answer: write 1=1 2=TEXT\n"},
		{"question", "/approve", "/approve: the request asks: write /answer 1=1 2=TEXT\n"},
		{"question", "/option none", "/option: no option \"none\": the options are answer, skip, stop, explain\n"},
		{
			"question", "/always",
			"/always: this request does not take “allow always”; it takes: allow once, deny, deny and stop, explain\n",
		},
		{"approval", "/always r2", "/always: this request does not take “allow always”"},
		{"approval", "/answer r1 x", "/answer: the request asks no question\n"},
		{"approval", "/replan r1 x", "/replan: the request is no plan\n"},
		{"queue", "/edit 9 x", "/edit N: no such message"},
		{"queue", "/move 1 x", "/move N TO: want a place from 1 to 2"},
		{"queue", "/edit 1", "/edit N TEXT: no text"},
		{"tasks to confirm", "/keep", "/keep: name one or more of the 3 tasks"},
		{"tasks to confirm", "/keep 4", "/keep: no task 4: want 1 to 3"},
		{"transcript", "/retry", "connected"},
		{"transcript", "/nothing", "no command /nothing"},
		{"transcript", "/help", "/approve [REQUEST]"},
		{"transcript", "/status", "session fix-tests, running, connected"},
		{"transcript", "/rules", "0 rules"},
		{"rules", "/rules", "3 rules\n1: $ go mod tidy, command, by ada: exactly this command"},
		{"rules", "/revoke 4", "/revoke N: no such rule"},
		{"transcript", "/find race", "/find works on the screen only"},
		{"queue", "/queue", "1: ada: Then write the release notes"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tc := startTestClient(t, tuitest.Scenes[c.scene]())
			tc.typeLine(c.typed)
			if got := tc.session.Commands(); len(got) != 0 {
				t.Errorf("%s: got commands %+v, want none", c.typed, got)
			}
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(tc.out.String(), c.want) {
				t.Errorf("%s: output lacks %q:\n%s", c.typed, c.want, tc.out)
			}
		})
	}
}

func TestServerErrorIsPrinted(t *testing.T) {
	for typed, want := range map[string]string{
		"hello": "not sent: hello: observers may not do that\n", "/hold": "/hold: observers may not do that\n",
		"/deny r1": "/deny: observers may not do that\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			tc := startTestClient(t, tuitest.Scenes["approval"]())
			tc.setReply(func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused })
			tc.typeLine(typed)
			_ = tc.stop() // only the output matters
			if !strings.HasSuffix(tc.out.String(), "\n"+want) {
				t.Errorf("output lacks %q:\n%s", want, tc.out)
			}
		})
	}
}

func TestEndOfTurnIsNamedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.Conversation()
		j.EndTurn(protocol.ReasonMaxTokens)
		j.CaughtUp()
		tc := startTestClient(t, j)
		_ = tc.stop() // only the output matters
		if want := "turn max tokens after 12s\n"; !strings.Contains(tc.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, tc.out)
		}
	})
}

func TestRunContinuesAfterEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["transcript"]())
		_ = tc.in.Close() // a pipe never fails to close
		tc.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " still\n"})
		tc.deliver()
		if !strings.Contains(tc.out.String(), "agent: I look at the imports still\n") {
			t.Errorf("output lacks text received after the end of input:\n%s", tc.out)
		}
		select {
		case err := <-tc.ended:
			t.Errorf("run ended with %v", err)
		default:
		}
		_ = tc.stop() // only the output matters
	})
}

func TestOverlongInputLineStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["transcript"]())
		go func() {
			_, _ = io.WriteString(tc.in, strings.Repeat("x", maxInputLine+1)) // fails when reading stops
		}()
		synctest.Wait()
		tc.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " still\n"})
		tc.deliver()
		for _, want := range []string{"token too long: input is not read any more", "imports still"} {
			if !strings.Contains(tc.out.String(), want) {
				t.Errorf("output lacks %q:\n%s", want, tc.out)
			}
		}
		_ = tc.in.Close() // a pipe never fails to close
		_ = tc.stop()     // only the output matters
	})
}

func TestRunEndsWhenSessionCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["transcript"]())
		tc.journal.EndTurn(protocol.ReasonCompleted)
		tc.journal.AddBy(tuitest.Bob, protocol.SessionClosed, protocol.SessionClosedData{Reason: "done"})
		tc.deliver()
		if err := <-tc.ended; err != nil {
			t.Error(err)
		}
		if want := "the session was closed: done\n"; !strings.HasSuffix(tc.out.String(), want) {
			t.Errorf("output does not end with %q:\n%s", want, tc.out)
		}
		_ = tc.in.Close() // a pipe never fails to close
	})
}

func TestRunFailsWhenOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["offline"]())
		close(tc.session.Feed)
		if err := <-tc.ended; !errors.Is(err, errOffline) || !strings.Contains(err.Error(), "the token expired") {
			t.Errorf("run ended with %v", err)
		}
		_ = tc.in.Close() // a pipe never fails to close
	})
}

// The reason is in an update that arrives while history loads.
func TestOfflineReasonDuringHistoryLoad(t *testing.T) {
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
		err := run(t.Context(), session, &tuitest.Output{}, strings.NewReader(""), newRenderer(time.UTC), false)
		if !errors.Is(err, errOffline) || !strings.Contains(err.Error(), "the token expired") {
			t.Errorf("run ended with %v", err)
		}
	})
}

// The tasks of a plan can run at the same time. Their texts are written in the order they started.
func TestParallelPartsFlushInOrder(t *testing.T) {
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
	r := newRenderer(time.UTC)
	for _, u := range j.Take() {
		r.update(u)
	}
	if got := r.out.String(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["transcript"]())
		tc.typeLine("/quit")
		if err := <-tc.ended; err != nil {
			t.Error(err)
		}
		_ = tc.in.Close() // a pipe never fails to close
	})
}

func TestOutputHasNoControlCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, tuitest.Scenes["hostile"]())
		_ = tc.stop() // only the output matters
		for _, r := range tc.out.String() {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("%U in output:\n%q", r, tc.out)
			}
		}
	})
}

// A dialect can omit the sender of a message, and the text of messages of others.
func TestMessageWithoutSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.NewJournal()
		for _, text := range []string{"what is it?", ""} {
			j.Turn = "turn-" + text
			j.Add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: text}})
			j.Text("t1", "It is this.")
			j.EndTurn(protocol.ReasonCompleted)
		}
		j.CaughtUp()
		tc := startTestClient(t, j)
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		out := tc.out.String()
		if want := "user: what is it?\n"; !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
		for _, bad := range []string{"you:", "user: \n", "user:\n"} {
			if strings.Contains(out, bad) {
				t.Errorf("output contains %q:\n%s", bad, out)
			}
		}
	})
}

// After a reset, history is loaded again, because turns may have ended unseen.
func TestResetPrintsEachEndedTurnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := tuitest.NewJournal()
		j.CaughtUp()
		tc := startTestClient(t, j)
		tc.session.Reply = func(a tuitest.Command) (any, error) {
			if a.Verb == protocol.DoHistory {
				return tuitest.HistoryPage(1, 3, false), nil
			}
			return nil, nil
		}
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		j.Reconnect(protocol.ModeReset, 0)
		result := j.Pending[len(j.Pending)-1].Attached
		result.Reason = protocol.ResetEpoch
		result.Snapshot = &protocol.Snapshot{
			Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Agent: "script", Seq: j.Seq},
		}
		j.CaughtUp()
		tc.deliver()
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		for _, text := range []string{"question 1", "question 2", "question 3", "now idle"} {
			want := 1
			if text == "now idle" {
				want = 2
			}
			if n := strings.Count(tc.out.String(), text); n != want {
				t.Errorf("got %q %d times, want %d:\n%s", text, n, want, tc.out)
			}
		}
	})
}

func TestEndOfInputEndsWhenNothingIsLeftToWaitFor(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		waits       bool // for a person
	}{
		{"a turn runs", "stream", false},
		{"a request is pending", "approval", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc := startClientThat(t, tuitest.Scenes[c.scene](), true)
				_ = tc.in.Close() // a pipe never fails to close
				synctest.Wait()
				select {
				case err := <-tc.ended:
					if unfinished := (*UnfinishedError)(nil); !errors.As(err, &unfinished) || !c.waits {
						t.Errorf("ended with %v", err)
					}
					return
				default:
				}
				if c.waits {
					t.Error("continues while a request is pending")
				}
				tc.journal.EndTurn(protocol.ReasonCompleted)
				tc.deliver()
				if err := <-tc.ended; err != nil {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}
