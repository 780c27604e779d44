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
		"[image a.png · image/png · 3 bytes]":  {Type: "image", Name: "a.png", URL: "data:image/png;base64,AAAA"},
		"[image · image/gif · 1 byte]":         {Type: "image", MediaType: "image/gif", URL: "data:;base64,AA=="},
		"[file ci.log · text/plain · 2 KiB]":   {Type: "file", Name: "ci.log", MediaType: text, Text: long},
		"[file b.txt]":                         {Type: "file", URL: "file:///a/b.txt"},
		"[file ci.log · text/plain · blob b1]": {Type: "file", Name: "ci.log", MediaType: text, Blob: "b1"},
		"@x":                                   {Type: "mention", Text: "@x"},
		"[file a b · text/plain · 1 byte]":     {Type: "file", Name: "a\n\x1b[31mb", MediaType: text, Text: "x"},
	} {
		if got := Part(&p); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
	for want, c := range map[string]protocol.Content{
		"[image shot.png · image/png · 3 bytes]\n": {
			Type: "image", Path: "file:///tmp/shot.png", MediaType: png, Data: json.RawMessage(inline),
		},
		"[image · image/png]\n":                     {Type: "image", MediaType: png, Data: json.RawMessage(`{"a":1}`)},
		"[image · image/png · 3.4 MiB · blob b1]\n": {Type: "image", MediaType: png, Blob: "b1", Bytes: 36e5},
		"[blob · text/plain · 891 KiB · blob b2]\n": {Type: "blob", MediaType: text, Blob: "b2", Bytes: 913_004},
		"a: 1\n": {Type: "other", Data: json.RawMessage(`{"a":1}`)},
	} {
		if got := Content(&c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
