package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other side of a Conn, driven by the test line by line.
type peer struct {
	t     *testing.T
	conn  *Conn
	in    *bufio.Reader  // output of the Conn
	out   io.WriteCloser // input of the Conn
	close func()

	handled chan string
	hold    chan struct{} // unless nil, handlers wait for it
}

func newPeer(t *testing.T, hold chan struct{}) *peer {
	t.Helper()
	fromPeer, toConn := io.Pipe()
	fromConn, toPeer := io.Pipe()
	p := &peer{t: t, in: bufio.NewReader(fromConn), out: toConn, handled: make(chan string, 100), hold: hold}
	p.conn = New(fromPeer, toPeer, p)
	p.close = func() {
		_ = toConn.Close()
		_ = fromConn.Close()
		_ = fromPeer.Close()
		p.conn.Wait()
	}
	t.Cleanup(p.close)
	return p
}

func (p *peer) HandleNotification(method string, params json.RawMessage) {
	if p.hold != nil {
		<-p.hold
	}
	p.handled <- "notify " + method + " " + string(params)
}

func (p *peer) HandleRequest(r *Request) {
	if r.Method == "known" {
		if err := r.Reply(p.t.Context(), map[string]string{"got": string(r.Params)}); err != nil {
			p.t.Error(err)
		}
		return
	}
	if r.Method == "slow" { // answered when it is withdrawn
		go func() {
			<-r.Context().Done()
			p.handled <- "withdrawn " + string(r.Params)
			_ = r.ReplyError(context.Background(), CodeCancelled, "withdrawn") // fails without a connection
		}()
		return
	}
	if err := r.ReplyError(p.t.Context(), CodeMethodNotFound, "no such method"); err != nil {
		p.t.Error(err)
	}
}

func (p *peer) HandleLine(line []byte) bool {
	if string(line) != "known line" {
		return false
	}
	p.handled <- "known line"
	return true
}

func (p *peer) HandleInvalid(line []byte, err error) {
	p.handled <- fmt.Sprintf("garbage %.20s: %v", line, errors.Is(err, errTooLong) || errors.Is(err, errNotRPC))
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.out, l+"\n"); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *peer) receive() string {
	p.t.Helper()
	s, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Error(err)
	}
	return strings.TrimSpace(s)
}

