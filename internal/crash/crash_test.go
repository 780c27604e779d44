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

	"agentctl/internal/fakeacp"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// turnOf is a turn that a script plays.
var turnOf = `
{"pace":{"words":1,"delay":"1ms"}}
{"turn":1}
{"spawn":["sh","-c","STUBBORN sleep 600 & wait; sleep 600"]}
{"say":"up"}
{"on":"*"}
{"think":"one two three four"}
{"burst":` + strconv.Itoa(burst) + `,"delay":"1ms","parts":2}
{"tool":"shell","output":"a b c d e f g h i j","exit":0}
{"ask":"command","command":"make {n}","then":[{"say":"allowed: {n}"}],"else":[{"say":"denied: {n}"}]}
{"plan":"Q","tasks":[{"id":"a","title":"A","steps":[{"say":"in a, word by word"}]},{"id":"b","title":"B","steps":[{"say":"in b, word by word"},{"tool":"t"}]}]}
{"say":"end of {n}"}
`

// prompt is the same for the ACP agent.
const prompt = "think one\nchild\nburst 100\n" + `ask {"toolCallId":"t","title":"make","kind":"execute"}` + "\nsay end"

// burst and kills are how many deltas a turn's burst has, and how often a trial's server is killed.
const burst, kills = 120, 3

// A trial is one server, its sessions and the people who use them.
type trial struct {
	*server
	hard   bool // agents are stubborn, and there is an ACP agent
	rng    *rand.Rand
	client *wsclient.Client // of who drives

	mu       sync.Mutex
	accepted map[string][]string               // by session: client message ids, in the order they were accepted
	decided  map[string]protocol.ApproveResult // by request
	records  []*record
}

func TestWhatWasShownOrAnsweredOutlivesAKilledServer(t *testing.T) {
	for seed := range seeds(t) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			try(t, seed)
		})
	}
}

func try(t *testing.T, seed uint64) {
	tr := &trial{
		server: &server{t: t, dir: t.TempDir()}, hard: seed%5 == 0, rng: rand.New(rand.NewPCG(seed, 1)),
		accepted: map[string][]string{}, decided: map[string]protocol.ApproveResult{},
	}
	tr.configure()
	t.Cleanup(tr.sweep)
	tr.start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	following, leave := context.WithCancel(ctx)
	var live sync.WaitGroup
	defer live.Wait()
	defer leave()
	tr.client = tr.connect("driver")
	defer tr.client.Close()

	sessions := []string{"plain", "resuming"}
	if tr.hard {
		sessions = append(sessions, "acp")
	}
	ids := map[string]string{}
	for _, agent := range sessions {
		r := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{Agent: agent, CWD: tr.dir})
		ids[agent] = r.Session
	}
	for i, o := range []wsclient.SubscribeOptions{{Since: &protocol.Position{}, Raw: true}, {Since: &protocol.Position{}}, {}} {
		c := tr.connect(fmt.Sprint("watcher ", i))
		defer c.Close()
		for _, id := range ids {
			r := &record{session: id, options: o}
			tr.records = append(tr.records, r)
			live.Go(func() { r.follow(following, c, nil) })
		}
	}
	for _, id := range ids {
		c := tr.connect("approver")
		defer c.Close()
		decide := rand.New(rand.NewPCG(seed, 2))
		r := &record{session: id, options: wsclient.SubscribeOptions{}}
		live.Go(func() { r.follow(following, c, func(e *protocol.Event) { tr.decide(following, c, decide, e) }) })
		tr.records = append(tr.records, r)
	}
	var sending sync.WaitGroup
	for agent, id := range ids {
		when := rand.New(rand.NewPCG(seed, 3))
		sending.Go(func() { tr.drive(ctx, agent, id, when) })
	}

	for range kills {
		pause(ctx, time.Duration(tr.rng.IntN(600))*time.Millisecond)
		left := tr.kill()
		tr.start()
		for _, pid := range left {
			if alive(pid, tr.dir) {
				t.Errorf("process %d of an agent of the killed server is still there", pid)
			}
		}
	}
	sending.Wait()
	for agent, id := range ids {
		tr.settle(ctx, agent, id)
	}
	for _, id := range ids {
		tr.audit(ctx, id)
	}
	tr.whole(ctx, ids["resuming"])
	leave()
	live.Wait()
	tr.stop()
	if left := tr.agents(); len(left) > 0 {
		t.Errorf("processes %v are left of the stopped server", left)
	}
	if t.Failed() {
		text, _ := os.ReadFile(filepath.Join(tr.dir, "log"))
		t.Logf("the servers said:\n%s", text)
	}
}

