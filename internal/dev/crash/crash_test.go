//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// turnScript is the script of the script agents' turns.
var turnScript = `
{"pace":{"words":1,"delay":"1ms"}}
{"turn":1}
{"spawn":["sh","-c","STUBBORN sleep 600 & wait; sleep 600"]}
{"say":"up"}
{"on":"*"}
{"think":"one two three four"}
{"burst":` + strconv.Itoa(burstDeltas) + `,"delay":"1ms","parts":2}
{"tool":"shell","output":"a b c d e f g h i j","exit":0}
{"ask":"command","command":"make {n}","then":[{"say":"allowed: {n}"}],"else":[{"say":"denied: {n}"}]}
{"plan":"Q","tasks":[{"id":"a","title":"A","steps":[{"say":"in a, word by word"}]},{"id":"b","title":"B","steps":[{"say":"in b, word by word"},{"tool":"t"}]}]}
{"say":"end of {n}"}
`

// prompt makes the fake ACP agent do the same.
const prompt = "think one\nchild\nburst 100\n" + `ask {"toolCallId":"t","title":"make","kind":"execute"}` + "\nsay end"

// burstDeltas is the number of deltas of a turn's burst.
const burstDeltas = 120

// A trial is one server with its sessions and clients.
type trial struct {
	*testbinary.Server
	stubborn bool // agents ignore termination signals, and there is an ACP agent
	rng      *rand.Rand
	client   *wsclient.Client // client of the driver

	mu       sync.Mutex
	accepted map[string][]string               // by session: client message ids in the order of acceptance
	decided  map[string]protocol.ApproveResult // results by request
	records  []*recorder
}

func TestShownAndAnsweredDataSurvivesAKilledServer(t *testing.T) {
	for seed := range seedCount(t) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			runTrial(t, seed)
		})
	}
}

// newTrial returns a trial with an empty directory. Its server ends with the test, whose failure shows the log.
func newTrial(t *testing.T, seed, stream uint64) *trial {
	tr := &trial{
		Server: &testbinary.Server{T: t, Dir: t.TempDir()}, rng: rand.New(rand.NewPCG(seed, stream)),
		accepted: map[string][]string{}, decided: map[string]protocol.ApproveResult{},
	}
	t.Cleanup(func() {
		tr.KillAll()
		if t.Failed() {
			text, _ := os.ReadFile(tr.LogFile())
			t.Logf("server log:\n%s", text)
		}
	})
	return tr
}

func runTrial(t *testing.T, seed uint64) {
	tr := newTrial(t, seed, 1)
	tr.stubborn = seed%5 == 0
	tr.configure()
	tr.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	following, leave := context.WithCancel(ctx)
	var live sync.WaitGroup
	defer live.Wait()
	defer leave()
	tr.client = tr.connect("driver")
	defer tr.client.Close()

	sessions := []string{"plain", "resuming"}
	if tr.stubborn {
		sessions = append(sessions, "acp")
	}
	ids := map[string]string{}
	for _, agent := range sessions {
		r := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{Agent: agent, CWD: tr.Dir})
		ids[agent] = r.Session
	}
	for i, o := range []wsclient.SubscribeOptions{
		{Since: &protocol.Position{}, Raw: true},
		{Since: &protocol.Position{}},
		{},
	} {
		c := tr.connect(fmt.Sprint("watcher ", i))
		defer c.Close()
		for _, id := range ids {
			r := &recorder{session: id, options: o}
			tr.records = append(tr.records, r)
			live.Go(func() { r.follow(following, c, nil) })
		}
	}
	for _, id := range ids {
		c := tr.connect("approver")
		defer c.Close()
		decide := rand.New(rand.NewPCG(seed, 2))
		r := &recorder{session: id, options: wsclient.SubscribeOptions{}}
		live.Go(func() { r.follow(following, c, func(e *protocol.Event) { tr.decide(following, c, decide, e) }) })
		tr.records = append(tr.records, r)
	}
	var sending sync.WaitGroup
	for agent, id := range ids {
		when := rand.New(rand.NewPCG(seed, 3))
		sending.Go(func() { tr.drive(ctx, agent, id, when) })
	}

	kills := 3
	if tr.stubborn {
		kills = stubbornKills
	}
	for range kills {
		pause(ctx, time.Duration(tr.rng.IntN(600))*time.Millisecond)
		left := tr.Kill()
		tr.Start()
		tr.CheckGone(left)
	}
	sending.Wait()
	for agent, id := range ids {
		tr.checkIdle(ctx, agent, id)
	}
	for _, id := range ids {
		tr.checkSession(ctx, id)
	}
	tr.checkResumedTurns(ctx, ids["resuming"])
	leave()
	live.Wait()
	if tr.stubborn && !stubbornStop {
		tr.Kill()
		return
	}
	tr.Stop()
	if left := tr.Agents(); len(left) > 0 {
		t.Errorf("processes %v of the stopped server still run", left)
	}
}

