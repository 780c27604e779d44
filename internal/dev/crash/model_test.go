//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// modelWindow is the context of the model, in tokens: it is full after a few turns.
const modelWindow = 9000

// step matches the message of a turn.
var step = regexp.MustCompile(`do step-[0-9]+`)

// note matches a message that is sent into a turn, noted the answer of the model.
var (
	note  = regexp.MustCompile(`note-[0-9]+`)
	noted = regexp.MustCompile(`noted-note-[0-9]+ `)
)

// workingModel is a model that calls the shell twice in each turn, with its own mark in each call,
// and then answers. A cut answer continues. It answers a note first.
func workingModel(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
	if strings.Contains(string(r.Body), "with these sections") {
		say(ctx, out, "Goal: do the steps. Done: those before "+lastStep(r))
		return
	}
	said, results := "", 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == fakemodel.User && step.MatchString(m.Text) {
			break
		}
		switch {
		case m.Role == fakemodel.Tool:
			results++
		case m.Role == fakemodel.Assistant && m.Call == "" && results == 0:
			said = m.Text + said
		}
	}
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "%s-%d-%d ", strings.TrimPrefix(lastStep(r), "do "), results, i)
	}
	answer := strings.TrimPrefix(text.String(), noted.ReplaceAllString(said, ""))
	if last := r.Messages[len(r.Messages)-1]; last.Role == fakemodel.User && note.MatchString(last.Text) {
		answer = "noted-" + note.FindString(last.Text) + " " + answer
	}
	say(ctx, out, answer)
	if results < 2 {
		mark := fmt.Sprint("call-", r.N)
		out.Call("shell", map[string]string{"command": "echo " + mark + " >>ran; sleep 0.0" + fmt.Sprint(r.N%10) +
			"; head -c 2000 /dev/zero | tr '\\0' x; echo " + mark})
	}
}

// lastStep returns the message of the present turn.
func lastStep(r fakemodel.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if all := step.FindAllString(r.Messages[i].Text, -1); r.Messages[i].Role == fakemodel.User && all != nil {
			return all[len(all)-1]
		}
	}
	return "do step-none"
}

// say streams a text word by word.
func say(ctx context.Context, out *fakemodel.Reply, text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if word != "" {
			out.Text(word)
		}
		pause(ctx, 2*time.Millisecond)
	}
}

