package wsclient

import (
	"context"
	"crypto/rand"
	"crypto/tls"
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

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxIncoming bounds one message of the server, in bytes.
const maxIncoming = protocol.MaxOutgoing

// A dialer opens connections to one server. It is immutable.
type dialer struct {
	url        string // to dial; may hold credentials
	displayURL string // without credentials
	remote     bool   // the URL names another machine
	http       *http.Client
	token      string
	err        error // invalid URL or option; every attempt fails with it
	observer   *frameObserver

	dialect      *codec.Dialect // nil: native protocol
	codecOptions codec.ClientOptions
}

func newDialer(raw string, o Options) *dialer {
	d := &dialer{token: o.Token, observer: &frameObserver{onFrame: o.OnFrame}}
	u, socket, err := parseURL(raw, o.Dialect, o.Dial != nil)
	if err == nil && o.Dialect != "" {
		d.codecOptions = codec.ClientOptions{
			URL: raw, Name: o.Name, ID: newID, Options: o.DialectOptions,
			Resume: new(codec.ClientState), OneShot: o.OneShot,
		}
		err = d.useDialect(o.Dialect, u)
	}
	if err != nil {
		return &dialer{displayURL: "the server", err: err, observer: d.observer}
	}
	d.url = u.String()
	d.remote = isRemote(raw, u)
	if d.displayURL = raw; socket == "" {
		u.User, u.RawQuery = nil, ""
		d.displayURL = u.String()
	}
	d.http = &http.Client{
		Transport: httpTransport(socket, o),
		// Following a redirect would send the credential to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return d
}

// useDialect selects the dialect of the server at u and checks its options.
func (d *dialer) useDialect(name string, u *url.URL) error {
	known, ok := dialect.Find(name)
	if !ok {
		return fmt.Errorf("unknown dialect %q: want one of %s", name, strings.Join(dialect.Names(), ", "))
	}
	for _, option := range slices.Sorted(maps.Keys(d.codecOptions.Options)) {
		if err := dialect.CheckOption(&known, codec.ClientEnd, option, d.codecOptions.Options[option]); err != nil {
			return err
		}
	}
	if known.TokenInQuery && d.token != "" {
		query := u.Query()
		query.Set("token", d.token)
		u.RawQuery = query.Encode()
	}
	d.dialect = &known
	return nil
}

// httpTransport returns a transport that dials with Options.Dial, the Unix socket or the system's
// default, in this order.
func httpTransport(socket string, o Options) *http.Transport {
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: o.TLS, Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP1(true) // the WebSocket library does not support HTTP/2
	switch {
	case o.Dial != nil:
		t.DialContext = func(ctx context.Context, _, _ string) (_ net.Conn, err error) {
			defer panics.RecoverTo(&err) // runs on a goroutine of http.Transport
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

// parseURL returns the URL to open and, for a Unix socket, its path. dialectName is empty for the
// native protocol. A Unix socket implies agentctl's server and its paths, as does an ssh:// URL
// with a custom transport; other dialect servers define their own paths.
func parseURL(raw, dialectName string, custom bool) (_ *url.URL, socket string, _ error) {
	defaultPath := protocol.Path
	if dialectName != "" {
		defaultPath = "/dialect/" + dialectName
	}
	if custom && strings.HasPrefix(raw, "ssh://") {
		return &url.URL{Scheme: "ws", Host: "localhost", Path: defaultPath}, "ssh", nil
	}
	if path, ok := strings.CutPrefix(raw, "unix://"); ok {
		if path == "" {
			return nil, "", errors.New("unix:// URL without a socket path")
		}
		return &url.URL{Scheme: "ws", Host: "localhost", Path: defaultPath}, path, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, "", errors.New("malformed URL") // the text of err may hold credentials
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	default:
		return nil, "", fmt.Errorf("unsupported URL scheme %q: want ws, wss, http, https or unix", u.Scheme)
	}
	if u.Host == "" {
		return nil, "", errors.New("URL without a host")
	}
	standard := protocol.Path
	if dialectName != "" {
		known, _ := dialect.Find(dialectName)
		standard = known.DefaultPath
	}
	if standard != "" && (u.Path == "" || u.Path == "/") {
		u.Path = standard
	}
	return u, "", nil
}

// isRemote reports whether a valid URL, raw as given and u as dialed, names another machine.
func isRemote(raw string, u *url.URL) bool {
	if strings.HasPrefix(raw, "ssh://") {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// dial opens a WebSocket. ctx bounds only the dialing. peerIsAgentctl reports whether the server is
// agentctl. The error is a *ConnectError.
func (d *dialer) dial(ctx context.Context) (_ transport, peerIsAgentctl bool, _ error) {
	if d.err != nil {
		return nil, false, &ConnectError{URL: d.displayURL, Code: protocol.CodeUnsupported, Err: d.err}
	}
	needsAgentctl := d.dialect != nil && d.dialect.Ephemeral && d.codecOptions.OneShot
	ephemeral := &ConnectError{URL: d.displayURL, Code: protocol.CodeUnsupported, Err: ErrEphemeral}
	if needsAgentctl && d.isForeign(ctx) {
		return nil, false, ephemeral
	}
	header := http.Header{}
	if d.token != "" {
		header.Set("Authorization", "Bearer "+d.token)
	}
	options := &websocket.DialOptions{HTTPClient: d.http, HTTPHeader: header}
	if d.dialect == nil {
		options.Subprotocols = []string{protocol.Subprotocol}
	}
	ws, resp, err := websocket.Dial(ctx, d.url, options)
	if wrong := d.wrongProtocol(resp, ws); wrong != nil {
		if ws != nil {
			_ = ws.CloseNow()
		}
		return nil, false, wrong
	}
	if err != nil {
		return nil, false, d.dialError(resp, err)
	}
	d.observer.record(Frame{Note: "opened " + d.displayURL})
	if d.dialect != nil {
		o := d.codecOptions
		o.PeerIsAgentctl = resp.Header.Get(protocol.ProtocolHeader) != ""
		if needsAgentctl && !o.PeerIsAgentctl {
			_ = ws.CloseNow()
			return nil, false, ephemeral
		}
		observed := d.observer.observe(d.dialect.Client(o))
		return dialect.NewClientConn(ws, d.dialect.Name, observed, maxIncoming, d.get), o.PeerIsAgentctl, nil
	}
	ws.SetReadLimit(maxIncoming)
	return &nativeTransport{Conn: ws, observer: d.observer}, true, nil
}

// wrongProtocol returns an error if the peer speaks another protocol, or nil. agentctl's server
// names its protocol in a header; any other server reveals it by not choosing the native
// subprotocol. ws is nil if no WebSocket was opened.
func (d *dialer) wrongProtocol(resp *http.Response, ws *websocket.Conn) *ConnectError {
	if resp == nil || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return nil
	}
	e := &ConnectError{URL: d.displayURL, Code: protocol.CodeUnsupported}
	peer, want := resp.Header.Get(protocol.ProtocolHeader), protocol.Subprotocol
	if d.dialect != nil {
		want = d.dialect.Name
	}
	switch {
	case peer != "" && peer != want:
		e.PeerProtocol = protocol.SplitText(protocol.ValidText(peer), 64)[0]
		e.Err = fmt.Errorf("the server speaks %.64q, not %q", peer, want)
	case peer == "" && d.dialect == nil && ws != nil && ws.Subprotocol() != protocol.Subprotocol:
		e.Err = fmt.Errorf("the WebSocket server does not speak %q", want)
	default:
		return nil
	}
	return e
}

// dialError returns why dialing failed, using the server's HTTP response if there is one.
func (d *dialer) dialError(resp *http.Response, err error) *ConnectError {
	e := &ConnectError{URL: d.displayURL, Err: err}
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		e.Err = urlErr.Err // the rest repeats the URL with its credentials
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Code, e.Err = CodeUntrusted, untrusted
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
		if wrong := d.wrongPath(resp); wrong != nil {
			e.Code, e.Err = protocol.CodeUnsupported, wrong
		}
	}
	body, _ := io.ReadAll(resp.Body) // the first KiB, in memory
	var decoded struct{ Error *protocol.Error }
	if json.Unmarshal(body, &decoded) == nil && decoded.Error != nil && decoded.Error.Code != "" {
		e.Err = decoded.Error
		if e.Code == "" {
			e.Code = decoded.Error.Code
		}
	}
	return e
}

// wrongPath returns an error if a refusal may be about the URL's path rather than the credential:
// the dialect's servers have one path, but another one was dialed.
func (d *dialer) wrongPath(resp *http.Response) error {
	if d.dialect == nil || d.dialect.DefaultPath == "" || resp.Header.Get(protocol.ProtocolHeader) != "" {
		return nil
	}
	u, err := url.Parse(d.url)
	if err != nil || u.Path == d.dialect.DefaultPath {
		return nil
	}
	return fmt.Errorf("HTTP %d at the path %q: the servers of %s have the path %s", resp.StatusCode, u.Path,
		d.dialect.Name, d.dialect.DefaultPath)
}

// connectionError wraps the error that ended a connection, with the server's error code or close
// code if it sent one.
func (d *dialer) connectionError(err error) *ConnectError {
	e := &ConnectError{URL: d.displayURL, Err: err}
	if coded, ok := errors.AsType[*protocol.Error](err); ok {
		e.Code = coded.Code
	} else if websocket.CloseStatus(err) == protocol.ClosePolicy {
		e.Code = protocol.CodeUnauthorized
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		e.Code, e.Err = protocol.CodeTooLarge, fmt.Errorf("the server sent a message larger than %d bytes", maxIncoming)
	}
	if closed, ok := errors.AsType[websocket.CloseError](err); ok && closed.Reason != "" {
		e.Err = fmt.Errorf("the server closed the connection: %.200s", closed.Reason)
	}
	return e
}

// newID returns a random id with a prefix, for dialects whose client names things.
func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()[:16]) }