// configure writes the server's configuration and scripts.
func (tr *trial) configure() {
	tr.T.Helper()
	self, err := os.Executable()
	if err != nil {
		tr.T.Fatal(err)
	}
	stubborn := ""
	if tr.stubborn {
		stubborn = "trap '' TERM HUP;"
	}
	script := strings.ReplaceAll(turnScript, "STUBBORN", stubborn)
	tr.write("plain.script", []byte(script))
	tr.write("resuming.script", []byte(`{"resumes":true}`+script))
	config, err := json.Marshal(map[string]any{"agents": map[string]any{
		"plain":    map[string]any{"script": filepath.Join(tr.Dir, "plain.script")},
		"resuming": map[string]any{"script": filepath.Join(tr.Dir, "resuming.script")},
		"acp":      map[string]any{"command": self, "env": map[string]string{fakeacp.EnvVar: "stubborn"}},
	}})
	if err != nil {
		tr.T.Fatal(err)
	}
	tr.write("config", config)
}

// write writes a file of the trial.
func (tr *trial) write(name string, text []byte) {
	tr.T.Helper()
	if err := os.WriteFile(filepath.Join(tr.Dir, name), text, 0o600); err != nil {
		tr.T.Fatal(err)
	}
}

func (tr *trial) connect(name string) *wsclient.Client {
	return wsclient.New(tr.URL, wsclient.Options{Name: name, UserAgent: "crash"})
}

// must executes a command that must succeed, across any number of restarts.
func must[R any](ctx context.Context, tr *trial, verb protocol.Verb, session string, data any) R {
	tr.T.Helper()
	r, err := wsclient.Call[R](ctx, tr.client, verb, session, data)
	if err != nil {
		tr.T.Fatalf("%s: %v", verb, err)
	}
	return r
}

