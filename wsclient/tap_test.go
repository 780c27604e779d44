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

	"agentctl/protocol/codec"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
)

// A witness keeps what a tap shows, as lines: > sent, < received, # a note.
type witness struct {
	mu    sync.Mutex
	lines []string
}

func (w *witness) see(f Frame) {
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

// saw waits until all is at rest and gives the lines with a mark.
func (w *witness) saw(marks string) []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.lines), func(l string) bool { return !strings.Contains(marks, l[:1]) })
}

func TestATapSeesTheConnectionAsItIs(t *testing.T) {
	var w witness
	inBubble(t, Options{OnFrame: w.see, Token: "s3cr3t"}, func(t *testing.T, f *fake, c *Client) {
		connected := make(chan error, 1)
		go func() { connected <- c.Connect(t.Context()) }()
		p := f.open()
		if err := <-connected; err != nil {
			t.Fatal(err)
		}
		listed := make(chan error, 1)
		go func() { listed <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		p.answer(p.next(protocol.DoList), protocol.ListResult{})
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		got := w.saw("<>#")
		want := []string{"#opened ws://server/v1/ws", `>{"id":"hello"`, `<{"id":"hello"`, `>{"id":"1","command":"list"`, `<{"id":"1"`}
		if len(got) != len(want) {
			t.Fatalf("saw %q", got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("line %d is %s, want %s…", i, got[i], want[i])
			}
		}
		_ = p.conn.Close(websocket.StatusGoingAway, "restart")
		notes := w.saw("#")
		if last := notes[len(notes)-1]; !strings.HasPrefix(last, "#not connected: ") || !strings.Contains(last, "restart") {
			t.Errorf("the last note is %q", last)
		}
		if all := strings.Join(w.saw("<>#"), "\n"); strings.Contains(all, "s3cr3t") {
			t.Errorf("a credential was shown: %s", all)
		}
	})
}

func TestATapOfADialectSeesTheForeignBytes(t *testing.T) {
	var w witness
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		defer f.close()
		var heard []string
		var mu sync.Mutex
		const said = `{"id":"m1","type":"loading_state","payload":{"loading":true}}`
		f.setRefuse(func(rw http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(rw, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			if err := conn.Write(context.Background(), websocket.MessageText, []byte(said)); err != nil {
				t.Error(err)
			}
			for {
				_, b, err := conn.Read(context.Background())
				if err != nil {
					return
				}
				mu.Lock()
				heard = append(heard, ">"+string(b))
				mu.Unlock()
			}
		})
		c := f.client(Options{OnFrame: w.see, Dialect: "agentloop"})
		defer c.Close()
		all, err := Call[protocol.ListResult](t.Context(), c, protocol.DoList, "", nil)
		if err != nil || len(all.Sessions) != 1 {
			t.Fatal(all, err)
		}
		sent := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := Call[protocol.SendResult](ctx, c, protocol.DoSend, all.Sessions[0].Session, protocol.SendData{Text: "hello there"})
			sent <- err
		}()
		got := w.saw(">")
		mu.Lock()
		if len(heard) == 0 || !slices.Equal(got, heard) {
			t.Errorf("the tap saw %q, the server heard %q", got, heard)
		}
		mu.Unlock()
		if !strings.Contains(strings.Join(got, "\n"), "hello there") {
			t.Errorf("saw %q", got)
		}
		if in := w.saw("<"); len(in) != 1 || in[0] != "<"+said {
			t.Errorf("received %q", in)
		}
		cancel()
		<-sent
	})
}

func TestATapTakesNothingFromACodec(t *testing.T) {
	getters := 0
	for _, name := range dialect.Names() {
		spoken, _ := dialect.Find(name)
		c := spoken.Client(codec.ClientOptions{URL: "ws://host", ID: newID, Resume: new(codec.ClientState)})
		_, is := c.(dialect.HTTPReader)
		if _, still := newTap(func(Frame) {}).codec(c).(dialect.HTTPReader); still != is {
			t.Errorf("%s: asks over HTTP: %v, tapped: %v", name, is, still)
		}
		if is {
			getters++
		}
	}
	if getters == 0 {
		t.Error("no dialect asks over HTTP: this test proves nothing")
	}
}

// telling is a codec whose every method says a foreign frame of its name.
type telling struct{}

func (telling) out(what string) codec.Output {
	return codec.Output{Native: [][]byte{[]byte(what)}, Foreign: []codec.Frame{{Data: []byte(what)}}, Wake: time.Unix(1, 0)}
}
func (c telling) Open(time.Time) codec.Output                     { return c.out("open") }
func (c telling) Native(time.Time, []byte) codec.Output           { return c.out("native") }
func (c telling) Foreign(time.Time, codec.Frame) codec.Output     { return c.out("foreign") }
func (c telling) Wake(time.Time) codec.Output                     { return c.out("wake") }
func (c telling) Paths() []string                                 { return []string{"/history"} }
func (c telling) PathRead(time.Time, string, []byte) codec.Output { return c.out("got") }

func TestATappedCodecSaysWhatItWouldHaveSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w witness
		now := time.Now()
		c := newTap(func(f Frame) {
			if f.Time.Before(now) || time.Since(f.Time) > time.Minute {
				t.Errorf("a frame of %v", f.Time)
			}
			w.see(f)
		}).codec(telling{})
		g, ok := c.(dialect.HTTPReader)
		if !ok {
			t.Fatal("it asks over HTTP no more")
		}
		for what, got := range map[string]codec.Output{
			"open": c.Open(now), "native": c.Native(now, nil), "foreign": c.Foreign(now, codec.Frame{Data: []byte("heard")}), "wake": c.Wake(now), "got": g.PathRead(now, "/history", []byte("body")),
		} {
			if want := (telling{}).out(what); !reflect.DeepEqual(got, want) {
				t.Errorf("%s says %+v, want %+v", what, got, want)
			}
		}
		if got := g.Paths(); !slices.Equal(got, []string{"/history"}) {
			t.Errorf("asks for %q", got)
		}
		if got, want := w.saw("<>#"), []string{">open", ">native", "<heard", ">foreign", ">wake", "#GET /history: 4 bytes", ">got", "#GET /history"}; !slices.Equal(got, want) {
			t.Errorf("saw %q, want %q", got, want)
		}
	})
}
