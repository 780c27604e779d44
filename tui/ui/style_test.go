package ui

import (
	"reflect"
	"testing"
	"time"
)

func TestAStyleRendersALineAsItsLipglossStyle(t *testing.T) {
	for _, theme := range Themes() {
		tokens := reflect.ValueOf(NewStyles(time.UTC, theme).Tokens)
		for i := range tokens.NumField() {
			style := tokens.Field(i).Interface().(Style)
			for _, text := range []string{"", " ", "two words", "漢 e\u0301", "\x1b[1min\x1b[m"} {
				if got, want := style.Render(text), style.Style.Render(text); got != want {
					t.Errorf("%s, %s of %q: got %q, want %q", theme, tokens.Type().Field(i).Name, text, got, want)
				}
				if got, want := style.Strong().Render(text), style.Bold(true).Render(text); got != want {
					t.Errorf("%s, bold %s of %q: got %q, want %q", theme, tokens.Type().Field(i).Name, text, got, want)
				}
			}
		}
	}
}
