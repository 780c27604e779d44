package replay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing/synctest"

	"github.com/coder/websocket"

	"agentctl/server/embedded"
)

// dial opens a connection, or checks that the server refuses it as the recorded one did.
func (p *ServerPlayer) dial(s Step) {
	p.T.Helper()
	ws, answer, err := websocket.Dial(p.T.Context(), p.url+p.path(s.HTTP),
		&websocket.DialOptions{HTTPClient: p.httpClient(), HTTPHeader: p.header(s.HTTP)})
	path, _, _ := strings.Cut(s.HTTP.Path, "?")
	p.checkStatus("upgrade "+path, answer, s.HTTP)
	switch {
	case err != nil && s.HTTP.Status == http.StatusSwitchingProtocols:
		p.T.Errorf("dial: %v", err)
		return
	case err != nil:
		return
	case s.HTTP.Status != http.StatusSwitchingProtocols:
		_ = ws.CloseNow()
		return
	}
	ws.SetReadLimit(-1)
	conn := &serverConn{ws: ws, recorded: p.dialect.Split(), split: p.dialect.Split()}
	p.conns[s.Conn] = conn
	if p.dialect.Ack != nil {
		conn.ack = func(m Message) string { return p.dialect.Ack(p.Conversation, m) }
	}
	conn.reading.Go(func() { conn.read(p.T.Context()) })
	synctest.Wait() // the server has sent what it sends first
}

// exchange makes a request, and compares the status and the shape of the answer with the real
// server's.
func (p *ServerPlayer) exchange(h *HTTP, shapes *Shapes) {
	p.T.Helper()
	path, _, _ := strings.Cut(h.Path, "?")
	what := h.Method + " " + path
	if reason := p.dialect.NotServed[what]; reason != "" {
		p.T.Logf("%s is not played: %s", what, reason)
		return
	}
	request, err := http.NewRequestWithContext(p.T.Context(), h.Method, "http://"+embedded.Host+p.path(h),
		strings.NewReader(p.IDs.Rewrite(h.RequestBody)))
	if err != nil {
		p.T.Fatal(err)
	}
	request.Header = p.header(h)
	answer, err := p.httpClient().Do(request)
	if err != nil {
		p.T.Errorf("%s: %v", what, err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.T.Errorf("%s: %v", what, err)
	}
	p.checkStatus(what, answer, h)
	recorded, got := decode(h.Body), decode(string(body))
	if len(recorded) != 1 {
		return
	}
	if len(got) != 1 {
		p.T.Errorf("%s answers %.200q, which is not JSON", what, body)
		return
	}
	p.IDs.Learn(recorded[0], got[0])
	for _, difference := range shapes.Check(ToCaller, Message{httpType(h), got[0]}) {
		if p.dialect.Exceptions[difference] == "" {
			p.T.Errorf("%s\n  in %s", difference, body)
		}
	}
}

// httpType returns the type of the message in an answer's body.
func httpType(h *HTTP) string {
	path, _, _ := strings.Cut(h.Path, "?")
	return fmt.Sprintf("%s %s %d", h.Method, path, h.Status)
}

func (p *ServerPlayer) checkStatus(what string, answer *http.Response, recorded *HTTP) {
	p.T.Helper()
	if answer == nil || answer.StatusCode == recorded.Status {
		return
	}
	difference := fmt.Sprintf("%s: %d, not %d", what, answer.StatusCode, recorded.Status)
	if p.dialect.Exceptions[difference] == "" {
		p.T.Error(difference)
	}
}

// path returns the path and query of a request, with the ids of the run. The root is "".
func (p *ServerPlayer) path(h *HTTP) string {
	path, query, found := strings.Cut(h.Path, "?")
	path = strings.TrimSuffix(path, "/")
	if !found {
		return path
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		p.T.Fatalf("%s: %v", h.Path, err)
	}
	for _, list := range values {
		for i := range list {
			list[i] = p.IDs.Get(list[i])
		}
	}
	return path + "?" + values.Encode()
}

// header returns the header of a request, with the ids of the run.
func (p *ServerPlayer) header(h *HTTP) http.Header {
	header := http.Header{}
	for name, value := range h.Headers {
		scheme, token, _ := strings.Cut(value, " ")
		header.Set(name, strings.TrimSpace(scheme+" "+p.IDs.Get(token)))
	}
	return header
}

func (p *ServerPlayer) httpClient() *http.Client {
	dial := p.Server.Dialer("ws://" + embedded.Host)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
}
