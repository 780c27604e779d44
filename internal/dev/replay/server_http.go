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
func (p *serverPlayer) dial(s Step) {
	p.Helper()
	ws, answer, err := websocket.Dial(p.Context(), serverURL+"/dialect/"+p.dialect.Name+p.path(s.HTTP),
		&websocket.DialOptions{HTTPClient: p.httpClient(), HTTPHeader: p.header(s.HTTP)})
	p.checkStatus(answer, s.HTTP)
	switch {
	case err != nil && s.HTTP.Status == http.StatusSwitchingProtocols:
		p.Errorf("dial: %v", err)
		return
	case err != nil:
		return
	case s.HTTP.Status != http.StatusSwitchingProtocols:
		_ = ws.CloseNow()
		return
	}
	ws.SetReadLimit(-1)
	conn := &serverConn{ws: ws, recorded: p.dialect.splitter(), split: p.dialect.splitter()}
	p.conns[s.Conn] = conn
	if p.conversation.Scenario != p.dialect.AckTest {
		conn.ack = p.dialect.Ack
	}
	conn.reading.Go(func() { conn.read(p.Context()) })
	synctest.Wait() // the server has sent what it sends first
}

// exchange makes a request, and compares the status and the shape of the answer with the real
// server's.
func (p *serverPlayer) exchange(h *HTTP) {
	p.Helper()
	what := h.what()
	if reason := p.dialect.NotServed[what]; reason != "" {
		p.Logf("%s is not played: %s", what, reason)
		return
	}
	request, err := http.NewRequestWithContext(p.Context(), h.Method, "http://"+embedded.Host+p.path(h),
		strings.NewReader(p.ids.Rewrite(h.RequestBody)))
	if err != nil {
		p.Fatal(err)
	}
	request.Header = p.header(h)
	answer, err := p.httpClient().Do(request)
	if err != nil {
		p.Errorf("%s: %v", what, err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.Errorf("%s: %v", what, err)
	}
	p.checkStatus(answer, h)
	recorded, got := decode(h.Body), decode(string(body))
	if len(recorded) != 1 {
		return
	}
	if len(got) != 1 {
		p.Errorf("%s answers %.200q, which is not JSON", what, body)
		return
	}
	p.ids.Learn(recorded[0], got[0])
	p.checkShape(ToCaller, Message{h.messageType(), got[0]})
}

func (p *serverPlayer) checkStatus(answer *http.Response, recorded *HTTP) {
	p.Helper()
	if answer == nil || answer.StatusCode == recorded.Status {
		return
	}
	what := recorded.what()
	if recorded.Upgrade {
		what = strings.Replace(what, recorded.Method, "upgrade", 1)
	}
	difference := fmt.Sprintf("%s: %d, not %d", what, answer.StatusCode, recorded.Status)
	if p.dialect.Exceptions[difference] == "" {
		p.Error(difference)
	}
}

// path returns the path and query of a request, with the ids of the run. The root is "".
func (p *serverPlayer) path(h *HTTP) string {
	path, query, found := strings.Cut(h.Path, "?")
	path = strings.TrimSuffix(path, "/")
	if !found {
		return path
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		p.Fatalf("%s: %v", h.Path, err)
	}
	for _, list := range values {
		for i := range list {
			list[i] = p.ids.Get(list[i])
		}
	}
	return path + "?" + values.Encode()
}

// header returns the header of a request, with the ids of the run.
func (p *serverPlayer) header(h *HTTP) http.Header {
	header := http.Header{}
	for name, value := range h.Headers {
		scheme, token, _ := strings.Cut(value, " ")
		header.Set(name, strings.TrimSpace(scheme+" "+p.ids.Get(token)))
	}
	return header
}

func (p *serverPlayer) httpClient() *http.Client {
	dial := p.server.Dialer(serverURL)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
}
