package tool

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"agentctl/server/agent/llm"
)

// get fetches a URL.
func get(t *testing.T, private bool, url string) (llm.ToolResult, error) {
	t.Helper()
	r := &rig{t: t}
	tool := newFetch(private)
	c := r.call(args{"url": url})
	p, err := tool.Preview(t.Context(), c)
	if err != nil {
		return llm.ToolResult{}, err
	}
	if p.Safe || p.Contained {
		t.Errorf("%s: %+v", url, p)
	}
	return p.Run(t.Context(), nil)
}

func TestFetch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/html":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html><script>no</script><h1>A &amp; B</h1><p>text <b>bold</b></p></html>"))
		case "/large":
			_, _ = w.Write([]byte(strings.Repeat("large\n", 1<<20)))
		case "/binary":
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n\xff\xfe\x00"))
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://other.example/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/html", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{
		"/html": "200 OK\n\nA & B\n\ntext bold", "/once": "200 OK\n\nA & B\n\ntext bold",
		"/large": "the middle was left out",
		"/none":  "404 Not Found",
	} {
		result, err := get(t, true, server.URL+path)
		if err != nil || !strings.Contains(result.Text, want) || len(result.Text) > fetchShown+200 ||
			result.Failed != (path == "/none") {
			t.Errorf("%s: %.200q, %v", path, result.Text, err)
		}
	}
	for url, want := range map[string]string{
		server.URL + "/binary": "not text", server.URL + "/file": "only http and https",
		server.URL + "/loop": "redirects",
		server.URL + "/away": "another host", "file:///etc/passwd": "only http and https", "http://": "no host",
		"http://user:secret@example.com/": "has a user", "ftp://example.com": "only http", "::": "invalid url",
	} {
		if result, err := get(t, true, url); err == nil || !strings.Contains(err.Error()+result.Text, want) {
			t.Errorf("%s: %.200q, %v", url, result.Text, err)
		}
	}
	if _, err := get(t, false, server.URL+"/html"); err == nil || !strings.Contains(err.Error(),
		"not a public address") {
		t.Errorf("a private address: %v", err)
	}
	p, err := newFetch(true).Preview(t.Context(), (&rig{t: t}).call(args{"url": server.URL + "/html"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, nil); err == nil {
		t.Error("a canceled request succeeds")
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false,
		"172.16.0.1": false, "169.254.169.254": false, "0.0.0.0": false, "100.64.0.1": false, "224.0.0.1": false,
		"255.255.255.255": false, "::1": false, "::": false, "fe80::1": false, "fd00::1": false,
		"::ffff:127.0.0.1": false,
		"64:ff9b::7f00:1":  false, "198.18.0.1": false, "ff02::1": false, "2002:7f00:1::": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
}
