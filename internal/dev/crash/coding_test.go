//go:build linux

package crash

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

const (
	codingSteps  = 40
	codingWindow = 10_000 // tokens: full several times in a task
	screenshot   = "shot.png"
)

// codingKills are the steps during which the server is killed: one call of each kind, and others. The tenth kill
// is during the first summary.
var codingKills = []int{2, 6, 8, 10, 14, 19, 22, 25, 33}

// switchStep is the step at which the session gets a model of another provider.
const switchStep = 21

// A codingModel works through the steps of a task. It knows only the conversation: what is done stands in its
// texts, in results and in its summaries, and it checks what a call may have done.
type codingModel struct {
	t     *testing.T
	shot  string // the screenshot in base64
	kills chan int

	// change is closed at switchStep. The model then waits for changed.
	change, changed chan struct{}

	mu        sync.Mutex
	reached   map[int]bool
	summaries int
	shots     map[int]bool // steps whose result was sent with the screenshot
}

// codingMark is a state of the task in a text.
var codingMark = regexp.MustCompile(`\[(step|done|todo|ask|read)-([0-9]+)\]`)

// A codingState is the last step that a conversation knows, and its state: step, done, todo (again), ask (what the
// call did must be checked) or read (the file must be read before).
type codingState struct {
	kind string
	step int
}

func stateOf(messages []fakemodel.Message) (s codingState) {
	s.kind = "done"
	for _, m := range messages {
		marks := codingMark.FindAllStringSubmatch(m.Text, -1)
		switch {
		case m.Role == fakemodel.Tool && len(marks) == 0:
			switch {
			case s.kind == "read":
				s.kind = "todo"
			case s.kind == "step" && strings.Contains(m.Text, "It is not known whether"):
				s.kind = "ask"
			case s.kind == "step" && strings.Contains(m.Text, "read it before you change it"):
				s.kind = "read"
			case s.kind == "step":
				s.kind = "done"
			}
		case m.Role == fakemodel.Assistant && m.Call != "":
			if s.kind == "todo" {
				s.kind = "step"
			}
		case len(marks) > 0:
			last := marks[len(marks)-1]
			n, _ := strconv.Atoi(last[2]) // digits
			s = codingState{kind: last[1], step: n}
		}
	}
	return s
}

func (c *codingModel) answer(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
	s := stateOf(r.Messages)
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.Contains(string(r.Body), "with these sections") {
		if c.summaries++; c.summaries == 1 {
			c.kills <- 0
		}
		say(ctx, out, fmt.Sprintf("Goal: the steps. [%s-%d] ", s.kind, s.step))
		return
	}
	last := r.Messages[len(r.Messages)-1]
	if s.kind == "done" && s.step%10 == 3 && !codingMark.MatchString(last.Text) {
		if c.shots[s.step] = true; !strings.Contains(string(r.Body), c.shot) {
			c.t.Errorf("step %d: the screenshot is not in the request: %s", s.step, last.Text)
		}
	}
	switch {
	case s.kind == "ask":
		out.Call("shell", map[string]string{"command": fmt.Sprintf(
			"if %s; then echo '[done-%d]'; else echo '[todo-%d]'; fi", codingCheck(s.step), s.step, s.step)})
		return
	case s.kind == "read":
		out.Call("read", map[string]string{"path": codingFile(s.step - 1)})
		return
	case s.kind == "done" && s.step == codingSteps:
		say(ctx, out, "all steps are done")
		return
	case s.kind == "done":
		s.step++
		say(ctx, out, fmt.Sprintf("[step-%d] comes next ", s.step))
	}
	if !c.reached[s.step] {
		c.reached[s.step] = true
		for _, k := range codingKills {
			if k == s.step {
				c.kills <- k
			}
		}
		if s.step == switchStep {
			close(c.change)
		}
	}
	if s.step == switchStep {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return
		}
	}
	name, arguments := codingCall(s.step)
	out.Call(name, arguments)
}

