package wsclient

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A frameLog records frames as lines: > sent, < received, # note.
type frameLog struct {
	mu    sync.Mutex
	lines []string
}

func (w *frameLog) record(f Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case f.Note != "":
		w.lines = append(w.lines, "#"+f.Note)
	case f.Sent:
		w.lines = append(w.lines, ">"+string(f.Data))
	default:
		w.lines = append(w.lines, "<"+string(f.Data))
	}
}

// matching waits until the bubble is idle and returns the lines with one of the marks.
func (w *frameLog) matching(marks string) []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.lines), func(l string) bool { return !strings.Contains(marks, l[:1]) })
}

func TestOnFrameGetsTheConnectionsFrames(t *testing.T) {
	var w frameLog
	withFakeServer(t, Options{OnFrame: w.record, Token: "s3cr3t"}, func(t *testing.T, f *fakeServer, c *Client) {
		connected := make(chan error, 1)
		go func() { connected <- c.Connect(t.Context()) }()
		p := f.acceptHello()
		if err := <-connected; err != nil {
			t.Fatal(err)
		}
		listed := make(chan error, 1)
		go func() { listed <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		p.answer(p.nextCommand(protocol.DoList), protocol.ListResult{})
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		got := w.matching("<>#")
		want := []string{
			"#opened ws://server/v1/ws",
			`>{"id":"hello"`,
			`<{"id":"hello"`,
			`>{"id":"1","command":"list"`,
			`<{"id":"1"`,
		}
		if len(got) != len(want) {
			t.Fatalf("saw %q", got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("line %d is %s, want %s…", i, got[i], want[i])
			}
		}
		_ = p.ws.Close(websocket.StatusGoingAway, "restart")
		notes := w.matching("#")
		if last := notes[len(notes)-1]; !strings.HasPrefix(last, "#not connected: ") ||
			!strings.Contains(last, "restart") {
			t.Errorf("the last note is %q", last)
		}
		if all := strings.Join(w.matching("<>#"), "\n"); strings.Contains(all, "s3cr3t") {
			t.Errorf("a credential is in the frames: %s", all)
		}
	})
}

func TestOnFrameGetsTheDialectsFrames(t *testing.T) {
	var w frameLog
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer(t)
		defer f.close()
		var received []string
		var mu sync.Mutex
		const frame = `{"id":"m1","type":"loading_state","payload":{"loading":true}}`
		f.setHandler(func(rw http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(rw, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			if err := conn.Write(context.Background(), websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
			}
			for {
				_, b, err := conn.Read(context.Background())
				if err != nil {
					return
				}
				mu.Lock()
				received = append(received, ">"+string(b))
				mu.Unlock()
			}
		})
		c := f.client(Options{OnFrame: w.record, Dialect: "agentloop"})
		defer c.Close()
		all, err := Call[protocol.ListResult](t.Context(), c, protocol.DoList, "", nil)
		if err != nil || len(all.Sessions) != 1 {
			t.Fatal(all, err)
		}
		sent := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := Call[protocol.SendResult](
				ctx, c, protocol.DoSend, all.Sessions[0].Session, protocol.SendData{Text: "hello there"},
			)
			sent <- err
		}()
		got := w.matching(">")
		mu.Lock()
		if len(received) == 0 || !slices.Equal(got, received) {
			t.Errorf("OnFrame got %q, the server received %q", got, received)
		}
		mu.Unlock()
		if !strings.Contains(strings.Join(got, "\n"), "hello there") {
			t.Errorf("saw %q", got)
		}
		if in := w.matching("<"); len(in) != 1 || in[0] != "<"+frame {
			t.Errorf("received %q", in)
		}
		cancel()
		<-sent
	})
}

func TestObservedCodecsKeepTheirInterfaces(t *testing.T) {
	getters := 0
	for _, name := range dialect.Names() {
		d, _ := dialect.Find(name)
		c := d.Client(codec.ClientOptions{URL: "ws://host", ID: newID, Resume: new(codec.ClientState)})
		_, is := c.(dialect.HTTPReader)
		if _, still := (&frameObserver{onFrame: func(Frame) {}}).observe(c).(dialect.HTTPReader); still != is {
			t.Errorf("%s: Getter: %v, observed: %v", name, is, still)
		}
		if is {
			getters++
		}
	}
	if getters == 0 {
		t.Error("no dialect is a Getter: the test checks nothing")
	}
}

// A labelCodec emits, from each method, a foreign frame with the method's name.
type labelCodec struct{}

var _ dialect.HTTPReader = labelCodec{}

func (labelCodec) output(label string) codec.Output {
	return codec.Output{
		Native: [][]byte{[]byte(label)}, Foreign: []codec.Frame{{Data: []byte(label)}}, Wake: time.Unix(1, 0),
	}
}
func (c labelCodec) Open(time.Time) codec.Output                     { return c.output("open") }
func (c labelCodec) Native(time.Time, []byte) codec.Output           { return c.output("native") }
func (c labelCodec) Foreign(time.Time, codec.Frame) codec.Output     { return c.output("foreign") }
func (c labelCodec) Wake(time.Time) codec.Output                     { return c.output("wake") }
func (c labelCodec) Paths() []string                                 { return []string{"/history"} }
func (c labelCodec) PathRead(time.Time, string, []byte) codec.Output { return c.output("got") }

func TestAnObservedCodecHasTheSameOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w frameLog
		now := time.Now()
		c := (&frameObserver{onFrame: func(f Frame) {
			if f.Time.Before(now) || time.Since(f.Time) > time.Minute {
				t.Errorf("a frame of %v", f.Time)
			}
			w.record(f)
		}}).observe(labelCodec{})
		g, ok := c.(dialect.HTTPReader)
		if !ok {
			t.Fatal("the observed codec is not a Getter")
		}
		for what, got := range map[string]codec.Output{
			"open": c.Open(now), "native": c.Native(now, nil),
			"foreign": c.Foreign(now, codec.Frame{Data: []byte("received")}),
			"wake":    c.Wake(now), "got": g.PathRead(now, "/history", []byte("body")),
		} {
			if want := (labelCodec{}).output(what); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: output %+v, want %+v", what, got, want)
			}
		}
		if got := g.Paths(); !slices.Equal(got, []string{"/history"}) {
			t.Errorf("Gets returned %q", got)
		}
		if got, want := w.matching("<>#"), []string{
			">open", ">native", "<received", ">foreign", ">wake",
			"#GET /history: 4 bytes", ">got", "#GET /history",
		}; !slices.Equal(got, want) {
			t.Errorf("saw %q, want %q", got, want)
		}
	})
}
