package describe

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestAFileIsOneLine(t *testing.T) {
	const png, text, inline = "image/png", "text/plain", `"AAAA"`
	long := strings.Repeat("x", 2050)
	for want, p := range map[string]protocol.Part{
		"[image a.png · image/png · 3 bytes]": {Type: "image", Name: "a.png", URL: "data:image/png;base64,AAAA"},
		"[image · image/gif · 1 byte]":        {Type: "image", MediaType: "image/gif", URL: "data:;base64,AA=="},
		"[file ci.log · text/plain · 2 KiB]":  {Type: "file", Name: "ci.log", MediaType: text, Text: long},
		"[file b.txt]":                        {Type: "file", URL: "file:///a/b.txt"},
		"[file ci.log · text/plain]":          {Type: "file", Name: "ci.log", MediaType: text, Blob: "b1"},
		"@x":                                  {Type: "mention", Text: "@x"},
		"[file a b · text/plain · 1 byte]":    {Type: "file", Name: "a\n\x1b[31mb", MediaType: text, Text: "x"},
	} {
		if got := Part(&p); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
	for want, c := range map[string]protocol.Content{
		"[image shot.png · image/png · 3 bytes]\n": {
			Type: "image", Path: "file:///tmp/shot.png", MediaType: png, Data: json.RawMessage(inline),
		},
		"[image · image/png]\n":           {Type: "image", MediaType: png, Data: json.RawMessage(`{"a":1}`)},
		"[image · image/png · 3.4 MiB]\n": {Type: "image", MediaType: png, Blob: "b1", Bytes: 36e5},
		"[blob · text/plain · 891 KiB]\n": {Type: "blob", MediaType: text, Blob: "b2", Bytes: 913_004},
		"[audio · audio/wav · 3 bytes]\n": {
			Type: "audio", MediaType: "audio/wav", Blob: "b3", Bytes: 3, Data: json.RawMessage(inline),
		},
		"[link The plot · https://x.org/p.svg · image/svg+xml · 7 bytes]\n": {
			Type: "link", Name: "The plot", Path: "https://x.org/p.svg", MediaType: "image/svg+xml", Bytes: 7,
		},
		"[link · file:///a/b]\n":        {Type: "link", Path: "file:///a/b"},
		"[image gnp.exe · image/png]\n": {Type: "image", Name: "\u202egnp.exe\x1b]0;x\a", MediaType: png},
		"a: 1\n":                        {Type: "other", Data: json.RawMessage(`{"a":1}`)},
		"text of a file\n":              {Type: "text", Path: "/a", Text: "text of a file"},
	} {
		if got := Content(&c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}

func TestTheContentOfAFileIsThatOfItsEvent(t *testing.T) {
	for _, c := range []struct {
		part    protocol.Part
		content protocol.Content
		want    string
	}{
		{protocol.Part{Type: "image", URL: "data:image/png;base64,UE5H"}, protocol.Content{}, "PNG"},
		{protocol.Part{Type: "file", Name: "a", Text: "words"}, protocol.Content{}, "words"},
		{protocol.Part{Type: "file", Name: "a", URL: "file:///etc/passwd"}, protocol.Content{}, ""},
		{protocol.Part{}, protocol.Content{Type: "audio", Data: json.RawMessage(`"UE5H"`)}, "PNG"},
		{protocol.Part{}, protocol.Content{Type: "text", Path: "/etc/passwd", Text: "words"}, "words"},
		{protocol.Part{}, protocol.Content{Type: "link", Path: "file:///etc/passwd"}, ""},
		{protocol.Part{}, protocol.Content{Type: "image", Path: "/etc/passwd", Blob: "b1"}, ""},
	} {
		f, ok := PartFile(&c.part)
		if c.content.Type != "" {
			f, ok = ContentFile(&c.content)
		}
		if got, err := f.Content(); !ok || err != nil || string(got) != c.want {
			t.Errorf("%+v %+v: %q, %v", c.part, c.content, got, err)
		}
	}
	f, _ := ContentFile(&protocol.Content{Type: "image", Data: json.RawMessage(`"not base64"`)})
	if _, err := f.Content(); err == nil {
		t.Error("bad base64 has content")
	}
}
