package wsclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// get reads a path of the server over HTTP, for dialects that serve history there. It sends the
// same credential as the WebSocket.
func (d *dialer) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	u, err := url.Parse(d.url)
	if err == nil {
		u, err = u.Parse(path)
	}
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	// Map ws and http to http, wss and https to https.
	u.Scheme = "http" + strings.TrimPrefix(strings.TrimPrefix(u.Scheme, "ws"), "http")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get: HTTP %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxIncoming))
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	return body, nil
}