// configure writes the server's configuration.
func (tr *trial) configure() {
	tr.t.Helper()
	self, err := os.Executable()
	if err != nil {
		tr.t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(tr.dir, name), []byte(text), 0o600); err != nil {
			tr.t.Fatal(err)
		}
	}
	stubborn := ""
	if tr.hard {
		stubborn = "trap '' TERM HUP;"
	}
	script := strings.ReplaceAll(turnOf, "STUBBORN", stubborn)
	write("plain.script", script)
	write("resuming.script", `{"resumes":true}`+script)
	config, err := json.Marshal(map[string]any{"agents": map[string]any{
		"plain":    map[string]any{"script": filepath.Join(tr.dir, "plain.script")},
		"resuming": map[string]any{"script": filepath.Join(tr.dir, "resuming.script")},
		"acp":      map[string]any{"command": self, "env": map[string]string{fakeacp.EnvVar: "stubborn"}},
	}})
	if err != nil {
		tr.t.Fatal(err)
	}
	write("config", string(config))
}

func (tr *trial) connect(name string) *wsclient.Client {
	return wsclient.New(tr.url, wsclient.Options{Name: name, UserAgent: "crash"})
}

// must does a command that has to succeed, over any number of restarts.
func must[R any](ctx context.Context, tr *trial, verb protocol.Verb, session string, data any) R {
	tr.t.Helper()
	r, err := wsclient.Call[R](ctx, tr.client, verb, session, data)
	if err != nil {
		tr.t.Fatalf("%s: %v", verb, err)
	}
	return r
}

// drive sends messages to a session and keeps its queue going: a restart holds it.
func (tr *trial) drive(ctx context.Context, agent, id string, rng *rand.Rand) {
	for i := range 6 {
		text := "go"
		if agent == "acp" {
			text = prompt
		}
		name := fmt.Sprint("message ", i)
		_, err := wsclient.Call[protocol.SendResult](ctx, tr.client, protocol.DoSend, id, protocol.SendData{Text: text, ClientMessageID: name})
		if err != nil {
			tr.t.Errorf("send to %s: %v", agent, err)
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
	if _, err := wsclient.Call[protocol.QueueReleaseResult](ctx, tr.client, protocol.DoQueueRelease, id, nil); err != nil {
		tr.t.Errorf("release: %v", err)
	}
}

// decide answers a request that is seen.
func (tr *trial) decide(ctx context.Context, c *wsclient.Client, rng *rand.Rand, e *protocol.Event) {
	if e.Type != protocol.ApprovalRequested {
		return
	}
	var a protocol.Approval
	if err := e.Decode(&a); err != nil {
		tr.t.Error(err)
		return
	}
	d := []protocol.Decision{protocol.AllowOnce, protocol.AllowOnce, protocol.Deny, protocol.AllowAlways}[rng.IntN(4)]
	if d == protocol.AllowAlways && a.Kind != protocol.ApproveCommand {
		d = protocol.AllowOnce
	}
	r, err := wsclient.Call[protocol.ApproveResult](ctx, c, protocol.DoApprove, e.Session, protocol.ApproveData{Request: a.Request, Decision: d})
	switch protocol.CodeOf(err) {
	case "":
		tr.mu.Lock()
		tr.decided[a.Request] = r
		tr.mu.Unlock()
	case protocol.CodeConflict: // its turn was cut
	case protocol.CodeUnsupported:
		if _, err := wsclient.Call[protocol.ApproveResult](ctx, c, protocol.DoApprove, e.Session,
			protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}); err != nil && ctx.Err() == nil && protocol.CodeOf(err) != protocol.CodeConflict {
			tr.t.Errorf("approve: %v", err)
		}
	default:
		if ctx.Err() == nil {
			tr.t.Errorf("approve: %v", err)
		}
	}
}

// settle waits until the session is idle with nothing queued, and sees that it still works.
func (tr *trial) settle(ctx context.Context, agent, id string) {
	tr.t.Helper()
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
		tr.t.Fatalf("the session of %s is stuck", agent)
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
		tr.t.Errorf("%s: the turn after all ended with %s %s", agent, after.Last.Reason, after.Last.Message)
	}
}

