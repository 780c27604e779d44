package server

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

func TestHelloIsOptional(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	id := c.create("")
	if r := c.subscribe(id, ""); len(r.Clients) != 1 || r.Clients[0].By.Name != "anonymous" {
		t.Errorf("clients %+v, want the caller", r.Clients)
	}
}

func TestWhoSaysNoNameIsCalledByItsAddress(t *testing.T) {
	w := newTestServer(t)
	l, err := ListenTCP("127.0.0.1:0", TCPOptions{Token: "secret"})
	must(t, err)
	l.Token, l.hosts = "", hosts{}
	addr := w.serve(l)
	local := ""
	c := dialWebSocket(t, func(ctx context.Context) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			local = conn.LocalAddr().String()
		}
		return conn, err
	})
	if r := c.hello(protocol.HelloData{}); r.By.Name != local {
		t.Errorf("name %q, want the address %s", r.By.Name, local)
	}
}

func TestHelloTellsWhatTheServerIs(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{Window: 1 << 20}))
	r := w.dial().hello(protocol.HelloData{Version: protocol.Version, Name: "ada", Agent: "test/1", Acks: true})
	if r.Version != protocol.Version || r.Server != "agentctl test" || r.By.Name != "ada" || r.Connection == "" {
		t.Errorf("hello %+v", r)
	}
	if r.Window != protocol.DefaultWindow || r.HeartbeatMS != 30_000 || r.Limits.Message != protocol.MaxMessage ||
		r.Limits.InFlight != 64 {
		t.Errorf("limits of hello %+v", r)
	}
	if !slices.Equal(r.Agents, []string{"script"}) || len(r.Commands) != len(protocol.Commands) {
		t.Errorf("agents %v, %d commands", r.Agents, len(r.Commands))
	}
}

func TestWindowIsWhatWasAskedForWithinTheLimit(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{Window: 1 << 20}))
	tests := []struct {
		name string
		data protocol.HelloData
		want int64
	}{
		{"no acks, no window", protocol.HelloData{Window: 4096}, 0},
		{"default", protocol.HelloData{Acks: true}, protocol.DefaultWindow},
		{"negative is the default", protocol.HelloData{Acks: true, Window: -1}, protocol.DefaultWindow},
		{"asked for", protocol.HelloData{Acks: true, Window: 4096}, 4096},
		{"too large", protocol.HelloData{Acks: true, Window: 1 << 40}, 1 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if r := w.dial().hello(tt.data); r.Window != tt.want {
				t.Errorf("window %d, want %d", r.Window, tt.want)
			}
		})
	}
}

func TestSecondHelloReplacesTheFirst(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	c.hello(protocol.HelloData{Name: "ada", Acks: true})
	if r := c.hello(protocol.HelloData{Name: "grace"}); r.By.Name != "grace" || r.Window != 0 {
		t.Errorf("second hello %+v", r)
	}
	if r := c.hello(protocol.HelloData{}); r.By.Name != "grace" {
		t.Errorf("a hello without a name changed grace to %q", r.By.Name)
	}
}

func TestHelloIsRefused(t *testing.T) {
	w := newTestServer(t)
	tests := []struct {
		name string
		data protocol.HelloData
		want protocol.Code
	}{
		{"another version", protocol.HelloData{Version: "v9"}, protocol.CodeUnsupported},
		{"a long name", protocol.HelloData{Name: strings.Repeat("a", 129)}, protocol.CodeInvalidMessage},
		{"a long agent", protocol.HelloData{Agent: strings.Repeat("a", 129)}, protocol.CodeInvalidMessage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := w.dial()
			c.refused(c.ask(protocol.DoHello, "", tt.data), tt.want)
			c.hello(protocol.HelloData{}) // the connection lives on
		})
	}
}