// newModelTrial returns a trial whose agents request workingModel and work in the directory work.
func newModelTrial(t *testing.T, seed uint64) *trial {
	model := httptest.NewServer(fakemodel.Limited(modelWindow, workingModel))
	t.Cleanup(func() {
		model.CloseClientConnections()
		model.Close()
	})
	tr := newTrial(t, seed, 1)
	tr.configureModel(model.URL)
	if err := os.Mkdir(filepath.Join(tr.Dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	return tr
}

// A server with a model's agent is killed at random moments: in answers, in commands, while
// approvals are pending and while the context is compacted. No command runs twice, no text is
// doubled, every turn ends.
func TestAKilledServerRepeatsNoCallOfAModel(t *testing.T) {
	t.Parallel()
	tr := newModelTrial(t, 7)
	tr.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	following, leave := context.WithCancel(ctx)
	var live sync.WaitGroup
	defer live.Wait()
	defer leave()
	tr.client = tr.connect("driver")
	defer tr.client.Close()
	work := filepath.Join(tr.Dir, "work")
	id := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{
		Agent: "worker", CWD: work,
	}).Session
	approver := tr.connect("approver")
	defer approver.Close()
	r := &recorder{session: id}
	live.Go(func() { r.follow(following, approver, func(e *protocol.Event) { allow(following, t, approver, e) }) })

	steer := rand.New(rand.NewPCG(7, 4))
	killed := make(chan struct{})
	live.Go(func() {
		defer close(killed)
		for range modelKills {
			pause(ctx, time.Duration(20+tr.rng.IntN(400))*time.Millisecond)
			if ctx.Err() != nil {
				return
			}
			tr.Kill()
			tr.Start()
		}
	})
	var notes []string // sent into turns
	for turns, done := 0, false; !done && ctx.Err() == nil; turns++ {
		select {
		case <-killed:
			done = true
		default:
		}
		before := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State.Turns
		must[protocol.SendResult](ctx, tr, protocol.DoSend, id, protocol.SendData{Text: fmt.Sprint("do step-", turns)})
		if turns%3 != 0 {
			pause(ctx, time.Duration(steer.IntN(300))*time.Millisecond)
			notes = append(notes, fmt.Sprint("note-", turns))
			must[protocol.SendResult](ctx, tr, protocol.DoSend, id, protocol.SendData{
				Text: notes[len(notes)-1], Delivery: protocol.DeliverSteer,
			})
		}
		tr.waitTurn(ctx, id, before)
	}
	<-killed
	if ctx.Err() != nil {
		t.Fatal("the session is stuck")
	}
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	log := tr.readLog(ctx, id, end.Seq)
	leave()
	live.Wait()
	checkModel(t, log, filepath.Join(work, "ran"))
	checkNotes(t, log, notes)
	tr.Stop()
}

// allow allows a request, immediately or after a moment in which the server may be killed. A server that
// is stopping takes no decision: the next one gets it, unless its agent has asked again.
func allow(ctx context.Context, t *testing.T, c *wsclient.Client, e *protocol.Event) {
	var a protocol.Approval
	if e.Type != protocol.ApprovalRequested || e.Decode(&a) != nil {
		return
	}
	pause(ctx, time.Duration(e.Seq%5)*20*time.Millisecond)
	for refused := false; ; refused = true {
		_, err := wsclient.Call[protocol.ApproveResult](
			ctx, c, protocol.DoApprove, e.Session, protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce},
		)
		if protocol.CodeOf(err) != protocol.CodeShuttingDown || ctx.Err() != nil {
			if err != nil && !refused && ctx.Err() == nil {
				t.Errorf("approve: %v", err)
			}
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// configureModel writes the configuration of an agent with the model.
func (tr *trial) configureModel(url string) {
	tr.T.Helper()
	config, err := json.Marshal(map[string]any{
		"providers": map[string]any{"fake": map[string]any{
			"api": "chat", "base_url": url, "models": map[string]any{"m": map[string]any{"window": modelWindow}},
		}},
		"agents": map[string]any{
			"worker": map[string]any{"model": "fake/m"}, "team": map[string]any{"pipeline": map[string]any{"solver": "worker"}},
		},
	})
	if err != nil {
		tr.T.Fatal(err)
	}
	tr.write("config", config)
}

// waitTurn waits until the session is idle after more than a number of turns, with an empty queue.
func (tr *trial) waitTurn(ctx context.Context, id string, before int) {
	tr.T.Helper()
	for ctx.Err() == nil {
		s := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil)
		st := s.Snapshot.State
		if s.Status == protocol.Idle && st.Turns > before && len(st.Queue) == 0 {
			return
		}
		if st.BlockingHold() != nil {
			tr.release(ctx, id)
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// checkNotes checks that each message which was sent into a turn was taken in once, or started a turn.
func checkNotes(t *testing.T, log, notes []string) {
	t.Helper()
	joined, texts := map[string]int{}, map[string]string{} // joined by text, texts by id
	started := map[string]int{}
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		var m protocol.Message
		var d protocol.MessageResolvedData
		switch e.Type {
		case protocol.MessageUser:
			_ = e.Decode(&m)
			started[m.Text]++
		case protocol.MessageSteered:
			_ = e.Decode(&m)
			texts[m.MessageID] = m.Text
		case protocol.MessageResolved:
			if _ = e.Decode(&d); d.Outcome == protocol.SteerTakenIn {
				joined[texts[d.MessageID]]++
			} else {
				t.Logf("%s: %+v", texts[d.MessageID], d)
			}
		}
	}
	for _, text := range notes {
		if joined[text]+started[text] != 1 {
			t.Errorf("%s was taken in %d times and started %d turns", text, joined[text], started[text])
		}
	}
	t.Logf("%d of %d messages joined a turn", len(joined), len(notes))
}

// checkModel checks the log of the session against the file to which its commands wrote.
func checkModel(t *testing.T, log []string, ran string) {
	t.Helper()
	b, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]int{}
	for _, mark := range strings.Fields(string(b)) {
		if marks[mark]++; marks[mark] > 1 {
			t.Errorf("%s ran twice", mark)
		}
	}
	commands, resolved, statuses := map[string]string{}, map[string]int{}, map[protocol.ToolStatus]int{}
	words := map[string]string{} // the text of each turn
	compacted := map[string]bool{}
	resumed := 0
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case protocol.TurnStarted:
			if strings.Contains(line, `"resumed":true`) {
				resumed++
			}
		case protocol.ToolStarted:
			var d protocol.ToolStartedData
			if _ = e.Decode(&d); d.Input != nil {
				commands[d.Tool] = string(d.Input)
			}
		case protocol.ToolEnded:
			var d protocol.ToolEndedData
			_ = e.Decode(&d)
			statuses[d.Status]++
			mark := regexp.MustCompile(`call-[0-9]+`).FindString(commands[d.Tool])
			if d.Status == protocol.ToolCompleted && marks[mark] != 1 {
				t.Errorf("%s completed and ran %d times", mark, marks[mark])
			}
		case protocol.ApprovalResolved:
			var d protocol.ApprovalResolvedData
			_ = e.Decode(&d)
			if resolved[d.Request]++; resolved[d.Request] > 1 || d.Outcome != protocol.Allowed {
				t.Errorf("request %s was resolved %d times, now %s", d.Request, resolved[d.Request], d.Outcome)
			}
		case protocol.ContextCompacted:
			compacted[e.Turn] = true
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			_ = e.Decode(&d)
			words[e.Turn] += d.Text
		case protocol.TurnEnded:
			var d protocol.TurnEndedData
			if _ = e.Decode(&d); d.Reason != protocol.ReasonCompleted {
				t.Errorf("a turn ended with %+v", d)
			}
		}
	}
	for turn, text := range words {
		seen := map[string]bool{}
		for _, word := range strings.Fields(text) {
			if seen[word] && !compacted[turn] {
				t.Errorf("turn %s says %s twice: %s", turn, word, text)
				break
			}
			seen[word] = true
		}
	}
	if len(words) == 0 || len(marks) == 0 {
		t.Error("nothing happened")
	}
	t.Logf("%d turns, %d resumed, %d compacted, %d commands, %v",
		len(words), resumed, len(compacted), len(marks), statuses)
}
