package thumbnail

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/internal/picture"
)

// gradient returns an image whose colour depends on the place.
func gradient(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y * 255 / height), 0x40, 0xff})
		}
	}
	return m
}

// noise returns an image that no format compresses.
func noise(width, height int) *image.NRGBA {
	m := gradient(width, height)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32()) | byte(i%4/3*255)
	}
	return m
}

// encoded returns an image in a format.
func encoded(t testing.TB, format string, m image.Image) []byte {
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

// pngHeader returns the start of a PNG that says to have a size.
func pngHeader(width, height uint32, depth, colourType byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	out = binary.BigEndian.AppendUint32(out, width)
	out = binary.BigEndian.AppendUint32(out, height)
	out = append(out, depth, colourType, 0, 0, 0)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[12:]))
}

func TestThumbnailsKeepTheProportionsOfImages(t *testing.T) {
	for _, c := range []struct {
		width, height, room int
		want                size
	}{
		{640, 480, 100, size{32, 12}},
		{480, 640, 100, size{18, 12}},
		{1920, 1080, 100, size{43, 12}},
		{1920, 1080, 20, size{20, 6}},
		{5000, 100, 100, size{60, 1}},
		{10, 9000, 100, size{1, 12}},
		{16, 16, 100, size{16, 8}},
		{1, 1, 100, size{1, 1}},
		{640, 480, -3, size{1, 1}},
	} {
		thumbnail := Thumbnail{Width: c.width, Height: c.height}
		if got := thumbnail.cells(c.room); got != c.want {
			t.Errorf("%d×%d: %v, want %v", c.width, c.height, got, c.want)
		}
	}
}

func TestEveryFormatIsDrawnInHalfBlocks(t *testing.T) {
	colours := color.Palette{color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 255}}
	m := image.NewPaletted(image.Rect(0, 0, 40, 20), colours)
	for i := range m.Pix {
		if i%40 >= 20 {
			m.Pix[i] = 1
		}
	}
	for _, format := range []string{"png", "jpeg", "gif"} {
		thumbnail, err := New(t.Context(), encoded(t, format, m))
		if err != nil {
			t.Fatal(err)
		}
		lines := thumbnail.Lines(80)
		if len(lines) != 10 || strings.Count(lines[0], "▀") != 40 {
			t.Fatalf("%s: %d lines, the first %q", format, len(lines), lines[0])
		}
		left, right := thumbnail.pixels.NRGBAAt(2, 2), thumbnail.pixels.NRGBAAt(37, 17)
		if left.R < 180 || left.B > 20 || right.B < 180 || right.R > 20 {
			t.Errorf("%s: left %v, right %v", format, left, right)
		}
	}
}

func TestHalfBlocksHaveTheColoursOfTheirPixels(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 4, 2))
	red, blue := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}
	m.SetNRGBA(0, 0, red)
	m.SetNRGBA(0, 1, blue)
	m.SetNRGBA(1, 0, red)
	m.SetNRGBA(1, 1, blue)
	m.SetNRGBA(2, 1, blue)
	got := blockLines(m)
	want := "\x1b[0;38;2;255;0;0;48;2;0;0;255m▀▀\x1b[0;38;2;0;0;255m▄\x1b[0m "
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAveragesOfTransparentPixelsKeepTheColour(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 4, 1))
	m.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 255})
	m.SetNRGBA(1, 0, color.NRGBA{0, 0, 0, 0})
	if got := picture.Scale(m, 2, 1, maxSamples); got.NRGBAAt(0, 0) != (color.NRGBA{200, 100, 50, 127}) ||
		got.NRGBAAt(1, 0) != (color.NRGBA{}) {
		t.Errorf("%v", got.Pix)
	}
}

func TestHostileImagesCostNothing(t *testing.T) {
	gifScreen := slices.Concat([]byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff,"),
		[]byte("\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02"))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":            {nil, picture.ErrFormat.Error()},
		"text":             {[]byte("some words"), picture.ErrFormat.Error()},
		"SVG":              {[]byte("<svg onload=x>"), picture.ErrFormat.Error()},
		"wide PNG":         {pngHeader(1<<31-1, 1<<31-1, 8, 6), picture.ErrFormat.Error()},
		"large PNG":        {pngHeader(60_000, 60_000, 8, 6), "too large: 60000×60000 pixels"},
		"large 16 bit PNG": {pngHeader(5000, 5000, 16, 6), "too large: 5000×5000 pixels"},
		"short PNG":        {pngHeader(4000, 4000, 8, 6), "damaged image: 33 bytes for 4000×4000 pixels"},
		"large GIF":        {gifScreen, "too large: 65535×65535 pixels"},
		"long file":        {make([]byte, picture.MaxBytes+1), "more than 16 MiB"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(t.Context(), c.data)
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 1<<20 {
			t.Errorf("%s: allocated %d bytes", name, cost)
		}
	}
}

func TestDamagedImagesAreErrors(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		data := encoded(t, format, gradient(64, 64))
		if _, err := New(t.Context(), data[:len(data)/2]); err == nil {
			t.Errorf("%s: half of a file is an image", format)
		}
	}
}

// countedContext is a context that ends after some reads.
type countedContext struct {
	context.Context
	left *int
}

func (c countedContext) Err() error {
	if *c.left--; *c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestDecodingEndsWithItsContext(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		data, left := encoded(t, format, noise(64, 64)), 3
		if _, err := New(countedContext{t.Context(), &left}, data); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want that of the context", format, err)
		}
		if left < -8 { // a decoder does not read on
			t.Errorf("%s: %d reads after the end of the context", format, -left)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, encoded(t, "png", gradient(64, 64))); err == nil {
		t.Error("decoded after the end of the context")
	}
	d := NewDisplay(false)
	d.loading <- struct{}{} // another image is being decoded
	if _, err := d.Load(ctx, nil); err == nil {
		t.Error("waits after the end of the context")
	}
}

func FuzzNew(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		f.Add(encoded(f, format, gradient(20, 10)))
	}
	f.Add(pngHeader(1000, 1000, 8, 2))
	f.Add([]byte("GIF89a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width*c.Height > 1<<20 {
			t.Skip() // slow, and refused or decoded as the others
		}
		thumbnail, err := New(t.Context(), data)
		if err != nil {
			return
		}
		if lines := thumbnail.Lines(40); len(lines) == 0 || len(lines) > MaxRows {
			t.Errorf("%d lines", len(lines))
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for _, format := range []string{"png", "jpeg"} {
		b.Run(format, func(b *testing.B) {
			data := encoded(b, format, gradient(1920, 1080))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(b.Context(), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