func TestBadLineIsAnErrorForItAlone(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	one := c.create("")
	common := one[:len("s_")+1]
	for !strings.HasPrefix(c.create(""), common) { // one of 32
	}
	tests := []struct {
		name, line, id string
		want           protocol.Code
	}{
		{"not JSON", `{"id":"x"`, "", protocol.CodeInvalidJSON},
		{"invalid UTF-8", "{\"id\":\"x\",\"command\":\"ping\xff\"}", "", protocol.CodeInvalidJSON},
		{"two values", `{"id":"x","command":"ping"} {}`, "", protocol.CodeInvalidJSON},
		{"an array", `[1]`, "", protocol.CodeInvalidMessage},
		{"null", `null`, "", protocol.CodeInvalidMessage},
		{"no command", `{"id":"x"}`, "x", protocol.CodeInvalidMessage},
		{"unknown command", `{"id":"x","command":"fly"}`, "x", protocol.CodeUnknownCommand},
		{"unknown field", `{"id":"x","command":"ping","colour":1}`, "x", protocol.CodeInvalidMessage},
		{"doubled field", `{"id":"x","command":"ping","command":"ping"}`, "x", protocol.CodeInvalidMessage},
		{"wrong case", `{"id":"x","Command":"ping"}`, "x", protocol.CodeInvalidMessage},
		{"id is a number", `{"id":7,"command":"ping"}`, "", protocol.CodeInvalidMessage},
		{"data is no object", `{"id":"x","command":"ping","data":[]}`, "x", protocol.CodeInvalidMessage},
		{"data has an unknown field", `{"id":"x","command":"ping","data":{"a":1}}`, "x", protocol.CodeInvalidMessage},
		{
			"nested too deep",
			`{"id":"x","command":"ping","data":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70) + `}`,
			"x",
			protocol.CodeInvalidMessage,
		},
		{"session is missing", `{"id":"x","command":"subscribe"}`, "x", protocol.CodeInvalidMessage},
		{"unknown session", `{"id":"x","command":"subscribe","session":"s_none"}`, "x", protocol.CodeNoSession},
		{
			"unknown session of an ack",
			`{"id":"x","command":"ack","session":"s_none","data":{"seq":1}}`,
			"x",
			protocol.CodeNoSession,
		},
		{
			"unknown session of an unsubscribe",
			`{"id":"x","command":"unsubscribe","session":"s_none"}`,
			"x",
			protocol.CodeNoSession,
		},
		{
			"ambiguous prefix",
			`{"id":"x","command":"subscribe","session":"` + common + `"}`,
			"x",
			protocol.CodeAmbiguous,
		},
		{
			"malformed position",
			`{"id":"x","command":"subscribe","session":"` + one + `","data":{"position":"a:b"}}`,
			"x",
			protocol.CodeInvalidPosition,
		},
		{
			"position without seq",
			`{"id":"x","command":"subscribe","session":"` + one + `","data":{"position":"abc:"}}`,
			"x",
			protocol.CodeInvalidPosition,
		},
		{
			"negative position",
			`{"id":"x","command":"subscribe","session":"` + one + `","data":{"position":"-1"}}`,
			"x",
			protocol.CodeInvalidPosition,
		},
		{
			"position is a number",
			`{"id":"x","command":"subscribe","session":"` + one + `","data":{"position":3}}`,
			"x",
			protocol.CodeInvalidMessage,
		},
		{
			"not subscribed",
			`{"id":"x","command":"unsubscribe","session":"` + one + `"}`,
			"x",
			protocol.CodeNotSubscribed,
		},
		{
			"ack below zero",
			`{"id":"x","command":"ack","session":"` + one + `","data":{"seq":-1}}`,
			"x",
			protocol.CodeInvalidMessage,
		},
		{"send nothing", `{"id":"x","command":"send","session":"` + one + `"}`, "x", protocol.CodeInvalidMessage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &testClient{t: t, ws: c.ws, timeout: testTimeout}
			c.write(tt.line)
			m := c.next()
			if c.refused(m, tt.want); m.ID != tt.id {
				t.Errorf("answer to %q, want %q", m.ID, tt.id)
			}
			c.write(`{"id":"after","command":"ping"}`)
			if m := c.next(); m.ID != "after" || m.Error != nil {
				t.Errorf("answer to the next ping: %+v", m)
			}
		})
	}
}

func TestBinaryMessageIsRefused(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	must(t, c.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{"id":"x","command":"ping"}`)))
	c.refused(c.next(), protocol.CodeInvalidJSON)
	c.ask(protocol.DoPing, "", nil)
}

func TestMessageHoldsSeveralLines(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	c.write(
		"\n{\"id\":\"a\",\"command\":\"ping\"}\n\n  {\"id\":\"b\",\"command\":\"fly\"}\r\n{\"id\":\"c\",\"command\":\"ping\"}\n",
	)
	if m := c.answer("a"); m.Error != nil {
		t.Errorf("a: %v", m.Error)
	}
	c.refused(c.answer("b"), protocol.CodeUnknownCommand)
	if m := c.answer("c"); m.Error != nil {
		t.Errorf("c: %v", m.Error)
	}
}

func TestCommandWithoutIDIsAnsweredOnlyWhenItFails(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	c.write(`{"command":"ping"}` + "\n" + `{"command":"fly"}` + "\n" + `{"id":"z","command":"ping"}`)
	c.refused(c.next(), protocol.CodeUnknownCommand)
	if m := c.next(); m.ID != "z" {
		t.Errorf("answer to %q, want z", m.ID)
	}
}
