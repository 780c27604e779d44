package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

// noise returns an image that does not compress.
func noise(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(rand.IntN(256))
	}
	return m
}

func encoded(t *testing.T, format string, m image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&out, m)
	case "jpeg":
		err = jpeg.Encode(&out, m, nil)
	case "gif":
		err = gif.Encode(&out, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImagesAreScaledDownToABound(t *testing.T) {
	plain := image.NewNRGBA(image.Rect(0, 0, 400, 200))
	for i := range plain.Pix {
		plain.Pix[i] = 0xff
	}
	most := Bound{Side: 100, Bytes: 8 << 10}
	for name, c := range map[string]struct {
		data          []byte
		media         string
		width, height int // 0: any
	}{
		"small PNG":  {encoded(t, "png", plain.SubImage(image.Rect(0, 0, 100, 50))), "image/png", 100, 50},
		"wide PNG":   {encoded(t, "png", plain), "image/png", 100, 50},
		"wide GIF":   {encoded(t, "gif", plain), "image/png", 100, 50},
		"wide JPEG":  {encoded(t, "jpeg", plain), "image/jpeg", 100, 50},
		"heavy PNG":  {encoded(t, "png", noise(90, 90)), "image/jpeg", 90, 90},
		"heavy JPEG": {encoded(t, "jpeg", noise(300, 300)), "image/jpeg", 0, 0},
		"narrow":     {encoded(t, "png", noise(1, 3000)), "image/png", 1, 100},
	} {
		out, media, err := Fit(t.Context(), c.data, most)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		config, format, err := image.DecodeConfig(bytes.NewReader(out))
		if err != nil || len(out) > most.Bytes || media != "image/"+format || media != c.media ||
			max(config.Width, config.Height) > most.Side {
			t.Errorf("%s: %s, %d bytes, %d×%d, %v", name, media, len(out), config.Width, config.Height, err)
		}
		if c.width != 0 && (config.Width != c.width || config.Height != c.height) {
			t.Errorf("%s: %d×%d", name, config.Width, config.Height)
		}
	}
}

// An image that fits is sent as it is, not encoded again.
func TestAnImageThatFitsStaysAsItIs(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		data := encoded(t, format, noise(40, 40))
		out, media, err := Fit(t.Context(), data, Bound{Side: 40, Bytes: len(data)})
		if err != nil || media != "image/"+format || !bytes.Equal(out, data) {
			t.Errorf("%s: %s, %v", format, media, err)
		}
	}
}

func TestAWebPImageIsScaledDown(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString( // 1×1
		"UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	out, media, err := Fit(t.Context(), data, Bound{Side: 1, Bytes: 1000})
	if err != nil || media != "image/webp" || !bytes.Equal(out, data) {
		t.Errorf("%s, %v", media, err)
	}
	if m, err := Decode(t.Context(), data); err != nil || m.Bounds().Dx() != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

// Transparent pixels become white in a JPEG.
func TestAJPEGHasAWhiteBackground(t *testing.T) {
	m := noise(64, 64)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 0
	}
	flatten(m)
	if got := m.NRGBAAt(3, 3); got != (color.NRGBA{255, 255, 255, 255}) {
		t.Errorf("%v", got)
	}
}

func TestImagesThatCannotBeScaledAreRefused(t *testing.T) {
	large := encoded(t, "png", noise(200, 200))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		data []byte
		most int
		want string
	}{
		"text":     {t.Context(), []byte("some words"), 1000, "not a PNG"},
		"damaged":  {t.Context(), large[:len(large)/2], 1000, "damaged image"},
		"no bytes": {t.Context(), large, 10, "only 10 bytes"},
		"canceled": {canceled, large, 1000, "canceled"},
	} {
		_, _, err := Fit(c.ctx, c.data, Bound{Side: 100, Bytes: c.most})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a decoder cannot take in its bounds is refused by its header.
func TestAHugeImageIsRefusedByItsHeader(t *testing.T) {
	data := encoded(t, "png", image.NewGray(image.Rect(0, 0, 9000, 4000)))
	n := testing.AllocsPerRun(1, func() {
		if _, _, err := Fit(t.Context(), data, Bound{Side: MaxSide, Bytes: 1 << 20}); err == nil ||
			err.Error() != "too large: 9000×4000 pixels" {
			t.Error(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFit(b *testing.B) {
	m := image.NewNRGBA(image.Rect(0, 0, 3840, 2160))
	for i := range m.Pix {
		m.Pix[i] = byte(i / 400 % 256)
	}
	var data bytes.Buffer
	if err := png.Encode(&data, m); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Fit(b.Context(), data.Bytes(), Bound{Side: MaxSide, Bytes: 1 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
