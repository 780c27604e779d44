package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"agentctl/protocol"
)

// An address of other machines needs TLS or Insecure; with TLS a client without TLS gets no answer
// from the server behind it.
func TestAPublicListenerSpeaksTLS(t *testing.T) {
	w := newTestServer(t)
	helper := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer helper.Close()
	config := &tls.Config{Certificates: helper.TLS.Certificates}
	l, err := ListenTCP("0.0.0.0:0", TCPOptions{Token: "secret", TLS: config})
	must(t, err)
	_, port, err := net.SplitHostPort(w.serve(l))
	must(t, err)
	trusting := helper.Client()
	for host, want := range map[string]int{"127.0.0.1": 200, "example.com": 403} { // both are in the certificate
		url := "https://127.0.0.1:" + port + "/api/sessions"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		must(t, err)
		r.Host = host
		r.Header.Set("Authorization", "Bearer secret")
		resp, err := trusting.Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != want || resp.TLS == nil {
			t.Errorf("%s: HTTP %d, want %d", host, resp.StatusCode, want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/api/sessions", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer secret")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: HTTP %d", resp.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A listener of other machines answers for IP addresses, its own names and allowed ones, with or
// without TLS.
func TestAPublicListenerRefusesForeignHosts(t *testing.T) {
	w := newTestServer(t)
	l, err := ListenTCP("0.0.0.0:0", TCPOptions{Token: "secret", Insecure: true, Hosts: []string{"Box.example"}})
	must(t, err)
	_, port, err := net.SplitHostPort(w.serve(l))
	must(t, err)
	for host, want := range map[string]int{
		"127.0.0.1": 200, "192.0.2.7:80": 200, "[2001:db8::1]:80": 200, "localhost": 200, "box.example:" + port: 200,
		"evil.example": 403, "box.example.evil.example": 403, "": 403,
	} {
		status, code, _ := get(t, "127.0.0.1:"+port, "/api/sessions", "Host: "+host, "Authorization: Bearer secret")
		if status != want || status == 403 && code != protocol.CodeForbidden {
			t.Errorf("%q: %d %s, want %d", host, status, code, want)
		}
	}
}
