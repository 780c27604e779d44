package transcript

import (
	"slices"
	"testing"
)

func TestCodeBlocks(t *testing.T) {
	for src, want := range map[string][]string{
		"":                                 nil,
		"no `code` here":                   nil,
		"```\na\n\n  b\n```\n":             {"a\n\n  b\n"},
		"x\n~~~go\na\n```\n~~~\n```\nopen": {"a\n```\n", "open"},
		"- item\n    ```sh\n    make\n      it\n  x\n    ```\n": {"make\n  it\nx\n"},
		"````\n```\n````":    {"```\n"},
		"```a`b```\nx":       nil,
		"```\n```\n":         {""},
		"text\n``` go run\n": {""},
	} {
		if got := CodeBlocks(src); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func FuzzCodeBlocks(f *testing.F) {
	f.Add("a\n```go\nx\n```\n")
	f.Add("   ~~~\n\t~~~~")
	f.Fuzz(func(t *testing.T, src string) {
		size := 0
		for _, block := range CodeBlocks(src) {
			size += len(block)
		}
		if size > len(src) {
			t.Errorf("the code blocks of %q are longer than the text", src)
		}
	})
}
