package attachment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

func attachTestFile(t *testing.T, name string, data []byte) []File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return []File{f}
}

func TestAnAttachmentHasTheTypeOfItsContent(t *testing.T) {
	for name, want := range map[string]struct{ data, typ, mediaType, url string }{
		"a.png":    {"\x89PNG\r\n\x1a\n", "image", "image/png", "data:image/png;base64,iVBORw0KGgo="},
		"png.txt":  {"\x89PNG\r\n\x1a\n", "image", "image/png", "data:image/png;base64,iVBORw0KGgo="},
		"a.ts":     {"let a = 1", "file", "text/plain", ""},
		"a.json":   {"{}", "file", "text/plain", ""},
		"a.pdf":    {"%PDF-1.4", "file", "application/pdf", "data:application/pdf;base64,JVBERi0xLjQ="},
		"a.txt":    {"\x00\x01", "file", "application/octet-stream", "data:application/octet-stream;base64,AAE="},
		"nameless": {"text", "file", "text/plain", ""},
	} {
		parts, err := Parts("", attachTestFile(t, name, []byte(want.data)), false)
		if err != nil {
			t.Fatal(err)
		}
		p := parts[0]
		if p.Type != want.typ || p.MediaType != want.mediaType || p.URL != want.url || p.Name != name ||
			want.url == "" && p.Text != want.data {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestAttachmentsTooLargeForAMessageAreRefusedByServersElsewhere(t *testing.T) {
	half := attachTestFile(t, "half.txt", bytes.Repeat([]byte("x"), maxMessage/2))
	both := append(half, half...)
	_, err := Parts("", both, false)
	var tooLarge *TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Name != "half.txt" {
		t.Errorf("remote: %v", err)
	}
	_, err = Parts(strings.Repeat("x", maxMessage), half, false)
	if !errors.As(err, &tooLarge) {
		t.Errorf("with a long text: %v", err)
	}
	parts, err := Parts("", both, true)
	if err != nil {
		t.Fatal(err)
	}
	link := strings.HasPrefix(parts[1].URL, "file:///") && parts[1].Text == ""
	if parts[0].Text == "" || parts[0].URL != "" || !link {
		t.Errorf("local: %.60v", parts)
	}
	if size := len(protocol.MustEncode(parts)); size > maxMessage {
		t.Errorf("the parts have %d bytes", size)
	}
}
