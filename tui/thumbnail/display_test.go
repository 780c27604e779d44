package thumbnail

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// graphicsCommand matches a command of the graphics protocol: its keys and its payload.
var graphicsCommand = regexp.MustCompile("\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\\\")

// noise returns an image that no format compresses.
func noise(width, height int) *image.NRGBA {
	m := gradient(width, height)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32()) | byte(i%4/3*255)
	}
	return m
}

// kittyDisplay returns the display of a terminal with placeholders.
func kittyDisplay() *Display {
	d := NewDisplay(UseKitty)
	d.SetColours(AllColours)
	return d
}

// newThumbnail returns a thumbnail for kitty.
func newThumbnail(t testing.TB, data []byte) *Thumbnail {
	t.Helper()
	thumbnail, err := New(t.Context(), Kitty, data)
	if err != nil {
		t.Fatal(err)
	}
	return thumbnail
}

func TestImagesAreSentAsTheProtocolOfKittyWants(t *testing.T) {
	d, thumbnail := kittyDisplay(), newThumbnail(t, encoded(t, "png", noise(320, 240)))
	sequence, _ := d.Show(thumbnail, 100)
	id, _ := d.sent.id(thumbnail, size{32, 12})
	commands := graphicsCommand.FindAllStringSubmatch(sequence, -1)
	if rest := graphicsCommand.ReplaceAllString(sequence, ""); rest != "" || len(commands) < 3 {
		t.Fatalf("%d commands, and %q", len(commands), rest)
	}
	var payload strings.Builder
	for i, c := range commands {
		keys := strings.Split(c[1], ",")
		last := i == len(commands)-1
		more, end := slices.Contains(keys, "m=1"), slices.Contains(keys, "m=0")
		if !slices.Contains(keys, "q=2") || more == last || end != last {
			t.Errorf("command %d of %d has the keys %s", i, len(commands), c[1])
		}
		if first := []string{"a=T", "f=100", "U=1", "i=" + strconv.Itoa(id), "c=32", "r=12"}; i == 0 {
			for _, key := range first {
				if !slices.Contains(keys, key) {
					t.Errorf("the first command lacks %s: %s", key, c[1])
				}
			}
		} else if len(keys) != 2 {
			t.Errorf("command %d has the keys %s, want q and m only", i, c[1])
		}
		if len(c[2]) > 4096 || len(c[2])%4 != 0 && !last || c[2] == "" {
			t.Errorf("command %d has %d bytes", i, len(c[2]))
		}
		payload.WriteString(c[2])
	}
	data, err := base64.StdEncoding.DecodeString(payload.String())
	if err != nil || len(data) > maxSentBytes {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if m, err := png.Decode(bytes.NewReader(data)); err != nil || m.Bounds().Dx()*3/4 != m.Bounds().Dy() {
		t.Errorf("%v, %v", m, err)
	}
	if id <= 0 || id >= 1<<24 {
		t.Errorf("id %d", id)
	}
	if again, ok := d.Show(thumbnail, 100); again != "" || !ok {
		t.Errorf("sent twice (%v): %.20q", ok, again)
	}
	if other, ok := d.Show(thumbnail, 20); !ok || !strings.Contains(other, ",c=20,r=8,") || thumbnail.png != nil {
		t.Errorf("at another width (%v): %.60q", ok, other)
	}
}

func TestPlaceholdersNameTheirRowAndColumn(t *testing.T) {
	lines := placeholderLines(0x0a0bff, size{3, 2})
	// U+0305, U+030D and U+030E are the numbers 0, 1 and 2 of the protocol.
	want := []string{
		"\x1b[38;2;10;11;255m\U0010eeee\u0305\u0305\U0010eeee\u0305\u030d\U0010eeee\u0305\u030e\x1b[m",
		"\x1b[38;2;10;11;255m\U0010eeee\u030d\u0305\U0010eeee\u030d\u030d\U0010eeee\u030d\u030e\x1b[m",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	for _, line := range lines {
		if n, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); n != 3 || wc != 3 {
			t.Errorf("%d and %d cells, want 3", n, wc)
		}
	}
	if part := ansi.Truncate(lines[1], 1, ""); ansi.Strip(part) != "\U0010eeee\u030d\u0305" {
		t.Errorf("a cut line is %q", part)
	}
}

func TestLinesAreBlankUntilTheTerminalHasTheImage(t *testing.T) {
	d, thumbnail := kittyDisplay(), newThumbnail(t, encoded(t, "png", gradient(200, 100)))
	before := d.Lines(thumbnail, 80)
	_, _ = d.Show(thumbnail, 80)
	after := d.Lines(thumbnail, 80)
	if len(before) != 5 || strings.TrimSpace(strings.Join(before, "")) != "" || len(after) != len(before) ||
		strings.Count(after[0], string('\U0010EEEE')) != 20 {
		t.Errorf("%q, then %q", before, after)
	}
	narrow := d.Lines(thumbnail, 10)
	if len(narrow) != 3 || strings.TrimSpace(strings.Join(narrow, "")) != "" {
		t.Errorf("at another width %q, want blank lines until it is sent for that", narrow)
	}
}

func TestTheTerminalKeepsABoundedNumberOfImages(t *testing.T) {
	d, data := kittyDisplay(), encoded(t, "png", gradient(8, 8))
	first, second := newThumbnail(t, data), newThumbnail(t, data)
	_, _ = d.Show(first, 80)
	_, _ = d.Show(second, 80)
	secondID, _ := d.sent.id(second, size{1, 1})
	for range maxSent - 2 {
		if s, _ := d.Show(newThumbnail(t, data), 80); strings.Contains(s, "a=d") {
			t.Fatal("deletes an image although there is room")
		}
	}
	_, _ = d.Show(first, 80) // shown again
	want := "\x1b_Ga=d,d=I,q=2,i=" + strconv.Itoa(secondID) + "\x1b\\"
	if s, _ := d.Show(newThumbnail(t, data), 80); !strings.HasPrefix(s, want) {
		t.Errorf("%q does not delete image %d, which was not shown for the longest time", s[:30], secondID)
	}
	if _, ok := d.sent.id(first, size{1, 1}); !ok || len(d.sent.images) != maxSent {
		t.Errorf("the first image is kept: %v, of %d", ok, len(d.sent.images))
	}
	if s, ok := d.Show(second, 80); s != "" || ok || len(d.Lines(second, 80)) != 1 {
		t.Errorf("a deleted image is shown (%q, %v), want that it is loaded again", s, ok)
	}
}

func TestImagesLeaveTheTerminalAndReturn(t *testing.T) {
	d, thumbnail := kittyDisplay(), newThumbnail(t, encoded(t, "png", gradient(8, 8)))
	if d.Leaving() != "" || d.Entered() != "" {
		t.Error("writes something without images")
	}
	sent, _ := d.Show(thumbnail, 80)
	id, _ := d.sent.id(thumbnail, size{1, 1})
	removed := "\x1b_Ga=d,d=I,q=2,i=" + strconv.Itoa(id) + "\x1b\\"
	if got := d.Leaving(); got != removed {
		t.Errorf("leaving writes %q, want %q", got, removed)
	}
	if got := d.Entered(); got != sent {
		t.Errorf("entering writes %q, want %q", got, sent)
	}
	large := newThumbnail(t, encoded(t, "png", noise(320, 240))).png
	for i := range maxSent - 1 {
		_, _ = d.Show(&Thumbnail{Width: 320, Height: 240, method: Kitty, png: large}, 20+i)
	}
	_, _ = d.Show(thumbnail, 80)
	again := d.Entered()
	kept, most := len(d.sent.images), 2*maxResent/maxSentBytes
	if len(again) > maxResent*3/2 || kept < 4 || kept > most || strings.Count(again, "a=d") != maxSent-kept {
		t.Errorf("sends %d bytes again, keeps %d images, deletes %d", len(again), kept, strings.Count(again, "a=d"))
	}
	if _, ok := d.sent.id(thumbnail, size{1, 1}); !ok {
		t.Error("the image that was shown last is not sent again")
	}
	removed = d.Leaving()
	if got := d.SetMode(Off); got != removed || d.Entered() != "" || d.Lines(thumbnail, 80) != nil {
		t.Errorf("off writes %q, want %q, and draws nothing", got, removed)
	}
}

func TestTheAnswersOfTheTerminalDecide(t *testing.T) {
	answers := func(graphics, name string, end bool) func(*Display) {
		return func(d *Display) {
			if graphics != "" {
				d.SetGraphics(queryID, []byte(graphics))
			}
			d.SetName(name)
			if end {
				d.EndQuery()
			}
		}
	}
	for name, c := range map[string]struct {
		mode    Mode
		colours Colours
		answers func(*Display)
		query   bool
		want    Method
	}{
		"kitty":                     {Auto, AllColours, answers("OK", "kitty(0.40.1)", true), true, Kitty},
		"Ghostty":                   {Auto, AllColours, answers("OK", "ghostty 1.2.0", true), true, Kitty},
		"graphics, no placeholders": {Auto, AllColours, answers("OK", "WezTerm 20240203", true), true, HalfBlocks},
		"kitty in tmux":             {Auto, AllColours, answers("", "tmux 3.4", true), true, HalfBlocks},
		"a refusal":                 {Auto, AllColours, answers("EINVAL:no", "kitty(0.1)", true), true, HalfBlocks},
		"the name alone":            {Auto, AllColours, answers("", "kitty(0.40.1)", true), true, HalfBlocks},
		"no answer":                 {Auto, AllColours, func(d *Display) { d.EndQuery() }, true, HalfBlocks},
		"no end yet":                {Auto, AllColours, answers("", "xterm(390)", false), true, Undecided},
		"256 colours":               {Auto, ManyColours, func(*Display) {}, false, HalfBlocks},
		"256 colours, kitty wanted": {UseKitty, ManyColours, func(*Display) {}, false, HalfBlocks},
		"sixteen colours":           {UseKitty, FewColours, func(*Display) {}, false, AsText},
		"colours not known":         {Auto, UnknownColours, func(*Display) {}, false, Undecided},
		"kitty wanted":              {UseKitty, AllColours, func(*Display) {}, false, Kitty},
		"half blocks wanted":        {Blocks, AllColours, func(*Display) {}, false, HalfBlocks},
		"off":                       {Off, AllColours, func(*Display) {}, false, AsText},
		"the default":               {"", AllColours, func(d *Display) { d.EndQuery() }, true, HalfBlocks},
		"an answer without a query": {Auto, UnknownColours, answers("OK", "kitty(0.40.1)", true), false, Undecided},
	} {
		d := NewDisplay(c.mode)
		d.SetColours(c.colours)
		query := d.Query()
		if (query != "") != c.query || d.Query() != "" {
			t.Errorf("%s: query %q, then another one", name, query)
		}
		if c.answers(d); d.Method() != c.want {
			t.Errorf("%s: method %d, want %d", name, d.Method(), c.want)
		}
	}
	const want = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>q\x1b[c"
	if kittyQuery != want {
		t.Errorf("query %q, want %q", kittyQuery, want)
	}
}