// drive sends messages to a session and releases its queue, which restarts hold.
func (tr *trial) drive(ctx context.Context, agent, id string, rng *rand.Rand) {
	messages := 6
	if tr.stubborn {
		messages = stubbornMessages
	}
	for i := range messages {
		text := "go"
		if agent == "acp" {
			text = prompt
		}
		name := fmt.Sprint("message ", i)
		_, err := wsclient.Call[protocol.SendResult](
			ctx, tr.client, protocol.DoSend, id, protocol.SendData{Text: text, ClientMessageID: name},
		)
		if err != nil {
			tr.T.Errorf("send to %s: %v", agent, err)
			return
		}
		tr.mu.Lock()
		tr.accepted[id] = append(tr.accepted[id], name)
		tr.mu.Unlock()
		pause(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
		tr.release(ctx, id)
	}
}

func (tr *trial) release(ctx context.Context, id string) {
	if _, err := wsclient.Call[protocol.QueueReleaseResult](ctx, tr.client, protocol.DoQueueRelease, id,
		nil); err != nil {
		tr.T.Errorf("release: %v", err)
	}
}

// decide answers an approval request.
func (tr *trial) decide(ctx context.Context, c *wsclient.Client, rng *rand.Rand, e *protocol.Event) {
	if e.Type != protocol.ApprovalRequested {
		return
	}
	var a protocol.Approval
	if err := e.Decode(&a); err != nil {
		tr.T.Error(err)
		return
	}
	d := []protocol.Decision{protocol.AllowOnce, protocol.AllowOnce, protocol.Deny, protocol.AllowAlways}[rng.IntN(4)]
	if d == protocol.AllowAlways && a.Kind != protocol.ApproveCommand {
		d = protocol.AllowOnce
	}
	r, err := wsclient.Call[protocol.ApproveResult](
		ctx, c, protocol.DoApprove, e.Session, protocol.ApproveData{Request: a.Request, Decision: d},
	)
	switch protocol.CodeOf(err) {
	case "":
		tr.mu.Lock()
		tr.decided[a.Request] = r
		tr.mu.Unlock()
	case protocol.CodeConflict: // its turn was aborted
	case protocol.CodeUnsupported:
		if _, err := wsclient.Call[protocol.ApproveResult](ctx, c, protocol.DoApprove, e.Session,
			protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}); err != nil && ctx.Err() == nil &&
			protocol.CodeOf(err) != protocol.CodeConflict {
			tr.T.Errorf("approve: %v", err)
		}
	default:
		if ctx.Err() == nil {
			tr.T.Errorf("approve: %v", err)
		}
	}
}

// checkIdle waits until the session is idle with an empty queue, then runs one more turn.
func (tr *trial) checkIdle(ctx context.Context, agent, id string) {
	tr.T.Helper()
	wait := func() *protocol.State {
		for ctx.Err() == nil {
			s := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil)
			if s.Status == protocol.Idle && len(s.Snapshot.State.Queue) == 0 {
				return s.Snapshot.State
			}
			if s.Snapshot.State.BlockingHold() != nil {
				tr.release(ctx, id)
			}
			pause(ctx, 20*time.Millisecond)
		}
		tr.T.Fatalf("the session of %s is stuck", agent)
		return nil
	}
	before := wait()
	text := "go"
	if agent == "acp" {
		text = "say still here"
	}
	must[protocol.SendResult](ctx, tr, protocol.DoSend, id, protocol.SendData{Text: text})
	after := wait()
	if after.Turns != before.Turns+1 || after.Last.Reason != protocol.ReasonCompleted {
		tr.T.Errorf("%s: the final turn ended with %s %s", agent, after.Last.Reason, after.Last.Message)
	}
}