func (p *peer) want(want string) {
	p.t.Helper()
	if got := <-p.handled; got != want {
		p.t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnswersFindTheirCallsInAnyOrder(t *testing.T) {
	p := newPeer(t, nil)
	type answer struct {
		method, result string
		err            error
	}
	answers := make(chan answer)
	for _, m := range []string{"first", "second"} {
		go func() {
			r, err := p.conn.Call(t.Context(), m, map[string]int{"a": 1})
			answers <- answer{m, string(r), err}
		}()
	}
	ids := map[string]string{}
	for range 2 {
		line := p.receive()
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) || string(m.Params) != `{"a":1}` {
			t.Errorf("sent %s", line)
		}
		ids[m.Method] = string(m.ID)
	}
	p.send(`{"id":` + ids["second"] + `,"result":2}`)
	if a := <-answers; a.method != "second" || a.result != "2" || a.err != nil {
		t.Errorf("got %+v", a)
	}
	p.send(`{"jsonrpc":"2.0","id":"` + ids["first"] + `","error":{"code":-32000,"message":"log in","data":{"x":1}}}`)
	a := <-answers
	var e *Error
	if a.method != "first" || !errors.As(a.err, &e) || e.Code != -32000 || e.Message != "log in" ||
		string(e.Data) != `{"x":1}` {
		t.Errorf("got %+v", a)
	}
}

func TestRequestsAreAnsweredWithTheirOwnID(t *testing.T) {
	p := newPeer(t, nil)
	for _, id := range []string{`7`, `"seven"`, `0`} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"known","params":[1]}`)
		if got, want := p.receive(), `{"jsonrpc":"2.0","id":`+id+`,"result":{"got":"[1]"}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"fs/whatever"}`)
		if got := p.receive(); !strings.Contains(got, `"code":-32601`) || !strings.Contains(got, `"id":`+id) {
			t.Errorf("got %s", got)
		}
	}
}

func TestALineThatTheHandlerKnowsIsNotDecoded(t *testing.T) {
	p := newPeer(t, nil)
	p.send("known line", `{"method":"other"}`)
	p.want("known line")
	p.want("notify other ")
}

func TestGarbageIsSurvived(t *testing.T) {
	p := newPeer(t, nil)
	p.send("", "Loaded credentials.", `{"jsonrpc":"2.0"}`, `[1,2]`, `{"id":null}`, `{"id":99,"result":1}`,
		`{"id":{},"result":1}`)
	for _, l := range []string{"Loaded credentials.", `{"jsonrpc":"2.0"}`, `[1,2]`, `{"id":null}`} {
		p.want("garbage " + l + ": true")
	}
	p.send(strings.Repeat("x", MaxLine+2))
	p.want("garbage " + strings.Repeat("x", 20) + ": true")
	p.send(`{"method":"still here","params":"` + "\xff" + `"}`)
	p.want(`notify still here "` + "\uFFFD" + `"`)
}

func TestALongLineIsReadWhole(t *testing.T) {
	p := newPeer(t, nil)
	frame := `{"method":"m","params":""}`
	text := strings.Repeat("y", MaxLine-len(frame))
	p.send(`{"method":"m","params":"` + text + `"}`)
	p.want(`notify m "` + text + `"`)
}

func TestASlowHandlerSlowsThePeerAndLosesNothing(t *testing.T) {
	hold := make(chan struct{})
	p := newPeer(t, hold)
	const n = 50
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range n {
			p.send(fmt.Sprintf(`{"method":"m","params":%d,"pad":%q}`, i, strings.Repeat("z", 64<<10)))
		}
	}()
	for i := range n {
		select {
		case <-sent:
			if i < n-2 {
				t.Fatalf("everything was read with %d of %d handled", i, n)
			}
		default:
		}
		hold <- struct{}{}
		p.want(fmt.Sprintf("notify m %d", i))
	}
	<-sent
}

func TestWhatCameBeforeAnAnswerIsHandledBeforeCallReturns(t *testing.T) {
	p := newPeer(t, nil)
	go func() {
		p.receive()
		p.send(`{"method":"update","params":1}`, `{"method":"update","params":2}`, `{"id":1,"result":{}}`)
	}()
	if _, err := p.conn.Call(t.Context(), "prompt", nil); err != nil {
		t.Fatal(err)
	}
	if len(p.handled) != 2 {
		t.Errorf("%d of 2 updates handled", len(p.handled))
	}
}

func TestCallEndsWithItsContextAndWithTheConnection(t *testing.T) {
	p := newPeer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	call := func(ctx context.Context) {
		_, err := p.conn.Call(ctx, "prompt", nil)
		failed <- err
	}
	go call(ctx)
	p.receive()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	go call(t.Context())
	p.receive()
	p.close()
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := p.conn.Notify(t.Context(), "late", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	<-p.conn.Done()
}

func TestTheLastLineNeedsNoEnd(t *testing.T) {
	r := newLineReader(strings.NewReader("one\n\ntwo"))
	var got []string
	for {
		b, err := r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		got = append(got, string(b))
	}
	if !slices.Equal(got, []string{"one", "", "two"}) {
		t.Errorf("got %q", got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud800"}}`, `{"id":"x","error":{"code":1}}`,
		`{"id":1,"error":"no"}`,
		`null`, `[]`, `{"id":null,"method":""}`, "{\"method\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := decode(line)
		if err != nil {
			return
		}
		if m.Method == "" && m.ID == nil {
			t.Error("accepted a message that is neither request nor response")
		}
		for _, part := range []json.RawMessage{m.ID, m.Params, m.Result, m.Error} {
			if part != nil && (!utf8.Valid(part) || !json.Valid(part)) {
				t.Errorf("accepted %q", part)
			}
		}
		if _, err := m.unpack(); err != nil && err.Error() == "" {
			t.Error("empty error message")
		}
	})
}
