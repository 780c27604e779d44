package wsclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agentctl/protocol/codec"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/internal/panics"
	"agentctl/protocol"
)

// maxIncoming bounds one message of a server: it is above any answer and any batch of events a server writes.
const maxIncoming = 16 << 20

// A dialer opens connections to one server.
type dialer struct {
	url   string // to dial, with its credentials
	shown string // without
	http  *http.Client
	token string
	err   error // of the URL; dialing fails with it
	tap   *tap

	dialect *codec.Dialect // nil: native
	call    codec.ClientOptions
}

func newDialer(raw string, o Options) *dialer {
	d := &dialer{token: o.Token, tap: newTap(o.OnFrame)}
	u, socket, err := parseURL(raw, o.Dialect)
	if err == nil && o.Dialect != "" {
		d.call = codec.ClientOptions{URL: raw, Name: o.Name, ID: newID, Options: o.DialectOptions, Resume: new(codec.ClientState), OneShot: o.OneShot}
		err = d.speak(o.Dialect, u)
	}
	if err != nil {
		return &dialer{shown: "the server", err: err, tap: d.tap}
	}
	d.url = u.String()
	if d.shown = raw; socket == "" {
		u.User, u.RawQuery = nil, ""
		d.shown = u.String()
	}
	d.http = &http.Client{
		Transport: transport(socket, o),
		// A redirect would carry the credential to where nobody meant it to go.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return d
}

// speak has the dialer speak a dialect to the server at u.
func (d *dialer) speak(name string, u *url.URL) error {
	spoken, ok := dialect.Find(name)
	if !ok {
		return fmt.Errorf("%q is not a dialect: %s", name, strings.Join(dialect.Names(), ", "))
	}
	for _, option := range slices.Sorted(maps.Keys(d.call.Options)) {
		if err := dialect.CheckOption(&spoken, codec.ClientEnd, option, d.call.Options[option]); err != nil {
			return err
		}
	}
	if spoken.TokenInQuery && d.token != "" {
		query := u.Query()
		query.Set("token", d.token)
		u.RawQuery = query.Encode()
	}
	d.dialect = &spoken
	return nil
}

// transport reaches the server: over its Unix socket, if it has one, or as the options say.
func transport(socket string, o Options) *http.Transport {
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: o.TLS, Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP1(true) // a WebSocket cannot be opened over HTTP/2 here
	switch {
	case o.Dial != nil:
		t.DialContext = func(ctx context.Context, _, _ string) (_ net.Conn, err error) {
			defer panics.RecoverTo(&err) // it runs on a goroutine of the transport's
			return o.Dial(ctx)
		}
	case socket != "":
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	default:
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// parseURL returns the URL to open and, for a Unix socket, its path. A dialect's servers have paths of their own; on a Unix
// socket is a server of ours.
func parseURL(raw, speaks string) (_ *url.URL, socket string, _ error) {
	implied := protocol.Path
	if speaks != "" {
		implied = "/dialect/" + speaks
	}
	if path, ok := strings.CutPrefix(raw, "unix://"); ok {
		if path == "" {
			return nil, "", errors.New("unix:// needs the path of a socket")
		}
		return &url.URL{Scheme: "ws", Host: "localhost", Path: implied}, path, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, "", errors.New("malformed URL") // its text may hold credentials
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	default:
		return nil, "", fmt.Errorf("%q is not a scheme of servers: ws, wss, http, https or unix", u.Scheme)
	}
	if u.Host == "" {
		return nil, "", errors.New("the URL names no host")
	}
	if speaks == "" && (u.Path == "" || u.Path == "/") {
		u.Path = protocol.Path
	}
	return u, "", nil
}

// dial opens a WebSocket. ctx bounds the dialing alone. The error is a *ConnectError.
func (d *dialer) dial(ctx context.Context) (wire, error) {
	if d.err != nil {
		return nil, &ConnectError{URL: d.shown, Code: protocol.CodeUnsupported, Err: d.err}
	}
	header := http.Header{}
	if d.token != "" {
		header.Set("Authorization", "Bearer "+d.token)
	}
	options := &websocket.DialOptions{HTTPClient: d.http, HTTPHeader: header}
	if d.dialect == nil {
		options.Subprotocols = []string{protocol.Subprotocol}
	}
	conn, resp, err := websocket.Dial(ctx, d.url, options)
	if wrong := d.misled(resp, conn); wrong != nil {
		if conn != nil {
			_ = conn.CloseNow()
		}
		return nil, wrong
	}
	if err != nil {
		return nil, d.refusal(resp, err)
	}
	d.tap.note("opened " + d.shown)
	if d.dialect != nil {
		call := d.call
		call.PeerIsAgentctl = resp.Header.Get(protocol.ProtocolHeader) != ""
		return dialect.NewClientConn(conn, d.dialect.Name, d.tap.codec(d.dialect.Client(call)), maxIncoming, d.get), nil
	}
	conn.SetReadLimit(maxIncoming)
	return &native{Conn: conn, tap: d.tap}, nil
}

// speaks is what the server is to speak.
func (d *dialer) speaks() string {
	if d.dialect == nil {
		return protocol.Subprotocol
	}
	return d.dialect.Name
}

// misled tells that what answers there speaks another language, or nil: a server of ours says so, and one that is none of ours does not
// choose the native subprotocol. conn is nil where there is no WebSocket.
func (d *dialer) misled(resp *http.Response, conn *websocket.Conn) *ConnectError {
	if resp == nil || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return nil
	}
	e := &ConnectError{URL: d.shown, Code: protocol.CodeUnsupported}
	switch other := resp.Header.Get(protocol.ProtocolHeader); {
	case other != "" && other != d.speaks():
		e.PeerProtocol, e.Err = protocol.SplitText(protocol.ValidText(other), 64)[0], fmt.Errorf("%.64q is spoken there, not %q", other, d.speaks())
	case other == "" && d.dialect == nil && conn != nil && conn.Subprotocol() != protocol.Subprotocol:
		e.Err = fmt.Errorf("a WebSocket, but not one that speaks %q", d.speaks())
	default:
		return nil
	}
	return e
}

// refusal tells why dialing failed, from the HTTP answer when there was one.
func (d *dialer) refusal(resp *http.Response, err error) *ConnectError {
	e := &ConnectError{URL: d.shown, Err: err}
	var dialing *url.Error
	if errors.As(err, &dialing) {
		e.Err = dialing.Err // the rest repeats the URL, credentials included
	}
	if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return e
	}
	e.Status, e.Err = resp.StatusCode, fmt.Errorf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		e.Code = protocol.CodeUnauthorized
	case http.StatusForbidden:
		e.Code = protocol.CodeForbidden
	}
	body, _ := io.ReadAll(resp.Body) // the first KiB, in memory
	var told struct{ Error *protocol.Error }
	if json.Unmarshal(body, &told) == nil && told.Error != nil && told.Error.Code != "" {
		e.Err = told.Error
		if e.Code == "" {
			e.Code = told.Error.Code
		}
	}
	return e
}