// checkSession compares everything shown to or answered to clients with the final log and state.
func (tr *trial) checkSession(ctx context.Context, id string) {
	tr.T.Helper()
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	log := tr.readLog(ctx, id, end.Seq)

	var sent []string
	outcomes := map[string]protocol.ApprovalResolvedData{}
	open := map[string]int{}
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			tr.T.Fatal(err)
		}
		switch e.Type {
		case protocol.MessageUser:
			var m protocol.MessageUserData
			_ = e.Decode(&m)
			if m.ClientMessageID != "" {
				sent = append(sent, m.ClientMessageID)
			}
		case protocol.ApprovalResolved:
			var r protocol.ApprovalResolvedData
			_ = e.Decode(&r)
			if _, twice := outcomes[r.Request]; twice {
				tr.T.Errorf("request %s was decided twice", r.Request)
			}
			outcomes[r.Request] = r
		case protocol.ToolStarted:
			var d protocol.ToolStartedData
			_ = e.Decode(&d)
			if open[d.Tool]++; open[d.Tool] > 1 &&
				!strings.HasPrefix(d.Tool, "t") { // the fake ACP agent repeats its ids
				tr.T.Errorf("tool %s was started %d times", d.Tool, open[d.Tool])
			}
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if got, want := strings.Join(sent, ", "), strings.Join(tr.accepted[id], ", "); got != want {
		tr.T.Errorf("accepted messages %s; turns %s", want, got)
	}
	rules := map[string]bool{}
	for _, r := range end.Rules {
		rules[r.ID] = true
	}
	mine := 0
	for request, r := range tr.decided {
		got, ok := outcomes[request]
		if !ok {
			continue // belongs to another session
		}
		mine++
		if got.Decision != r.Decision || got.Outcome != r.Outcome {
			tr.T.Errorf("%s was answered with %+v; the log has %+v", request, r, got)
		}
		if r.Rule != nil && !rules[r.Rule.ID] {
			tr.T.Errorf("rule %s is lost", r.Rule.ID)
		}
	}
	want := string(protocol.MustEncode(end))
	for i, r := range tr.records {
		if r.session != id {
			continue
		}
		for ctx.Err() == nil {
			if at, err := r.position(); err != nil || at.Seq >= end.Seq {
				break
			}
			pause(ctx, 5*time.Millisecond)
		}
		r.mu.Lock()
		if r.err != nil {
			tr.T.Errorf("client %d: %v", i, r.err)
		} else if got := string(protocol.MustEncode(r.state)); got != want {
			tr.T.Errorf("client %d ends with\n%s\nthe server has\n%s", i, got, want)
		}
		for seq, line := range r.lines {
			if seq > uint64(len(log)) || log[seq-1] != line {
				tr.T.Errorf("client %d saw %s, which differs from the log", i, line)
			}
		}
		r.mu.Unlock()
	}
	tr.T.Logf("%s: %d events, %d turns, %d decisions, %d rules", end.Agent, end.Seq, end.Turns, mine, len(end.Rules))
}

// checkResumedTurns checks the turns of an agent that resumes: each is completed and has every
// delta of its burst exactly once.
func (tr *trial) checkResumedTurns(ctx context.Context, id string) {
	tr.T.Helper()
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	seen := map[string]map[string]int{} // count by turn and delta
	for _, line := range tr.readLog(ctx, id, end.Seq) {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			tr.T.Fatal(err)
		}
		switch e.Type {
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			_ = e.Decode(&d)
			if _, err := strconv.Atoi(strings.TrimSuffix(d.Text, " ")); err == nil && strings.HasSuffix(d.Text, " ") {
				if seen[e.Turn] == nil {
					seen[e.Turn] = map[string]int{}
				}
				seen[e.Turn][d.Text]++
			}
		case protocol.TurnEnded:
			var d protocol.TurnEndedData
			if _ = e.Decode(&d); d.Reason != protocol.ReasonCompleted {
				tr.T.Errorf("a turn that resumes ended with %+v", d)
			}
		}
	}
	duplicates := 0
	for turn, deltas := range seen {
		if len(deltas) != burstDeltas {
			tr.T.Errorf("%s: the log has %d of %d deltas", turn, len(deltas), burstDeltas)
		}
		for _, n := range deltas {
			duplicates += n - 1
		}
	}
	if duplicates > 0 || len(seen) == 0 {
		tr.T.Errorf("%d duplicate deltas in %d turns", duplicates, len(seen))
	}
}

// readLog returns the lines of the log up to seq.
func (tr *trial) readLog(ctx context.Context, id string, seq uint64) []string {
	tr.T.Helper()
	c := tr.connect("auditor")
	defer c.Close()
	r := &recorder{session: id, options: wsclient.SubscribeOptions{Since: &protocol.Position{}, Raw: true}}
	ctx, done := context.WithCancel(ctx)
	defer done()
	r.follow(ctx, c, func(e *protocol.Event) {
		if e.Seq >= seq {
			done()
		}
	})
	if r.err != nil || r.at.Seq < seq {
		tr.T.Fatalf("read the log: at %v of %d: %v", r.at, seq, r.err)
	}
	log := make([]string, seq)
	for i := range log {
		log[i] = r.lines[uint64(i)+1]
	}
	return log
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