// audit compares what anybody saw or was answered with what is there in the end.
func (tr *trial) audit(ctx context.Context, id string) {
	tr.t.Helper()
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	log := tr.read(ctx, id, end.Seq)

	var sent []string
	outcomes := map[string]protocol.ApprovalResolvedData{}
	open := map[string]int{}
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			tr.t.Fatal(err)
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
				tr.t.Errorf("request %s was decided twice", r.Request)
			}
			outcomes[r.Request] = r
		case protocol.ToolStarted:
			var d protocol.ToolStartedData
			_ = e.Decode(&d)
			if open[d.Tool]++; open[d.Tool] > 1 && !strings.HasPrefix(d.Tool, "t") { // the fake ACP agent's own ids come again
				tr.t.Errorf("tool %s was started %d times", d.Tool, open[d.Tool])
			}
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if got, want := strings.Join(sent, ", "), strings.Join(tr.accepted[id], ", "); got != want {
		tr.t.Errorf("accepted were %s; their turns are %s", want, got)
	}
	rules := map[string]bool{}
	for _, r := range end.Rules {
		rules[r.ID] = true
	}
	mine := 0
	for request, r := range tr.decided {
		got, ok := outcomes[request]
		if !ok {
			continue // of another session
		}
		mine++
		if got.Decision != r.Decision || got.Outcome != r.Outcome {
			tr.t.Errorf("%s was answered with %+v; the log has %+v", request, r, got)
		}
		if r.Rule != nil && !rules[r.Rule.ID] {
			tr.t.Errorf("the rule %s is lost", r.Rule.ID)
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
			tr.t.Errorf("client %d: %v", i, r.err)
		} else if got := string(protocol.MustEncode(r.state)); got != want {
			tr.t.Errorf("client %d ends with\n%s\nthe server has\n%s", i, got, want)
		}
		for seq, line := range r.lines {
			if seq > uint64(len(log)) || log[seq-1] != line {
				tr.t.Errorf("client %d saw %s; that is not what is there", i, line)
			}
		}
		r.mu.Unlock()
	}
	tr.t.Logf("%s: %d events, %d turns, %d decisions, %d rules", end.Agent, end.Seq, end.Turns, mine, len(end.Rules))
}

// whole holds an agent that resumes to its turns: each is complete, and of each burst every delta is there, once.
func (tr *trial) whole(ctx context.Context, id string) {
	tr.t.Helper()
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	seen := map[string]map[string]int{} // by turn and delta
	for _, line := range tr.read(ctx, id, end.Seq) {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			tr.t.Fatal(err)
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
				tr.t.Errorf("a turn that resumes ended with %+v", d)
			}
		}
	}
	twice := 0
	for turn, deltas := range seen {
		if len(deltas) != burst {
			tr.t.Errorf("%s: %d of %d deltas are there", turn, len(deltas), burst)
		}
		for _, n := range deltas {
			twice += n - 1
		}
	}
	if twice > 0 || len(seen) == 0 {
		tr.t.Errorf("%d deltas are there twice, in %d turns", twice, len(seen))
	}
}

// read returns the lines of the log up to seq.
func (tr *trial) read(ctx context.Context, id string, seq uint64) []string {
	tr.t.Helper()
	c := tr.connect("auditor")
	defer c.Close()
	r := &record{session: id, options: wsclient.SubscribeOptions{Since: &protocol.Position{}, Raw: true}}
	ctx, done := context.WithCancel(ctx)
	defer done()
	r.follow(ctx, c, func(e *protocol.Event) {
		if e.Seq >= seq {
			done()
		}
	})
	if r.err != nil || r.at.Seq < seq {
		tr.t.Fatalf("read the log: at %v of %d: %v", r.at, seq, r.err)
	}
	log := make([]string, seq)
	for i := range log {
		log[i] = r.lines[uint64(i)+1]
	}
	return log
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