// codingCall returns the call of a step. No call may take effect twice.
func codingCall(n int) (name string, arguments map[string]string) {
	switch n % 5 {
	case 0:
		return "shell", map[string]string{"command": fmt.Sprintf(
			"sleep 0.03; echo 'line %d' >>log; head -c 9000 /dev/zero | tr '\\0' %d", n, n%10)}
	case 1:
		return "write", map[string]string{"path": codingFile(n), "content": fmt.Sprintf("made in %d, draft\n", n)}
	case 2:
		return "edit", map[string]string{
			"path": codingFile(n - 1), "old_string": ", draft", "new_string": fmt.Sprintf(", changed in %d", n),
		}
	case 3:
		if n%10 == 3 {
			return "read", map[string]string{"path": screenshot}
		}
		return "read", map[string]string{"path": "manual.txt"}
	}
	return "apply_patch", map[string]string{"patch": fmt.Sprintf(
		"*** Begin Patch\n*** Add File: a-%[1]d\n+a of %[1]d\n*** Update File: total\n@@\n-%[2]d\n+%[1]d\n*** End Patch\n",
		n, n-5)}
}

func codingFile(n int) string { return fmt.Sprint("file-", n) }

// codingCheck returns the command that checks whether a step took effect.
func codingCheck(n int) string {
	switch n % 5 {
	case 0:
		return fmt.Sprintf("grep -qx 'line %d' log", n)
	case 1:
		return "test -e " + codingFile(n)
	case 2:
		return fmt.Sprintf("grep -q 'changed in %d' %s", n, codingFile(n-1))
	case 4:
		return fmt.Sprint("test -e a-", n)
	}
	return "false" // a read
}

// codingFiles returns the files after a number of steps.
func codingFiles(steps int) map[string]string {
	files := map[string]string{"total": "-1\n", "log": ""}
	for n := 1; n <= steps; n++ {
		switch n % 5 {
		case 0:
			files["log"] += fmt.Sprintf("line %d\n", n)
		case 1:
			files[codingFile(n)] = fmt.Sprintf("made in %d, draft\n", n)
		case 2:
			files[codingFile(n-1)] = fmt.Sprintf("made in %d, changed in %d\n", n-1, n)
		case 4:
			files[fmt.Sprint("a-", n)] = fmt.Sprintf("a of %d\n", n)
			files["total"] = fmt.Sprintf("%d\n", n)
		}
	}
	return files
}

// A task of 40 steps survives ten kills of the server, compactions and a switch to another provider, on each API:
// every step takes effect once, the model sees the screenshots, and no request is too large.
func TestALongTaskSurvivesKillsCompactionsAndASwitch(t *testing.T) {
	t.Parallel()
	apis := []string{"anthropic", "openai", "chat"}
	for i, first := range apis[:codingTasks] {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			runCodingTask(t, first, apis[(i+1)%len(apis)])
		})
	}
}

