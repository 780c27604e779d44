package screenshot

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestAScreenShowsTheTerminalsText(t *testing.T) {
	s, err := Render([]byte("\x1b[?1049h\x1b[?2026$pfirst\nsecond \x1b[1mbold\x1b[m\x1b[3;3H漢字!\x1b[1;1HF"), 20, 4)
	if err != nil {
		t.Fatal(err)
	}
	for y, want := range []string{"First", "second bold", "  漢字!", ""} {
		if got := s.Line(y); got != want {
			t.Errorf("row %d is %q, want %q", y, got, want)
		}
	}
}

func TestAMaskTakesTheGroupAlone(t *testing.T) {
	s, err := Render([]byte("at qs2b5w:69, s_myp8hp"), 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Mask(regexp.MustCompile(` ([a-z0-9]{6}):`), "k3f9")
	if got := s.Line(0); got != "at k3f9k3:69, s_myp8hp" {
		t.Errorf("%q", got)
	}
}

func TestAPictureIsXMLWithTheScreensTextAndColours(t *testing.T) {
	s, err := Render([]byte("a<b & \x1b[38;2;1;2;3mc\x1b[m  d\x1b[7m e \x1b[m"), 30, 2)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.WriteSVG(&out, SVGOptions{Background: "#000000", Foreground: "#ffffff", Title: `"<>"`}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		if data, ok := token.(xml.CharData); ok {
			text.WriteString(strings.TrimSuffix(string(data), "\n"))
		}
	}
	if got := strings.ReplaceAll(text.String(), "\u00a0", " "); got != `"<>"a<b &cde` {
		t.Errorf("the text is %q", got)
	}
	for _, want := range []string{`fill="#010203"`, `<rect x="96.0"`, `fill="#ffffff"/>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
