package wsclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agentctl/protocol"
)

// get reads a path of the server over HTTP, for dialects that serve history there. It sends the
// same credential as the WebSocket.
func (d *dialer) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	resp, err := d.request(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxIncoming))
}

// request sends a GET for a reference relative to the URL of the WebSocket. The caller closes the
// body.
func (d *dialer) request(ctx context.Context, reference string) (*http.Response, error) {
	u, err := url.Parse(d.url)
	if err == nil {
		u, err = u.Parse(reference)
	}
	if err != nil {
		return nil, err
	}
	// Map ws and http to http, wss and https to https.
	u.Scheme = "http" + strings.TrimPrefix(strings.TrimPrefix(u.Scheme, "ws"), "http")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	return d.http.Do(req)
}

// probeTimeout bounds isForeign.
const probeTimeout = 2 * time.Second

// isForeign reports whether an ordinary HTTP request shows that the server is not agentctl. It
// opens no WebSocket: some servers would take the session from another client and give it to this
// one.
func (d *dialer) isForeign(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	resp, err := d.request(ctx, "")
	if err != nil { // an agentctl server answers every request
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}
	defer func() { _ = resp.Body.Close() }()
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden // dial reports it
	return !refused && resp.Header.Get(protocol.ProtocolHeader) == ""
}
