package credentials

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"agentctl/internal/localserver"
)

// If there is a fingerprint, only it decides; without one an unknown authority is refused.
func TestACertificateIsTrustedByItsFingerprint(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	good := localserver.Fingerprint(s.Certificate())
	other := localserver.Fingerprint(&x509.Certificate{Raw: []byte("other")})
	for _, tt := range []struct {
		passed, pinned string
		want           *CertificateError // nil: trusted
	}{
		{"", "", &CertificateError{Fingerprint: good}},
		{"", good, nil},
		{"", other, &CertificateError{Fingerprint: good, Want: other}},
		{good, "", nil},
		{good, other, nil},
		{other, good, &CertificateError{Fingerprint: good, Want: other, Passed: true}},
	} {
		trust := Trust{Host: "127.0.0.1", Passed: tt.passed, Pinned: func() (string, error) { return tt.pinned, nil }}
		client := http.Client{Transport: &http.Transport{TLSClientConfig: trust.TLS(), DisableKeepAlives: true}}
		resp, err := client.Get(s.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		var refused *CertificateError
		switch errors.As(err, &refused); {
		case (tt.want == nil) != (err == nil):
			t.Errorf("%+v: %v", tt, err)
		case tt.want == nil:
		case refused == nil || refused.Fingerprint != tt.want.Fingerprint || refused.Want != tt.want.Want ||
			refused.Passed != tt.want.Passed:
			t.Errorf("%+v: %+v", tt, refused)
		}
	}
}

func TestFingerprintsAreReadInEveryForm(t *testing.T) {
	want := localserver.Fingerprint(&x509.Certificate{Raw: []byte("a")})
	for _, s := range []string{
		want, "sha256:" + want, "SHA256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
		" ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\n",
	} {
		if got, err := ParseFingerprint(s); err != nil || got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "ca97", want + ":00", "zz" + want[2:]} {
		if got, err := ParseFingerprint(s); err == nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// A pin belongs to a host and a port.
func TestKnownServersAreKept(t *testing.T) {
	dir := localserver.Dir(t.TempDir())
	print := localserver.Fingerprint(&x509.Certificate{Raw: []byte("a")})
	k := NewKnownServers(dir)
	if err := k.Pin("wss://Box.example/v1/ws", print); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{
		"https://box.example:443": print, "wss://box.example": print, "wss://box.example:444": "", "wss://example": "",
	} {
		if got, err := NewKnownServers(dir).Fingerprint(server); got != want || err != nil {
			t.Errorf("%s: %q, %v", server, got, err)
		}
	}
	if err := os.WriteFile(dir.Path("known_servers"), []byte(`{"box.example:443":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Fingerprint("wss://box.example"); err == nil {
		t.Errorf("a damaged file: %q", got)
	}
}