func runCodingTask(t *testing.T, first, second string) {
	shot := noise(t)
	c := &codingModel{
		t: t, shot: base64.StdEncoding.EncodeToString(shot), kills: make(chan int, len(codingKills)+1),
		change: make(chan struct{}), changed: make(chan struct{}), reached: map[int]bool{}, shots: map[int]bool{},
	}
	handler := fakemodel.Limited(codingWindow, c.answer)
	model := httptest.NewServer(handler)
	defer model.Close()
	defer model.CloseClientConnections()
	tr := newTrial(t, 40, uint64(len(first)))
	providers, names := map[string]any{}, []string{}
	for _, api := range []string{first, second} {
		providers["fake-"+api] = map[string]any{
			"api": api, "base_url": model.URL, "models": map[string]any{"m": map[string]any{"window": codingWindow}},
		}
		names = append(names, "fake-"+api+"/m")
	}
	tr.write("config", protocol.MustEncode(map[string]any{"providers": providers, "agents": map[string]any{
		"coder": map[string]any{"model": names[0], "models": names, "policy": "full"},
	}}))
	work := filepath.Join(tr.Dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	tr.write("work/"+screenshot, shot)
	tr.write("work/manual.txt", []byte(strings.Repeat("a line of the manual\n", 250)))
	for name, text := range codingFiles(0) {
		tr.write("work/"+name, []byte(text))
	}
	tr.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tr.client = tr.connect("driver")
	defer tr.client.Close()
	id := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{Agent: "coder", CWD: work}).Session
	must[protocol.SendResult](ctx, tr, protocol.DoSend, id, protocol.SendData{
		Text: "do all steps", Parts: []protocol.Part{{
			Type: "image", Name: screenshot, MediaType: "image/png", URL: "data:image/png;base64," + c.shot,
		}},
	})
	var live sync.WaitGroup
	live.Go(func() {
		for range cap(c.kills) {
			select {
			case <-c.kills:
			case <-ctx.Done():
				return
			}
			pause(ctx, time.Duration(tr.rng.IntN(70))*time.Millisecond)
			left := tr.Kill()
			tr.Start()
			tr.CheckGone(left)
		}
	})
	live.Go(func() {
		defer close(c.changed)
		select {
		case <-c.change:
		case <-ctx.Done():
			return
		}
		_, err := wsclient.Call[protocol.Empty](ctx, tr.client, protocol.DoConfigure, id,
			protocol.ConfigureData{Setting: "model", Value: names[1]})
		if err != nil {
			t.Errorf("switch to %s: %v", names[1], err)
		}
	})
	tr.waitTurn(ctx, id, 0)
	live.Wait()
	if ctx.Err() != nil {
		t.Fatal("the session is stuck")
	}
	checkCodingTask(ctx, tr, c, handler, id)
	tr.Stop()
}

func checkCodingTask(ctx context.Context, tr *trial, c *codingModel, handler *fakemodel.Handler, id string) {
	t := tr.T
	t.Helper()
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	if end.Turns != 1 || end.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("after %d turns, the last ended with %s %s", end.Turns, end.Last.Reason, end.Last.Message)
	}
	for name, want := range codingFiles(codingSteps) {
		if got, err := os.ReadFile(filepath.Join(tr.Dir, "work", name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, want %q, %v", name, got, want, err)
		}
	}
	compacted, summaries, resumed := 0, 0, 0
	for _, line := range tr.readLog(ctx, id, end.Seq) {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == protocol.ContextCompacted {
			compacted++
			if strings.Contains(line, `"summary"`) {
				summaries++
			}
		}
		if e.Type == protocol.TurnStarted && strings.Contains(line, `"resumed":true`) {
			resumed++
		}
	}
	apis := map[fakemodel.API]int{}
	for i, r := range handler.Requests() {
		apis[r.API]++
		if len(r.Body)/4 >= codingWindow {
			t.Errorf("request %d has %d tokens", i, len(r.Body)/4)
		}
	}
	if first := handler.Requests()[0]; !strings.Contains(string(first.Body), c.shot) {
		t.Error("the image of the message is not in the first request")
	}
	if compacted < 2 || summaries == 0 || resumed != len(codingKills)+1 || len(apis) != 2 || len(c.shots) < codingSteps/10 {
		t.Errorf("%d compactions, %d resumed, requests %v, %d screenshots", compacted, resumed, apis, len(c.shots))
	}
	if t.Failed() { // the conversations around the failure are needed to understand it
		for _, r := range handler.Requests() {
			t.Logf("request %d by %s: %s", r.N, r.API, brief(r.Messages))
		}
	}
	t.Logf("%d compactions, %d by summaries, %d resumed, requests %v", compacted, summaries, resumed, apis)
}

// noise returns a small image that does not compress.
func noise(t *testing.T) []byte {
	t.Helper()
	img, rng := image.NewRGBA(image.Rect(0, 0, 16, 16)), rand.New(rand.NewPCG(1, 1))
	for i := range 16 * 16 {
		img.Set(i%16, i/16, color.Gray{Y: uint8(rng.IntN(256))})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// brief returns the last messages of a request, cut.
func brief(messages []fakemodel.Message) string {
	var b strings.Builder
	for _, m := range messages[max(0, len(messages)-5):] {
		fmt.Fprintf(&b, "%s %s %.60q; ", m.Role, m.Call, m.Text)
	}
	return b.String()
}
