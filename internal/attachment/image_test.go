package attachment

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/picture"
	"agentctl/protocol"
)

// noisyPNG returns a PNG that does not compress.
func noisyPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(rand.IntN(256))
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkImage reports an error if a part is not an image that models see whole.
func checkImage(t *testing.T, p *protocol.Part) {
	t.Helper()
	_, text, _ := strings.Cut(p.URL, ";base64,")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || p.Type != "image" || p.MediaType != "image/"+format || max(c.Width, c.Height) > picture.MaxSide ||
		!strings.HasPrefix(p.URL, "data:"+p.MediaType) {
		t.Errorf("%s %s: %s of %d×%d, %v", p.Type, p.MediaType, format, c.Width, c.Height, err)
	}
}

// Screenshots that are too large for a message are scaled down, wherever the server is.
func TestLargeImagesAreScaledDownToAMessage(t *testing.T) {
	one := attachTestFile(t, "a.png", noisyPNG(t, 1700, 200))
	text := attachTestFile(t, "a.txt", bytes.Repeat([]byte("x"), 40<<10))
	for _, local := range []bool{true, false} {
		for name, list := range map[string][]File{
			"one": one, "two": slices.Concat(one, one), "with a text": slices.Concat(text, one, one, one),
		} {
			parts, err := Parts("look", list, local)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if size := len(protocol.MustEncode(parts)); size > maxMessage || len(parts) != len(list) {
				t.Errorf("%s: %d parts with %d bytes", name, len(parts), size)
			}
			for i := range parts {
				if parts[i].MediaType != "text/plain" {
					checkImage(t, &parts[i])
				}
			}
		}
	}
}

// An image that fits is sent as it is.
func TestAnImageThatFitsIsSentAsItIs(t *testing.T) {
	data := noisyPNG(t, 1700, 50)
	parts, err := Parts("", attachTestFile(t, "a.png", data), true)
	if err != nil || parts[0].URL != "data:image/png;base64,"+base64.StdEncoding.EncodeToString(data) {
		t.Errorf("%.80v, %v", parts, err)
	}
}

func TestALargeImageInTheClipboardIsScaledDown(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := attachTestFile(t, "a.png", noisyPNG(t, 1700, 200))[0]
	got, err := fakeClipboard(t, "cat "+f.path).Image(t.Context())
	if err != nil || got.path != "" || got.Size > maxMessage*3/4 {
		t.Fatalf("%s, %d bytes, %v", got.path, got.Size, err)
	}
	parts, err := Parts("", []File{got}, true)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, &parts[0])
}
